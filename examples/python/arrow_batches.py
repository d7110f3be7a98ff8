"""pyarrow: a table batch by batch, in constant memory. The server waits while you work on a batch.

    python examples/python/arrow_batches.py --url http://127.0.0.1:9180
"""
import argparse
import urllib.request

import pyarrow as pa
import pyarrow.compute as pc

parser = argparse.ArgumentParser()
parser.add_argument('--url', default='http://127.0.0.1:9180')
args = parser.parse_args()

rows = 0
largest = None
with urllib.request.urlopen(f'{args.url}/v1/keyspaces/shop/tables/orders/rows?columns=order_id,customer_id') as response:
    with pa.ipc.open_stream(response) as reader:
        for batch in reader:
            rows += batch.num_rows
            found = pc.max(batch.column('customer_id')).as_py()
            largest = found if largest is None else max(largest, found)
    response.read()  # the end of the response: a stream that was cut raises IncompleteRead
print(f'{rows} orders, largest customer_id {largest}')
