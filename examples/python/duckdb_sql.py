"""DuckDB: SQL over a stream of rows, and over Parquet by its address.

    python examples/python/duckdb_sql.py --url http://127.0.0.1:9180

The second needs the httpfs extension: `INSTALL httpfs` fetches it, `pip install duckdb-extension-httpfs` brings it as a package.
"""
import argparse
import importlib.resources
import importlib.util
import urllib.request

import duckdb
import pyarrow as pa

parser = argparse.ArgumentParser()
parser.add_argument('--url', default='http://127.0.0.1:9180')
args = parser.parse_args()
rows = f'{args.url}/v1/keyspaces/shop/tables/orders/rows'
database = duckdb.connect()

# A reader over HTTP: DuckDB pulls batch after batch, and never holds the table.
with urllib.request.urlopen(f'{rows}?columns=order_id,customer_id') as response:
    orders = pa.ipc.open_stream(response)
    customers = database.sql('SELECT count(DISTINCT customer_id) FROM orders').fetchone()[0]
    response.read()
print(f'{customers} customers')

# Parquet by its address.
if importlib.util.find_spec('duckdb_extension_httpfs'):
    folder = importlib.resources.files('duckdb_extension_httpfs') / 'extensions' / f'v{duckdb.__version__}'
    database.load_extension(str(folder / 'httpfs.duckdb_extension'))
else:
    database.install_extension('httpfs')
    database.load_extension('httpfs')
count = database.sql(f"SELECT count(*) FROM read_parquet('{rows}.parquet')").fetchone()[0]
print(f'{count} orders')
