"""Golden tables over Arrow Flight with pyarrow.flight, against what Cassandra answered; plans, positions, actions, errors, limits.

    python flight_clients.py SET LOCATION SET.json SAMPLE_LOCATION SAMPLE_URL TOKEN_LOCATION TOKEN
"""
import json
import sys
import threading
import urllib.request

import pyarrow as pa
import pyarrow.flight as flight

import golden_tables

SET, LOCATION, ABOUT, SAMPLE, SAMPLE_URL, LOCKED, TOKEN = sys.argv[1:]


def command(table, **parameters):
    return flight.FlightDescriptor.for_command(json.dumps({'table': table, **parameters}))


def refused(exception, text, act):
    try:
        act()
    except exception as error:
        assert text in str(error), error
        return
    raise AssertionError(f'{text} expected')


def read(client, info):
    """All endpoints, in their order; the schema of each stream is that of the plan."""
    batches = []
    for endpoint in info.endpoints:
        reader = client.do_get(endpoint.ticket)
        assert reader.schema.equals(info.schema, check_metadata=True)
        for chunk in reader:
            assert chunk.app_metadata is not None
            chunk.data.validate(full=True)
            batches.append(chunk.data)
    return pa.Table.from_batches(batches, info.schema)


def check_golden(client, about):
    equal = 0
    for name, table in about['tables'].items():
        for parameters in ({'splits': 1}, {'splits': 5, 'batch_rows': 7}, {'splits': 1, 'compression': 'zstd'}):
            info = client.get_flight_info(command(name, now=about['now'], **parameters))
            problem = golden_tables.difference(table, read(client, info))
            assert problem is None, f'{SET}, Flight, {name}, {parameters}: {problem}'
        equal += 1
    print(f'{SET}: {equal} of {len(about["tables"])} tables equal in pyarrow.flight')


def check_plan(client):
    descriptor = flight.FlightDescriptor.for_path('shop', 'orders')
    info = client.get_flight_info(descriptor)
    assert info.descriptor == descriptor and info.ordered and info.total_records == -1 and info.total_bytes > 100_000
    assert all(endpoint.expiration_time is not None and endpoint.locations == [] for endpoint in info.endpoints)
    with urllib.request.urlopen(f'{SAMPLE_URL}/v1/keyspaces/shop/tables/orders/rows') as response:
        over_http = pa.ipc.open_stream(response).read_all()
    assert read(client, info).replace_schema_metadata(None).equals(over_http.replace_schema_metadata(None))
    assert client.get_schema(command('shop.orders', columns=['total', 'items'])).schema.names == ['total', 'items']

    listed = {tuple(part.decode() for part in found.descriptor.path): found for found in client.list_flights(b'shop')}
    assert set(listed) == {('shop', 'orders'), ('shop', 'products'), ('shop', 'sensor_readings')}
    assert read(client, listed['shop', 'orders']).num_rows == over_http.num_rows
    assert len(list(client.list_flights())) > len(listed)

    # A ticket is the same over HTTP.
    split = client.get_flight_info(command('shop.orders', splits=2)).endpoints[1].ticket
    with urllib.request.urlopen(f'{SAMPLE_URL}/v1/tickets/{split.ticket.decode()}') as response:
        assert pa.ipc.open_stream(response).read_all().equals(client.do_get(split).read_all())
    print(f'{SET}: plan, schema, listing and tickets as over HTTP')


def check_resume(client):
    """From behind any position the rest comes, and no row twice."""
    ticket = client.get_flight_info(command('shop.orders', splits=1, batch_rows=100)).endpoints[0].ticket
    chunks = [(chunk.data, chunk.app_metadata.to_pybytes().decode()) for chunk in client.do_get(ticket)]
    whole = pa.Table.from_batches([batch for batch, _ in chunks])
    seen = 0
    for batch, position in chunks[:-1]:
        seen += batch.num_rows
        rest = client.do_get(flight.Ticket(json.dumps({'ticket': ticket.ticket.decode(), 'after': position}))).read_all()
        assert rest.equals(whole.slice(seen)), position
    print(f'{SET}: resumed behind each of {len(chunks) - 1} positions')


def check_actions(client):
    assert [action.type for action in client.list_actions()] == ['create_export', 'renew_export', 'drop_export']

    def act(name, **body):
        return [json.loads(result.body.to_pybytes()) for result in client.do_action((name, json.dumps(body).encode()))]

    made = act('create_export', table='shop.orders', splits=2, ttl=60)[0]
    assert len(made['endpoints']) == 2
    renewed = act('renew_export', export=made['id'], ttl=3000)[0]
    assert renewed['expires'] > made['expires']
    ticket = flight.Ticket(made['endpoints'][0]['ticket'])
    assert client.do_get(ticket).read_all().num_rows > 0
    assert act('drop_export', export=made['id']) == []
    refused(KeyError, 'EXPORT_GONE', lambda: client.do_get(ticket).read_all())
    refused(KeyError, 'EXPORT_GONE', lambda: act('renew_export', export=made['id']))
    refused(KeyError, 'NOT_FOUND', lambda: act('drop_table'))
    print(f'{SET}: exports made, renewed and dropped by actions')


def check_errors(client):
    cases = [
        (KeyError, 'UNKNOWN_TABLE', command('shop.nothing')),
        (KeyError, 'UNKNOWN_KEYSPACE', flight.FlightDescriptor.for_path('nothing', 'orders')),
        (pa.ArrowInvalid, 'BAD_PREDICATE', command('shop.orders', where='items >')),
        (pa.ArrowInvalid, 'BAD_PARAMETER', command('shop.orders', colums='a')),
        (pa.ArrowInvalid, 'UNKNOWN_COLUMN', command('shop.orders', columns='nothing')),
        (pa.ArrowInvalid, 'BAD_REQUEST', flight.FlightDescriptor.for_command(b'SELECT 1')),
        (pa.ArrowInvalid, 'BAD_REQUEST', flight.FlightDescriptor.for_path('a', 'b', 'c')),
    ]
    for exception, code, descriptor in cases:
        refused(exception, f'{code}: ', lambda: client.get_flight_info(descriptor))
    refused(pa.ArrowInvalid, 'BAD_TICKET', lambda: client.do_get(flight.Ticket(b'nothing')).read_all())
    refused(pa.ArrowInvalid, 'BAD_POSITION', lambda: client.do_get(flight.Ticket(b'{"table": "shop.orders", "after": "zz"}')).read_all())
    # A client that leaves in the middle frees its stream: many in a row do not use up the server's places.
    for _ in range(80):
        reader = client.do_get(flight.Ticket(b'{"table": "shop.orders", "batch_rows": 10}'))
        reader.read_chunk()
        reader.cancel()
    assert client.do_get(flight.Ticket(b'{"table": "shop.orders"}')).read_all().num_rows > 2000
    print(f'{SET}: {len(cases) + 2} errors by their codes')


def check_token():
    locked = flight.connect(LOCKED)
    refused(flight.FlightUnauthenticatedError, 'UNAUTHORIZED', lambda: list(locked.list_flights(b'shop')))
    refused(flight.FlightUnauthenticatedError, 'UNAUTHORIZED', lambda: locked.authenticate_basic_token('me', 'wrong'))
    header = locked.authenticate_basic_token('me', TOKEN)
    assert header == (b'authorization', f'Bearer {TOKEN}'.encode())
    options = flight.FlightCallOptions(headers=[header])
    assert len(list(locked.list_flights(b'shop', options))) == 3
    assert locked.do_get(flight.Ticket(b'{"table": "shop.orders"}'), options).read_all().num_rows > 2000
    print(f'{SET}: token asked for, given by the handshake, and taken')


def check_parallel(client):
    """Eight threads over one connection, all with the same rows."""
    info = client.get_flight_info(command('shop.orders', splits=8))
    wanted = read(client, info)
    found = [None] * len(info.endpoints)

    def pull(i):
        found[i] = client.do_get(info.endpoints[i].ticket).read_all()

    threads = [threading.Thread(target=pull, args=(i,)) for i in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pa.concat_tables(found).equals(wanted)
    print(f'{SET}: {len(found)} tickets at once')


def main():
    about = golden_tables.load(ABOUT)
    check_golden(flight.connect(LOCATION), about)
    if SET == 'da':
        client = flight.connect(SAMPLE)
        check_plan(client)
        check_resume(client)
        check_actions(client)
        check_errors(client)
        check_parallel(client)
        check_token()


main()
