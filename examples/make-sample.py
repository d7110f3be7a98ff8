#!/usr/bin/env python3
"""Makes examples/data anew: SSTables of a small shop, written by a real Cassandra 5.0 (BTI, format da).

  python=$(test/oracle/venv.sh oracle test/oracle/requirements.txt)
  $python examples/make-sample.py --work DIR [--port 9142] [--seed 7]

Three tables, each flushed three times and never compacted, so that a reader has SSTables to merge:
  shop.orders            scalar types, a static column, newest order first; row, range, partition and cell deletions
  shop.sensor_readings   scalar types, a composite partition key; TTLs that ran out while the sample was made, and TTLs of 20 years
  shop.products          collections, tuples, user-defined types (frozen and not), a vector
The same seed gives the same rows. What CQL answered goes to test/corpus/sample-expected.
"""
import argparse
import datetime
import gzip
import hashlib
import itertools
import json
import pathlib
import random
import shutil
import sys
import tempfile
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'test' / 'oracle'))
import golden  # noqa: E402

VERSION, FORMAT, KEYSPACE = '5.0.8', 'da', 'shop'
WRITTEN_US = 1_717_200_000_000_000  # write time of the first statement; each later one is 1 ms on
YEARS_20 = 630_720_000
IDS = dict(orders='8f0c1e60-1f6a-11ef-9a3b-6f2d5b0a0001', sensor_readings='8f0c1e60-1f6a-11ef-9a3b-6f2d5b0a0002',
           products='8f0c1e60-1f6a-11ef-9a3b-6f2d5b0a0003')
FIRST = 'Ada Bela Chen Dara Emil Fumi Gita Hugo Inés Jörg Kofi Lena Mehmet Nora Olga Pavel Qadir Rosa Søren Tuva'.split()
LAST = 'Abebe Brandt Costa Dubois Eriksen Fuchs García Hansen Ito Jansen Kowalski Lindqvist Müller Novak Okafor Petrov'.split()


def create(db, name, body, *options):
    db(f"CREATE TABLE {KEYSPACE}.{name} ({body}) WITH {' AND '.join([f'ID = {IDS[name]}', golden.NO_COMPACTION, *options])}")


def stamp(rng, first, days):
    """A time of day within some days, in ms since 1970."""
    at = datetime.datetime.fromisoformat(first + '+00:00').timestamp()
    return int((at + rng.random() * days * 86400) * 1000)


def insert(db, table, row, using=''):
    db(f"INSERT INTO {KEYSPACE}.{table} ({', '.join(row)}) VALUES ({', '.join(row.values())}) {using}")


def orders(db):
    create(db, 'orders', '''customer_id bigint, order_time timestamp, order_id uuid, customer_name text static, customer_since date static,
        status text, total decimal, currency ascii, items int, express boolean, ship_by date, note text,
        PRIMARY KEY ((customer_id), order_time, order_id)''', 'CLUSTERING ORDER BY (order_time DESC, order_id ASC)',
           "comment = 'what customers ordered, newest first'")
    rng = random.Random(f'{db.seed} orders')
    customers = [100_000 + rng.randrange(900_000) for _ in range(400)]
    placed = []

    def place(customer, first, days):
        key = dict(customer_id=str(customer), order_time=str(stamp(rng, first, days)), order_id=str(uuid.UUID(bytes=rng.randbytes(16), version=4)))
        row = dict(key, status="'new'", total=f'{rng.randrange(199, 99999) / 100:.2f}', currency=rng.choice(["'EUR'", "'EUR'", "'USD'", "'SEK'"]),
                   items=str(rng.randint(1, 12)))
        if rng.random() < 0.2:
            row.update(express='true', ship_by=f"'2024-{rng.randint(6, 9):02d}-{rng.randint(1, 28):02d}'")
        if rng.random() < 0.15:
            row['note'] = golden.q(rng.choice(['leave at the door', 'gift wrap, please', "don't ring", 'für Jörg', '玄関に置いてください']))
        insert(db, 'orders', row)
        placed.append(key)

    def where(key):
        return ' AND '.join(f'{c} = {v}' for c, v in key.items())

    for c in customers:
        insert(db, 'orders', dict(customer_id=str(c), customer_name=golden.q(f'{rng.choice(FIRST)} {rng.choice(LAST)}'),
                                  customer_since=f"'20{rng.randint(10, 23)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}'"))
        for _ in range(rng.choice([0, 1, 2, 4, 4, 6, 9, 20])):
            place(c, '2024-01-01', 90)
    yield
    for key in rng.sample(placed, 900):  # orders move on
        db(f"UPDATE {KEYSPACE}.orders SET status = '{rng.choice(['paid', 'shipped', 'delivered'])}' WHERE {where(key)}")
    for key in rng.sample(placed, 60):
        db(f'DELETE note, ship_by FROM {KEYSPACE}.orders WHERE {where(key)}')
    for key in rng.sample(placed, 80):  # cancelled
        db(f'DELETE FROM {KEYSPACE}.orders WHERE {where(key)}')
    for c in rng.choices(customers, k=500):
        place(c, '2024-04-01', 60)
    yield
    for c in rng.sample(customers, 8):  # asked to be forgotten
        db(f'DELETE FROM {KEYSPACE}.orders WHERE customer_id = {c}')
    for c in rng.sample(customers, 25):  # old orders pruned
        db(f"DELETE FROM {KEYSPACE}.orders WHERE customer_id = {c} AND order_time < '2024-02-15 00:00:00+0000'")
    for c in rng.sample(customers, 5):
        db(f"DELETE FROM {KEYSPACE}.orders WHERE customer_id = {c} AND order_time >= '2024-03-01 00:00:00+0000' AND order_time < '2024-04-15 00:00:00+0000'")
    for c in rng.sample(customers, 6):  # renamed
        db(f"UPDATE {KEYSPACE}.orders SET customer_name = 'A. N. Other' WHERE customer_id = {c}")
    for key in rng.sample(placed, 400):
        db(f"UPDATE {KEYSPACE}.orders SET status = 'delivered' WHERE {where(key)}")
    for c in rng.choices(customers, k=300):
        place(c, '2024-05-15', 15)
    yield


def sensor_readings(db):
    create(db, 'sensor_readings', '''sensor_id text, day date, at timestamp, temperature double, humidity float, battery tinyint, note text,
        PRIMARY KEY ((sensor_id, day), at)''', "comment = 'a reading every now and then'")
    rng = random.Random(f'{db.seed} sensors')
    sensors = [f'{room}-{n}' for room in ('cellar', 'hall', 'roof', 'yard') for n in range(1, 7)]
    days = [f'2024-05-{d:02d}' for d in range(1, 13)]

    def read(sensor, day, at, using=''):
        row = dict(sensor_id=golden.q(sensor), day=golden.q(day), at=str(at), temperature=repr(round(rng.gauss(14, 6), 2)))
        if not sensor.startswith('roof'):
            row['humidity'] = repr(round(rng.uniform(20, 99), 1))
        if rng.random() < 0.3:
            row['battery'] = str(rng.randint(3, 100))
        if rng.random() < 0.02:
            row['note'] = golden.q(rng.choice(['recalibrated', 'bumped', 'door open', 'spider?']))
        insert(db, 'sensor_readings', row, using)

    for part in range(3):
        for sensor, day in itertools.product(sensors, days):
            start = stamp(rng, day, 0)
            for slot in range(24):
                if (slot + int(day[-2:])) % 3 == part or rng.random() < 0.05:
                    at = start + slot * 3_600_000 + (ord(sensor[-1]) * 7 + slot) % 60 * 1000
                    use = ['', '', '', f'USING TTL {YEARS_20}'][slot % 4]
                    read(sensor, day, at, 'USING TTL 1' if rng.random() < 0.03 else use)
        if part == 1:
            for sensor in sensors[3:9]:
                db(f"DELETE FROM {KEYSPACE}.sensor_readings WHERE sensor_id = '{sensor}' AND day = '2024-05-02'")
                db(f"DELETE FROM {KEYSPACE}.sensor_readings WHERE sensor_id = '{sensor}' AND day = '2024-05-03' AND at >= '2024-05-03 12:00:00+0000'")
        if part == 2:
            for sensor in sensors[::5]:  # cells that ran out: null where a value was
                db(f"UPDATE {KEYSPACE}.sensor_readings USING TTL 1 SET note = 'temporary', battery = 1 WHERE sensor_id = '{sensor}' AND day = '2024-05-05' "
                   f"AND at = '2024-05-05 01:00:00+0000'")
        yield


def products(db):
    db(f'CREATE TYPE {KEYSPACE}.size (width float, height float, depth float)')
    db(f'CREATE TYPE {KEYSPACE}.review (author text, stars tinyint, at timestamp, words frozen<list<text>>)')
    db(f'CREATE TYPE {KEYSPACE}.supplier (name text, country ascii, contacts frozen<map<text, text>>)')
    create(db, 'products', '''sku text PRIMARY KEY, name text, price decimal, tags set<text>, stock map<text, int>, size frozen<size>,
        supplier supplier, reviews list<frozen<review>>, rating tuple<double, int>, price_history frozen<map<date, decimal>>, embedding vector<float, 4>''')
    rng = random.Random(f'{db.seed} products')
    skus = [f'{rng.choice("ABCDEF")}{rng.randrange(10_000):04d}-{n:03d}' for n in range(240)]

    def review():
        return (f"{{author: {golden.q(rng.choice(FIRST))}, stars: {rng.randint(1, 5)}, at: {stamp(rng, '2024-01-01', 120)}, "
                f"words: [{', '.join(golden.q(w) for w in golden.words(rng, rng.randint(0, 4)).split())}]}}")
    for n, sku in enumerate(skus):
        row = dict(sku=golden.q(sku), name=golden.q(golden.words(rng, 2).title()), price=f'{rng.randrange(100, 50000) / 100:.2f}',
                   tags='{' + ', '.join(golden.q(t) for t in rng.sample(['new', 'sale', 'eco', 'heavy', 'fragile', 'été'], rng.randint(0, 3))) + '}',
                   stock='{' + ', '.join(f"'{w}': {rng.randint(0, 500)}" for w in rng.sample(['ams', 'ber', 'cph', 'osl'], rng.randint(0, 4))) + '}')
        if n % 3:
            row['size'] = f'{{width: {rng.randint(1, 90)}.5, height: {rng.randint(1, 90)}, depth: {"null" if n % 7 == 0 else rng.randint(1, 90)}}}'
        if n % 4:
            row['supplier'] = f"{{name: {golden.q(rng.choice(LAST) + ' & Co')}, country: '{rng.choice(['DE', 'SE', 'JP'])}', contacts: {{'mail': 'sales{n}@example.com'}}}}"
        if n % 2:
            row['reviews'] = '[' + ', '.join(review() for _ in range(rng.randint(1, 3))) + ']'
            row['rating'] = f'({rng.randint(10, 50) / 10}, {rng.randint(1, 90)})'
        if n % 5 == 0:
            row['price_history'] = f"{{'2024-01-01': {rng.randrange(100, 999) / 100:.2f}, '2023-06-30': 1.10}}"
        if n % 6 == 0:
            row['embedding'] = str([rng.randint(-8, 8) / 8 for _ in range(4)])
        insert(db, 'products', row)
    yield
    where = lambda: f'WHERE sku = {golden.q(rng.choice(skus))}'
    for _ in range(60):
        db(f"UPDATE {KEYSPACE}.products SET tags = tags + {{'bestseller'}}, stock['ber'] = {rng.randint(0, 99)} {where()}")
        db(f'UPDATE {KEYSPACE}.products SET reviews = reviews + [{review()}] {where()}')
        db(f"UPDATE {KEYSPACE}.products SET supplier.country = 'NO' {where()}")
    for _ in range(20):
        db(f"DELETE stock['ams'], tags['sale'] FROM {KEYSPACE}.products {where()}")
        db(f"UPDATE {KEYSPACE}.products SET stock = {{'ams': 1}}, tags = {{}} {where()}")
        db(f"UPDATE {KEYSPACE}.products USING TTL 1 SET tags = tags + {{'today only'}} {where()}")
    yield
    for _ in range(12):
        db(f'DELETE FROM {KEYSPACE}.products {where()}')
        db(f'DELETE reviews, rating FROM {KEYSPACE}.products {where()}')
        db(f"UPDATE {KEYSPACE}.products USING TTL {YEARS_20} SET price = 1.00 {where()}")
    yield


def keep(out, answers, now, counts):
    """The answers of CQL, compressed, and one file that says how many and what digest."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    tables = {}
    for table, rows in counts.items():
        text = (answers / f'{table}.ndjson').read_bytes()
        tables[table] = dict(rows=rows, sha256=hashlib.sha256(text).hexdigest())
        for suffix in ('ndjson', 'raw.ndjson', 'tokens.csv'):
            if (answers / f'{table}.{suffix}').exists():
                (out / f'{table}.{suffix}.gz').write_bytes(gzip.compress((answers / f'{table}.{suffix}').read_bytes(), 9, mtime=0))
    (out / 'meta.json').write_text(json.dumps(dict(cassandra=VERSION, format=FORMAT, now=now, tables=tables), indent=2) + '\n')


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--work', required=True, help="the node's folder; emptied first")
    p.add_argument('--port', type=int, default=9142)
    p.add_argument('--seed', type=int, default=7)
    a = p.parse_args()
    work = pathlib.Path(a.work).resolve()
    if (work / 'pid').exists():
        sys.exit(f'a node may still run in {work}: cassandra.sh stop it first')
    shutil.rmtree(work, ignore_errors=True)
    node = golden.Node(VERSION, FORMAT, work, a.port)
    node.start()
    answers = pathlib.Path(tempfile.mkdtemp()) / 'expected'
    try:
        db = golden.Db(node, a.seed)
        db._ticks = itertools.count(WRITTEN_US, 1000)
        db(f"CREATE KEYSPACE {KEYSPACE} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}")
        golden.play(db, node, [orders, sensor_readings, products], [KEYSPACE])
        time.sleep(3)  # what was written with TTL 1 has expired
        node.nodetool('flush')
        now = int(time.time())
        counts, failed, _ = golden.expected(db, [KEYSPACE], answers, raw_limit=10**9)
        if failed:
            sys.exit(f'failed: {failed}')
        node.nodetool('compact', 'system_schema')  # a schema of a few small SSTables
        db.cluster.shutdown()
    finally:
        node.stop()
    data = ROOT / 'examples' / 'data'
    shutil.rmtree(data, ignore_errors=True)
    for ks in (KEYSPACE, 'system_schema'):
        for table in sorted((work / 'data' / ks).iterdir()):
            files = [f for f in sorted(table.iterdir()) if f.is_file()]
            if files:
                (data / ks / table.name).mkdir(parents=True)
                for f in files:
                    shutil.copyfile(f, data / ks / table.name / f.name)
    keep(ROOT / 'test' / 'corpus' / 'sample-expected', answers, now, counts)
    shutil.rmtree(answers.parent)
    print(counts, sum(f.stat().st_size for f in data.rglob('*') if f.is_file()), 'bytes')


if __name__ == '__main__':
    main()
