"""Arrow Flight: a table by its tickets, in parallel. The server needs --flight-port.

    python examples/python/flight_client.py --location grpc://127.0.0.1:9181
"""
import argparse
import concurrent.futures
import json
import os

import pyarrow as pa
import pyarrow.flight as flight

parser = argparse.ArgumentParser()
parser.add_argument('--location', default='grpc://127.0.0.1:9181')
args = parser.parse_args()

client = flight.connect(args.location)
token = os.environ.get('SLUICE_TOKEN')  # where the server asks for one
options = flight.FlightCallOptions(headers=[(b'authorization', f'Bearer {token}'.encode())] if token else [])
# A path, FlightDescriptor.for_path('shop', 'orders'), asks for the whole table; a command takes the parameters of HTTP.
plan = client.get_flight_info(
    flight.FlightDescriptor.for_command(json.dumps({'table': 'shop.orders', 'columns': 'order_id,total', 'splits': 4})), options
)
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    parts = list(pool.map(lambda endpoint: client.do_get(endpoint.ticket, options).read_all(), plan.endpoints))
orders = pa.concat_tables(parts)
print(f'{orders.num_rows} orders by {len(plan.endpoints)} tickets, {plan.total_bytes} bytes on disk')

export = json.loads(plan.app_metadata)['export']
list(client.do_action(('drop_export', json.dumps({'export': export}).encode()), options))
