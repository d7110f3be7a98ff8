"""Measures clients of a server that has bulk.narrow, by turns: see clients.sh.

    python clients.py URL LOCATION [--rows N] [--rounds N] [--digest]
"""
import argparse
import json
import statistics
import subprocess
import time
import urllib.request

import pyarrow as pa
import pyarrow.flight as flight
from pyspark.sql import SparkSession

import sluice
from restored import restored, server_digest
from sluice_datasource import SluiceDataSource
from sluice_digest import digest

NOW = 1_800_000_000
TABLE = 'bulk.narrow'
TASKS = 4

parser = argparse.ArgumentParser()
parser.add_argument('url')
parser.add_argument('location')
parser.add_argument('--rows', type=int, default=2_000_000)
parser.add_argument('--rounds', type=int, default=5)
parser.add_argument('--digest', action='store_true')
args = parser.parse_args()
ROWS = f'{args.url}/v1/keyspaces/bulk/tables/narrow/rows'


def over_http():
    with urllib.request.urlopen(f'{ROWS}?now={NOW}') as response:
        with pa.ipc.open_stream(response) as reader:
            sizes = [(batch.num_rows, batch.nbytes) for batch in reader]
        response.read()
    return tuple(map(sum, zip(*sizes)))


def over_flight(client):
    sizes = [(chunk.data.num_rows, chunk.data.nbytes) for chunk in client.do_get(flight.Ticket(json.dumps({'table': TABLE, 'now': NOW})))]
    return tuple(map(sum, zip(*sizes)))


def by_tickets():
    table = sluice.read_table(args.url, TABLE, threads=TASKS, splits=TASKS, now=NOW)
    return table.num_rows, table.nbytes


def as_parquet():
    command = ['curl', '-sf', '-o', '/dev/null', '-w', '%{size_download}', f'{ROWS}.parquet?now={NOW}']
    return args.rows, int(subprocess.run(command, check=True, capture_output=True).stdout)


def session():
    spark = (
        SparkSession.builder.master(f'local[{TASKS}]')
        .config('spark.driver.memory', '3g')
        .config('spark.driver.maxResultSize', '3g')
        .config('spark.ui.enabled', 'false')
        .config('spark.ui.showConsoleProgress', 'false')
        .config('spark.sql.shuffle.partitions', str(TASKS))
        .config('spark.log.level', 'ERROR')
        .getOrCreate()
    )
    spark.dataSource.register(SluiceDataSource)
    return spark


def frame(spark, **options):
    reader = spark.read.format('sluice').option('url', args.url).option('table', TABLE).option('splits', str(TASKS)).option('now', str(NOW))
    for name, value in options.items():
        reader = reader.option(name, value)
    return reader.load()


def in_spark(spark):
    frame(spark).write.format('noop').mode('overwrite').save()  # every column of every row into the JVM, and no further
    return args.rows, None


def measure():
    client = flight.connect(args.location)
    spark = session()
    stages = {
        'pyarrow, HTTP': over_http,
        'pyarrow, Flight': lambda: over_flight(client),
        f'pyarrow, HTTP, {TASKS} tickets at once (`sluice.read_table`)': by_tickets,
        'curl, Parquet (zstd)': as_parquet,
        f'Spark, {TASKS} tasks': lambda: in_spark(spark),
    }
    seconds, bytes_of = {name: [] for name in stages}, {}
    for turn in range(-1, args.rounds):  # the first warms up
        for name, act in stages.items():
            begun = time.monotonic()
            rows, bytes_of[name] = act()
            assert rows == args.rows, f'{name}: {rows} rows'
            if turn >= 0:
                seconds[name].append(time.monotonic() - begun)
    spark.stop()
    base = seconds['pyarrow, HTTP']
    print(f'\nnarrow: {args.rows} rows, best and median of {args.rounds} rounds\n')
    print('| client | MB | seconds | M rows/s | MB/s | rate against pyarrow over HTTP (best) | (median) |\n|---|---|---|---|---|---|---|')
    for name, times in seconds.items():
        best, megabytes = min(times), bytes_of[name] and bytes_of[name] / 1e6
        cells = [name, f'{megabytes:.0f}' if megabytes else '', f'{best:.2f}', f'{args.rows / best / 1e6:.2f}', f'{megabytes / best:.0f}' if megabytes else '']
        print('|', ' | '.join([*cells, f'{min(base) / best:.2f}', f'{statistics.median(base) / statistics.median(times):.2f}']), '|')


def compare_digests():
    told = server_digest(args.url, TABLE, now=NOW)
    with urllib.request.urlopen(f'{ROWS}?now={NOW}') as response:
        reader = pa.ipc.open_stream(response)
        schema = reader.schema
        found = digest(reader)
    print(f"server {told['digest']} {told['rows']} rows; pyarrow {found[0]} {found[1]} rows")
    spark = session()
    columns = ','.join(['token', *(field.name for field in schema)])
    table = frame(spark, columns=columns).orderBy('token', 'pk').drop('token').toArrow()
    spark.stop()
    in_order = digest(restored(table, schema).to_batches())
    print(f'Spark, ordered by token and key: {in_order[0]} {in_order[1]} rows')
    assert found == in_order == (told['digest'], told['rows'])


compare_digests() if args.digest else measure()
