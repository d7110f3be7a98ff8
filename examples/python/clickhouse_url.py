"""ClickHouse: SQL over a stream of rows by its address. The query is the same in a server, with INSERT INTO ... SELECT before it.

    python examples/python/clickhouse_url.py --url http://127.0.0.1:9180

Runs it in ClickHouse's embeddable form: `pip install chdb-core-lite`.
"""
import argparse

import chdb

parser = argparse.ArgumentParser()
parser.add_argument('--url', default='http://127.0.0.1:9180')
args = parser.parse_args()

rows = f'{args.url}/v1/keyspaces/shop/tables/orders/rows'
print(
    chdb.query(
        f"""
        SELECT currency, count() AS orders, sum(toDecimal64(total, 2)) AS total
        FROM url('{rows}', ArrowStream)
        GROUP BY currency ORDER BY currency
        """,
        'Pretty',
    )
)
