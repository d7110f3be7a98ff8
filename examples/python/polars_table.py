"""Polars: a table as a DataFrame, through its own Arrow reader.

    python examples/python/polars_table.py --url http://127.0.0.1:9180
"""
import argparse
import urllib.request

import polars as pl

parser = argparse.ArgumentParser()
parser.add_argument('--url', default='http://127.0.0.1:9180')
args = parser.parse_args()

# Polars has no type for a duration of months, days and nanoseconds: duration=struct gives three columns in one.
with urllib.request.urlopen(f'{args.url}/v1/keyspaces/shop/tables/orders/rows?duration=struct') as response:
    frame = pl.read_ipc_stream(response.read())
print(f'{frame.height} orders of {frame["customer_id"].n_unique()} customers')
