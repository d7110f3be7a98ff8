"""Fills a node under RandomPartitioner with what data.tar.br holds: narrow partitions, and partitions of many index blocks
for every clustering type in both orders, with range deletions open across blocks and a static row.

    sed 's/Murmur3Partitioner$/RandomPartitioner/' test/oracle/cassandra.sh > /tmp/random.sh    # beside the other files there
    random.sh start 5.0.8 da DIR 9542; python make.py 9542; random.sh nodetool DIR flush golden
    tar -C DIR/data -c golden | brotli -q 11 -w 24      (ustar, sorted, without owners and times, as pack-golden.sh does)
"""

import datetime
import decimal
import random
import sys
import uuid

from cassandra.cluster import Cluster

START = datetime.datetime(2020, 1, 1)
TYPES = {
    "bigint": lambda i: (i - 900) ** 5,
    "blob": lambda i: random.randbytes(i % 9),
    "boolean": lambda i: i % 2 == 0,
    "date": lambda i: datetime.date(2000, 1, 1) + datetime.timedelta(days=i),
    "decimal": lambda i: decimal.Decimal(i - 900) / 7,
    "double": lambda i: (i - 900) / 3,
    "inet": lambda i: "10.0.%d.%d" % (i // 250, i % 250),
    "int": lambda i: i * 37 - 40000,
    "smallint": lambda i: i - 900,
    "text": lambda i: "row-%06d" % i,
    "timestamp": lambda i: START + datetime.timedelta(seconds=i),
    "timeuuid": lambda i: uuid.uuid1(),
    "uuid": lambda i: uuid.UUID(int=random.getrandbits(128), version=4),
    "varint": lambda i: (i - 900) ** 9,
}


def run(session, query, rows):
    for future in [session.execute_async(query, row) for row in rows]:
        future.result()


def main(port):
    cluster = Cluster(["127.0.0.1"], port=port)
    session = cluster.connect()
    random.seed(5)
    session.execute(
        "CREATE KEYSPACE golden WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
    )
    session.execute("CREATE TABLE golden.narrow (k text PRIMARY KEY, v int)")
    insert = session.prepare("INSERT INTO golden.narrow (k, v) VALUES (?, ?)")
    keys = ["k%d" % random.randrange(10**6) + "\0" * (i % 3 == 0) for i in range(1500)]
    run(session, insert, [(key, i) for i, key in enumerate(keys)])
    for name, value in TYPES.items():
        for order in ("ASC", "DESC"):
            table = "golden.w_%s_%s" % (name, order.lower())
            session.execute(
                "CREATE TABLE %s (k int, c %s, d int, s int static, v text, PRIMARY KEY (k, c, d))"
                " WITH CLUSTERING ORDER BY (c %s, d ASC)" % (table, name, order)
            )
            insert = session.prepare("INSERT INTO %s (k, c, d, v) VALUES (?, ?, ?, ?)" % table)
            for k in range(3):
                run(session, insert, [(k, value(i), i % 4, "x" * 40) for i in range(0, 1800, 3 if k else 2)])
            session.execute("INSERT INTO %s (k, s) VALUES (1, 5)" % table)
            delete = session.prepare("DELETE FROM %s WHERE k = ? AND c >= ? AND c <= ?" % table)
            for first, last in ((100, 400), (700, 900), (1200, 1204)):
                bounds = [value(first), value(last)]
                if name != "timeuuid":
                    bounds.sort()
                session.execute(delete, (1, *bounds))
    cluster.shutdown()


main(int(sys.argv[1]))
