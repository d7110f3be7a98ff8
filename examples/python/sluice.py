"""Reads a table of a Sluice server in parallel: one export, many tickets, each read by a thread and resumed where it was cut.

    import sluice
    table = sluice.read_table('http://127.0.0.1:9180', 'shop.orders', columns='order_id,total')     # one pyarrow.Table
    sluice.write_dataset('http://127.0.0.1:9180', 'shop.orders', 'orders/')                          # a folder of Parquet files

All tickets of an export see the same rows. Needs pyarrow and nothing else. Parameters are those of the server: columns, where, start,
end, now, since, until, distinct, decimal, duration, compression, batch_rows, batch_bytes, splits, target_bytes, ttl.
Where the server asks for a token it is `token`, or SLUICE_TOKEN in the environment.
"""
import argparse
import base64
import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import time
import urllib.error
import urllib.parse
import urllib.request

import pyarrow as pa
import pyarrow.parquet as pq

RETRIES = 8


class SluiceError(Exception):
    """What the server refused; `code` never changes its meaning (README, Errors)."""

    def __init__(self, problem):
        super().__init__(f"{problem.get('code')}: {problem.get('detail')}")
        self.code = problem.get('code')
        self.status = problem.get('status')
        self.fields = problem.get('fields', {})


def request(url, method='GET', body=None, token=None):
    """An open response. Raises SluiceError for what the server refuses, urllib's and http.client's own errors for connections."""
    data = None if body is None else json.dumps(body).encode()
    headers = {} if body is None else {'Content-Type': 'application/json'}
    token = token or os.environ.get('SLUICE_TOKEN')
    if token:
        headers['Authorization'] = f'Bearer {token}'
    try:
        return urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=300)
    except urllib.error.HTTPError as error:
        text = error.read()
        if 'problem+json' not in error.headers.get('Content-Type', ''):
            raise
        raise SluiceError(json.loads(text)) from None


def parse_table_name(name):
    """`ks.t` as CQL writes it, with "quotes" around what is not all lower case."""
    match = re.fullmatch(r'(?:"((?:[^"]|"")+)"|(\w+))\.(?:"((?:[^"]|"")+)"|(\w+))', name)
    if match is None:
        raise ValueError(f'{name}: not KEYSPACE.TABLE')
    quoted_keyspace, keyspace, quoted_table, table = match.groups()
    return (quoted_keyspace or keyspace.lower()).replace('""', '"'), (quoted_table or table.lower()).replace('""', '"')


def quote(name):
    """A name as part of a path."""
    return urllib.parse.quote(name, safe='')


def query(**parameters):
    return urllib.parse.urlencode({name: value for name, value in parameters.items() if value is not None})


class Export:
    """A table held as it is now, on the server, until it is closed or expires.

    schema: pyarrow.Schema; endpoints: what to read, in the order of the rows; each has `ticket` and `bytes`.
    """

    def __init__(self, url, table, token=None, **parameters):
        self.url = url.rstrip('/')
        self.token = token
        keyspace, name = parse_table_name(table)
        given = {key: value for key, value in parameters.items() if value is not None}
        with request(f'{self.url}/v1/exports', 'POST', {'keyspace': keyspace, 'table': name, **given}, token) as response:
            self.description = json.load(response)
        self.id = self.description['id']
        self.endpoints = self.description['endpoints']
        self.schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(self.description['schema']['arrow'])))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            request(f'{self.url}/v1/exports/{self.id}', 'DELETE', token=self.token).close()
        except SluiceError as error:
            if error.code not in ('EXPORT_GONE', 'UNKNOWN_EXPORT'):
                raise

    def batches(self, ticket):
        """Yields the record batches of one ticket."""
        for batch, _ in ticket_batches(self.url, ticket, token=self.token):
            yield batch


def ticket_batches(url, ticket, after=None, retries=RETRIES, token=None):
    """Yields (batch, position). A stream that is cut, and a server that is at its limit, are tried again behind the last position."""
    tries = 0
    while True:
        try:
            with request(f'{url}/v1/tickets/{ticket}?{query(after=after)}', token=token) as response:
                with pa.ipc.open_stream(response) as reader:
                    for batch, metadata in reader.iter_batches_with_custom_metadata():
                        after = metadata[b'sluice.position'].decode()
                        tries = 0
                        yield batch, after
                # An Arrow reader stops at the end mark; the end of the response is what says that nothing went wrong.
                response.read()
                return
        except SluiceError as error:
            if error.status != 503 or tries == retries:
                raise
        except (http.client.HTTPException, urllib.error.URLError, OSError):
            if tries == retries:
                raise
        tries += 1
        time.sleep(min(0.1 * 2**tries, 10))


def read_table(url, table, threads=4, **parameters):
    """All rows as one pyarrow.Table, in the order of the table."""
    with Export(url, table, **parameters) as export:
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            parts = pool.map(lambda endpoint: list(export.batches(endpoint['ticket'])), export.endpoints)
            return pa.Table.from_batches([batch for part in parts for batch in part], export.schema)


def write_dataset(url, table, folder, threads=4, **parameters):
    """One Parquet file for each ticket that has rows; (path, rows) of each. A file appears under its name when it is whole."""
    parameters.setdefault('duration', 'struct')  # Parquet has no interval of months, days and nanoseconds
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with Export(url, table, **parameters) as export:

        def write(numbered):
            number, endpoint = numbered
            path = folder / f'part-{number:05}.parquet'
            unfinished = path.with_suffix('.unfinished')
            rows = 0
            with pq.ParquetWriter(unfinished, export.schema, compression='zstd') as writer:
                for batch in export.batches(endpoint['ticket']):
                    writer.write_batch(batch)
                    rows += batch.num_rows
            if rows == 0:
                unfinished.unlink()
                return None
            unfinished.rename(path)
            return path, rows

        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            return [written for written in pool.map(write, enumerate(export.endpoints)) if written is not None]


def main():
    parser = argparse.ArgumentParser(description='Reads a table in parallel, and says what it read or writes Parquet files.')
    parser.add_argument('--url', default='http://127.0.0.1:9180')
    parser.add_argument('--table', default='shop.orders')
    parser.add_argument('--columns')
    parser.add_argument('--where')
    parser.add_argument('--splits', type=int, default=8)
    parser.add_argument('--threads', type=int, default=4)
    parser.add_argument('--output', help='folder for Parquet files; without it the table is read into memory')
    args = parser.parse_args()
    parameters = dict(columns=args.columns, where=args.where, splits=args.splits, threads=args.threads)
    if args.output:
        written = write_dataset(args.url, args.table, args.output, **parameters)
        print(f'{sum(rows for _, rows in written)} rows in {len(written)} files in {args.output}')
    else:
        table = read_table(args.url, args.table, **parameters)
        print(f'{table.num_rows} rows, {table.nbytes} bytes, columns {", ".join(table.column_names)}')


if __name__ == '__main__':
    main()
