"""Golden tables over HTTP, in each tool that is there as a Python package, against what Cassandra answered. What a tool cannot hold is asserted
too: examples/README.md says so, and with which option it can.

    python python_clients.py SET URL SET.json SAMPLE_URL TOKEN_URL TOKEN
"""
import decimal
import http.client
import importlib.resources
import struct
import sys
import urllib.error
import urllib.parse
import urllib.request

import chdb
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import golden_tables
from breaking_proxy import BreakingProxy
from restored import digest_problem, in_milliseconds, restored

SET, URL, ABOUT, SAMPLE, LOCKED, TOKEN = sys.argv[1:]


def rows_url(base, name, extension='', **parameters):
    keyspace, table = name.split('.')
    return f'{base}/v1/keyspaces/{keyspace}/tables/{table}/rows{extension}?{urllib.parse.urlencode(parameters)}'


def arrow(base, name, **parameters):
    with urllib.request.urlopen(rows_url(base, name, **parameters)) as response:
        table = pa.ipc.open_stream(response).read_all()
        assert response.read() == b''
    table.validate(full=True)
    return table


def body(base, name, extension='', **parameters):
    with urllib.request.urlopen(rows_url(base, name, extension, **parameters)) as response:
        return response.read()


def duck():
    folder = importlib.resources.files('duckdb_extension_httpfs') / 'extensions' / f'v{duckdb.__version__}'
    database = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'")
    database.load_extension(str(folder / 'httpfs.duckdb_extension'))
    database.execute('SET http_retries = 0')
    return database


def refuses(exception, act):
    try:
        act()
    except exception:
        return
    raise AssertionError(f'{exception.__name__} expected: examples/README.md says what the tool cannot hold')


# Each gives a pyarrow.Table of what the tool held, and the columns that it cannot hold; ClickHouse also what it makes of the expected values.


def with_pyarrow(name, now):
    table = arrow(URL, name, now=now, batch_rows=7)
    problem = digest_problem(URL, name, table, table.schema, now)
    if problem is not None:
        raise AssertionError(problem)
    return table, ()


def with_pyarrow_compressed(name, now):
    return arrow(URL, name, now=now, compression='lz4'), ()


def with_arrow_file(name, now):
    return pa.ipc.open_file(pa.py_buffer(body(URL, name, '.arrow', now=now, compression='zstd'))).read_all(), ()


def with_parquet(name, now):
    if name == 'golden.types_scalar':
        refuses(urllib.error.HTTPError, lambda: body(URL, name, '.parquet', now=now, duration='interval'))
    return pq.read_table(pa.py_buffer(body(URL, name, '.parquet', now=now))), ()


def with_pandas(name, now):
    table = arrow(URL, name, now=now)
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    if name == 'golden.types_scalar':
        refuses(ValueError, lambda: table.select(['c_date']).to_pandas())
        refuses(ValueError, lambda: table.select(['c_time']).to_pandas())
        assert table.column('c_bigint').null_count > 0
        assert str(table.select(['c_bigint']).to_pandas().dtypes.iloc[0]) == 'float64'
    if name == 'golden.types_nested':
        for column in ('fs', 't'):  # a set of uuid, a tuple with a list of them
            refuses(pa.ArrowNotImplementedError, lambda: table.select([column]).to_pandas())
    return pa.Table.from_pandas(frame, preserve_index=False), ()


def with_polars(name, now):
    if name in ('golden.types_scalar', 'golden.types_nested'):
        refuses(pl.exceptions.PanicException, lambda: pl.read_ipc_stream(body(URL, name, now=now)))
    return pl.read_ipc_stream(body(URL, name, now=now, duration='struct')).to_arrow(), ()


def with_duckdb_reader(name, now):
    database = duck()
    leave_out = ()
    if name == 'golden.types_scalar':
        leave_out = ('c_timestamp',)  # years beyond 294246
        whole = arrow(URL, name, now=now, duration='struct')
        database.register('whole', whole)
        refuses(duckdb.ConversionException, lambda: database.sql('SELECT c_timestamp FROM whole').to_arrow_table())
        # Its INTERVAL counts microseconds.
        durations = arrow(URL, name, now=now, columns='c_duration')
        database.register('durations', durations)
        wanted = [value and value.nanoseconds for value in durations.column(0).to_pylist()]
        held = [value and value.nanoseconds for value in database.sql('SELECT * FROM durations').to_arrow_table().column(0).to_pylist()]
        assert held != wanted
        # As a number of milliseconds it does.
        at = whole.schema.get_field_index('c_timestamp')
        numbers = whole.select(['c_timestamp']).set_column(0, 'c_timestamp', whole.column(at).cast(pa.int64()))
        held = database.sql('SELECT c_timestamp FROM numbers').to_arrow_table()
        assert held.column(0).to_pylist() == numbers.column(0).to_pylist()
    columns = ','.join(column['name'] for column in TABLES[name]['columns'] if column['name'] not in leave_out)
    # Its own INTERVAL counts microseconds: duration=struct keeps the nanoseconds.
    with urllib.request.urlopen(rows_url(URL, name, now=now, duration='struct', columns=quoted(columns))) as response:
        rows = pa.ipc.open_stream(response)
        return in_milliseconds(database.sql('SELECT * FROM rows').to_arrow_table()), leave_out


def with_duckdb_parquet(name, now):
    # Its Parquet reader cuts times to microseconds; from a pyarrow reader it keeps them.
    if name == 'golden.types_scalar':
        times = duck().read_parquet(rows_url(URL, name, '.parquet', now=now, columns='c_time')).to_arrow_table().column(0).to_pylist()
        assert len(times) == TABLES[name]['count'] and duck_times(times) == duck_times(arrow(URL, name, now=now, columns='c_time').column(0))
        far = rows_url(URL, name, '.parquet', now=now, columns='c_timestamp')
        refuses(duckdb.ConversionException, lambda: duck().read_parquet(far).to_arrow_table())
    leave_out = ('c_time', 'c_timestamp') if name == 'golden.types_scalar' else ()
    columns = ','.join(column['name'] for column in TABLES[name]['columns'] if column['name'] not in leave_out)
    address = rows_url(URL, name, '.parquet', now=now, columns=quoted(columns))
    return in_milliseconds(duck().read_parquet(address).to_arrow_table()), leave_out


def clickhouse(sql):
    """What ClickHouse's embeddable form selects, its Strings as bytes."""
    return pa.ipc.open_stream(chdb.query(f'{sql} SETTINGS output_format_arrow_string_as_string=0, http_max_tries=1', 'ArrowStream').bytes()).read_all()


def with_clickhouse(name, now):
    columns = [column['name'] for column in TABLES[name]['columns']]
    if name in ('golden.types_scalar', 'golden.types_nested'):
        refuses(RuntimeError, lambda: clickhouse(f"SELECT * FROM url('{rows_url(URL, name, now=now)}', ArrowStream)"))
    if name == 'golden.types_scalar':
        # Its Date32 holds the years 1900 to 2299: as a number of days it holds all.
        refuses(RuntimeError, lambda: clickhouse(f"SELECT * FROM url('{rows_url(URL, name, now=now, columns='c_date')}', ArrowStream)"))
        one = rows_url(URL, name, now=now, columns='c_date')
        days = clickhouse(f"SELECT * FROM url('{one}', ArrowStream, 'c_date Nullable(Int32)')").column(0)
        assert days.to_pylist() == arrow(URL, name, now=now, columns='c_date').column(0).cast(pa.int32()).to_pylist()
        columns.remove('c_date')
    vectors = [column['name'] for column in TABLES[name]['columns'] if column['type']['kind'] == 'vector']
    expected = {column['name']: without_null_lists(column, TABLES[name]['expected'][column['name']]) for column in TABLES[name]['columns']}
    for column in vectors:  # null beside vectors: not out of an Arrow stream, but out of Parquet
        where = rows_url(URL, name, now=now, columns=quoted(column))
        refuses(RuntimeError, lambda: clickhouse(f"SELECT * FROM url('{where}', ArrowStream)"))
        where = rows_url(URL, name, '.parquet', now=now, columns=quoted(column))
        held = clickhouse(f"SELECT * FROM url('{where}', Parquet)")
        assert text_lists(held.column(0).to_pylist()) == text_lists(expected[column]), column
        columns.remove(column)
    where = rows_url(URL, name, now=now, duration='struct', columns=quoted(','.join(columns)))
    held = clickhouse(f"SELECT * FROM url('{where}', ArrowStream)")
    schema = arrow(URL, name, now=now, duration='struct', columns=quoted(','.join(columns)), limit=0).schema
    left = [column['name'] for column in TABLES[name]['columns'] if column['name'] not in columns]
    return restored(held, schema), left, expected


def without_null_lists(column, values):
    """ClickHouse's Array and Map cannot be null: they are empty."""

    def seen(kind, value):
        name = kind['kind']
        if value is None:
            return [] if name in ('list', 'set', 'map', 'vector') else None
        if name in ('list', 'set', 'vector'):
            return [seen(kind['element'], part) for part in value]
        if name == 'map':
            return [[seen(kind['key'], k), seen(kind['value'], v)] for k, v in value]
        if name in ('tuple', 'udt'):
            return [seen(inner, part) for inner, part in zip(kind['fields'], value)]
        return value

    return [seen(column['type'], value) for value in values]


def text_lists(values):
    """Bytes as text, floats by their bits."""
    if isinstance(values, list):
        return [text_lists(value) for value in values]
    if isinstance(values, float):
        return struct.pack('>f', values).hex()
    return values.decode() if isinstance(values, bytes) else values


def duck_times(values):
    """Microseconds of times of day."""
    kind = pa.int64()
    if isinstance(values, pa.ChunkedArray):
        return [value and value // 1000 for value in values.cast(kind).to_pylist()]
    return pa.array(values, pa.time64('us')).cast(kind).to_pylist()


def quoted(columns):
    return ','.join(f'"{name}"' for name in columns.split(','))


def check_decimals():
    """Decimal128 in every tool, Decimal256 in those that have it: the sample's totals, exact."""
    text = arrow(SAMPLE, 'shop.orders', columns='total').column(0).to_pylist()
    wanted = sum(decimal.Decimal(value) for value in text if value is not None)
    for kind in ('decimal128:2', 'decimal256:2'):
        table = arrow(SAMPLE, 'shop.orders', columns='total', decimal=kind)
        assert sum(value for value in table.column(0).to_pylist() if value is not None) == wanted, kind
        frame = table.to_pandas(types_mapper=pd.ArrowDtype)
        assert sum(value for value in frame['total'].tolist() if value is not pd.NA and value is not None) == wanted
    table = arrow(SAMPLE, 'shop.orders', columns='total', decimal='decimal128:2')
    assert pl.from_arrow(table)['total'].sum() == wanted
    database = duck()
    database.register('totals', table)
    assert database.sql('SELECT sum(total) FROM totals').fetchone()[0] == wanted
    wide = arrow(SAMPLE, 'shop.orders', columns='total', decimal='decimal256:2')
    refuses(duckdb.Error, lambda: database.from_arrow(wide).aggregate('sum(total)').fetchone())
    refuses(pl.exceptions.PanicException, lambda: pl.from_arrow(wide))
    print(f'{SET}: decimals equal, sum {wanted}')


def check_broken_streams():
    """A stream that is cut, by an end or by a reset, is an error in each tool, never a shorter table."""
    proxy = BreakingProxy(urllib.parse.urlsplit(SAMPLE).port, later=0)
    plain, parquet = (rows_url(proxy.url, 'shop.orders', extension) for extension in ('', '.parquet'))
    cut = (http.client.IncompleteRead, ConnectionError)
    tools = [
        ('pyarrow', cut, lambda: arrow(proxy.url, 'shop.orders').num_rows),
        ('Polars', cut, lambda: pl.read_ipc_stream(body(proxy.url, 'shop.orders')).height),
        ('DuckDB', duckdb.Error, lambda: duck().read_parquet(parquet).to_arrow_table().num_rows),
        ('ClickHouse', RuntimeError, lambda: clickhouse(f"SELECT * FROM url('{plain}', ArrowStream)").num_rows),
        ('ClickHouse, Parquet', RuntimeError, lambda: clickhouse(f"SELECT * FROM url('{parquet}', Parquet)").num_rows),
    ]
    for tool, exception, act in tools + tools:
        broken = proxy.broken
        try:
            found = act()
        except exception:
            assert proxy.broken > broken, f'{tool}: an error of another cause'
            continue
        raise AssertionError(f'{tool}: {found} rows of a stream that was cut')
    print(f'{SET}: cut streams are errors in {", ".join(tool for tool, _, _ in tools)}')


def check_token():
    """How each tool bears a token: examples/README.md says so."""
    plain, parquet = (rows_url(LOCKED, 'shop.orders', extension) for extension in ('', '.parquet'))
    whole = arrow(SAMPLE, 'shop.orders').num_rows
    refuses(urllib.error.HTTPError, lambda: body(LOCKED, 'shop.orders'))
    with urllib.request.urlopen(urllib.request.Request(plain, headers={'Authorization': f'Bearer {TOKEN}'})) as response:
        assert pa.ipc.open_stream(response).read_all().num_rows == whole
    database = duck()
    refuses(duckdb.Error, lambda: database.read_parquet(parquet).fetchall())
    database.execute(f"CREATE SECRET (TYPE http, BEARER_TOKEN '{TOKEN}')")
    assert database.read_parquet(parquet).aggregate('count(*)').fetchone()[0] == whole
    bearer = f"headers('Authorization' = 'Bearer {TOKEN}')"
    refuses(RuntimeError, lambda: clickhouse(f"SELECT * FROM url('{plain}', ArrowStream)"))
    assert clickhouse(f"SELECT * FROM url('{plain}', ArrowStream, {bearer})").num_rows == whole
    print(f'{SET}: a token in urllib, DuckDB and ClickHouse')


def check_requests():
    """DuckDB asks for the header first, which says that there are no ranges and no length, and then takes the file as it comes."""
    proxy = BreakingProxy(urllib.parse.urlsplit(SAMPLE).port, breaks=False)
    count = duck().read_parquet(rows_url(proxy.url, 'shop.orders', '.parquet')).aggregate('count(*)').fetchone()[0]
    assert count == arrow(SAMPLE, 'shop.orders').num_rows
    assert [request.split()[0] for request in proxy.requests] == ['HEAD', 'GET'], proxy.requests
    assert '\r\nRange:' not in proxy.requests[1]
    print(f'{SET}: {count} rows by read_parquet in DuckDB: HEAD, then GET of the whole')


CLIENTS = {
    'pyarrow, stream': with_pyarrow,
    'pyarrow, stream with lz4': with_pyarrow_compressed,
    'pyarrow, file with zstd': with_arrow_file,
    'pyarrow, Parquet': with_parquet,
    'pandas': with_pandas,
    'Polars': with_polars,
    'DuckDB, reader': with_duckdb_reader,
    'DuckDB, read_parquet over HTTP': with_duckdb_parquet,
    'ClickHouse, url': with_clickhouse,
}

about = golden_tables.load(ABOUT)
TABLES = about['tables']


def main():
    failed = False
    for client, read in CLIENTS.items():
        equal, left = 0, []
        for name, table in TABLES.items():
            try:
                found, leave_out, *expected = read(name, about['now'])
                problem = golden_tables.difference({**table, 'expected': [*expected, table['expected']][0]}, found, leave_out)
            except (Exception, pl.exceptions.PanicException) as error:  # every client and table is tried, each failure named
                problem, leave_out = f'{type(error).__name__}: {error}', ()
            equal += problem is None
            left += [f'{name}.{column}' for column in leave_out]
            if problem is not None:
                failed = True
                print(f'{SET}, {client}, {name}: {problem[:500]}', file=sys.stderr)
        print(f"{SET}: {equal} of {len(TABLES)} tables equal in {client}{', without ' if left else ''}{', '.join(left)}")
    if SET == 'da':
        check_decimals()
        check_broken_streams()
        check_requests()
        check_token()
    sys.exit(1 if failed else 0)


main()
