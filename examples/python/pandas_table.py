"""pandas: a table as a DataFrame with Arrow types, so that nothing is rounded and null stays null.

    python examples/python/pandas_table.py --url http://127.0.0.1:9180
"""
import argparse
import urllib.request

import pandas as pd
import pyarrow as pa

parser = argparse.ArgumentParser()
parser.add_argument('--url', default='http://127.0.0.1:9180')
args = parser.parse_args()

with urllib.request.urlopen(f'{args.url}/v1/keyspaces/shop/tables/orders/rows') as response:
    table = pa.ipc.open_stream(response).read_all()
    response.read()
frame = table.to_pandas(types_mapper=pd.ArrowDtype)
print(f'{len(frame)} orders')
print(frame.dtypes)
