"""The Spark data source against what Cassandra answered: values, digests, counts, sums, conditions, a killed task.

    python spark_clients.py FOLDER SAMPLE_URL TOKEN_URL TOKEN [SET URL SET.json]...
"""
import datetime
import decimal
import json
import os
import pathlib
import sys

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import golden_tables
import sluice
from restored import digest_problem, in_milliseconds
from sluice_datasource import PushingReader, SluiceDataSource, SluiceReader, Source

FOLDER, SAMPLE, LOCKED, TOKEN, *rest = sys.argv[1:]
SETS = list(zip(rest[::3], rest[1::3], rest[2::3]))


class DyingReader(SluiceReader):
    """Kills the whole worker process, once, in the middle of a partition."""

    def read(self, partition):
        marker = pathlib.Path(FOLDER) / 'killed'
        for number, batch in enumerate(super().read(partition)):
            yield batch
            if number == 1:
                try:
                    marker.touch(exist_ok=False)
                except FileExistsError:
                    continue
                os._exit(9)


class DyingDataSource(SluiceDataSource):
    @classmethod
    def name(cls):
        return 'dying'

    def reader(self, schema):
        return DyingReader(Source(self.options))


def session():
    spark = (
        SparkSession.builder.master('local[2,3]')  # two at once, three tries
        .config('spark.driver.memory', '1g')
        .config('spark.ui.enabled', 'false')
        .config('spark.sql.shuffle.partitions', '2')
        .config('spark.sql.session.timeZone', 'UTC')
        .config('spark.sql.python.filterPushdown.enabled', 'true')
        .config('spark.ui.showConsoleProgress', 'false')
        .config('spark.sql.adaptive.enabled', 'false')
        .config('spark.log.level', 'OFF')  # tasks fail on purpose; what is not to fail raises here
        .getOrCreate()
    )
    spark.dataSource.register(SluiceDataSource)
    spark.dataSource.register(DyingDataSource)
    return spark


def read(spark, url, table, source='sluice', **options):
    reader = spark.read.format(source).option('url', url).option('table', table)
    for name, value in options.items():
        reader = reader.option(name, value)
    return reader.load()


def check_golden(spark, name_of_set, url, about):
    """Read in three parts and put in the order of the rows by Spark: values and digest."""
    failed = 0
    for name, table in about['tables'].items():
        # Years beyond 294246, which Spark's timestamp does not reach.
        options = {'timestamp': 'long'} if name == 'golden.types_scalar' else {}
        try:
            schema = arrow_schema(url, name)
            columns = ','.join(['token', *(quoted(field.name) for field in schema)])
            rows = read(spark, url, name, now=about['now'], splits='3', columns=columns, **options)
            found = rows.orderBy(*row_order(schema)).drop('token').toArrow()
            problem = golden_tables.difference(table, in_milliseconds(found)) or digest_problem(url, name, found, schema, about['now'])
        except Exception as error:  # every table is tried, each failure named
            problem = f'{type(error).__name__}: {error}'
        if problem is not None:
            failed += 1
            print(f'{name_of_set}, Spark, {name}: {problem[:1500]}', file=sys.stderr)
    print(f"{name_of_set}: {len(about['tables']) - failed} of {len(about['tables'])} tables equal in Spark, values and digests")
    return failed == 0


def check_timestamps(spark, url, about):
    try:
        read(spark, url, 'golden.types_scalar', now=about['now']).select('c_timestamp').toArrow()
    except Exception as error:
        assert "read it with .option('timestamp', 'long')" in str(error), error
        return
    raise AssertionError('timestamps beyond the range are to be refused')


def arrow_schema(url, name):
    keyspace, table = name.split('.')
    with sluice.request(f'{url}/v1/keyspaces/{keyspace}/tables/{table}/rows?limit=0') as response:
        return pa.ipc.open_stream(response).schema


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def row_order(schema):
    """Token, key, clustering."""
    about = {field.name: field.metadata for field in schema}
    order = [F.col('token')]
    for kind in (b'partition_key', b'clustering'):
        columns = [name for name, metadata in about.items() if metadata[b'cql.kind'] == kind]
        for name in sorted(columns, key=lambda name: int(about[name][b'cql.position'])):
            column = F.col('`' + name.replace('`', '``') + '`')
            order.append(column.desc() if about[name].get(b'cql.order') == b'desc' else column.asc())
    return order


def check_sample(spark):
    source = sluice.read_table(SAMPLE, 'shop.orders', decimal='decimal128:2', splits=3)
    totals = source.column('total').to_pylist()
    wanted = {'rows': source.num_rows, 'total': sum(value for value in totals if value is not None)}
    wanted['ids'] = sorted(str(value) for value in source.column('order_id').to_pylist())

    def summary(frame):
        row = frame.agg(F.count('*'), F.sum('total')).first()
        ids = sorted(str(row[0]) for row in frame.select('order_id').collect())
        return {'rows': row[0], 'total': decimal.Decimal(row[1]), 'ids': ids}

    orders = read(spark, SAMPLE, 'shop.orders', decimal='decimal128:2', splits='4')
    assert orders.rdd.getNumPartitions() == 4
    assert summary(orders) == wanted
    print(f"shop.orders in 4 tickets: {wanted['rows']} rows, sum {wanted['total']}, equal")

    dying = read(spark, SAMPLE, 'shop.orders', 'dying', decimal='decimal128:2', splits='4', batch_rows='50')
    assert summary(dying) == wanted
    assert (pathlib.Path(FOLDER) / 'killed').exists(), 'no task was killed'
    print('shop.orders: equal with a task killed midway')

    with sluice.Export(SAMPLE, 'shop.orders', decimal='decimal128:2', duration='struct', splits=2) as export:
        frame = read(spark, SAMPLE, 'shop.orders', export=export.id)
        assert summary(frame) == wanted and frame.rdd.getNumPartitions() == 2

    check_conditions(spark, source)


def check_uuids(spark):
    """As text or as bytes."""
    texts = [row[0] for row in read(spark, SAMPLE, 'shop.orders', columns='order_id', splits='1').collect()]
    octets = [row[0] for row in read(spark, SAMPLE, 'shop.orders', columns='order_id', splits='1', uuid='binary').collect()]
    assert [text and text.replace('-', '') for text in texts] == [value and bytes(value).hex() for value in octets] and len(texts) > 2000
    print('shop.orders: uuid as text and as bytes')


def check_renewal(spark):
    """Tasks put the end of the export off."""
    read(spark, SAMPLE, 'shop.orders', columns='items', splits='2', ttl='900').collect()
    with sluice.request(f'{SAMPLE}/v1/exports') as response:
        made = next(export for export in json.load(response)['exports'] if export['parameters'].get('ttl') == '900')
    created, expires = (datetime.datetime.fromisoformat(made[name]) for name in ('created', 'expires'))
    assert expires - created > datetime.timedelta(seconds=900), made
    print('shop.orders: exports are renewed as tasks begin')


def check_token(spark):
    frame = read(spark, LOCKED, 'shop.orders', columns='items', splits='2', token=TOKEN)
    assert frame.count() > 2000
    try:
        read(spark, LOCKED, 'shop.orders')
    except Exception as error:
        assert 'UNAUTHORIZED' in str(error), error
    else:
        raise AssertionError('UNAUTHORIZED expected')
    print('shop.orders: read with a token, and refused without')


def check_conditions(spark, source):
    """Pushed to the server, and as Spark understands them."""
    orders = read(spark, SAMPLE, 'shop.orders', splits='2', pushdown='true')
    rows = source.to_pylist()
    some = next(row for row in rows if row['order_time'] is not None)
    customer = some['customer_id']
    cases = [
        (F.col('customer_id') == customer, lambda row: row['customer_id'] == customer),
        (F.col('customer_id').isin(customer, 5), lambda row: row['customer_id'] in (customer, 5)),
        ((F.col('items') >= 3) & (F.col('express')), lambda row: row['items'] is not None and row['items'] >= 3 and row['express']),
        (F.col('status') != 'new', lambda row: row['status'] is not None and row['status'] != 'new'),
        (F.col('currency') == "E'UR", lambda row: row['currency'] == "E'UR"),
        (
            F.col('order_time') >= F.lit(some['order_time']),
            lambda row: row['order_time'] is not None and row['order_time'] >= some['order_time'],
        ),
        (F.col('order_id') == str(some['order_id']), lambda row: row['order_id'] == some['order_id']),
    ]
    for condition, expected in cases:
        found = orders.where(condition).count()
        wanted = sum(1 for row in rows if expected(row))
        assert found == wanted, f'{condition}: {found} rows in place of {wanted}'
    spark.conf.set('spark.sql.python.filterPushdown.enabled', 'false')
    assert read(spark, SAMPLE, 'shop.orders').where(F.col('customer_id') == customer).count() == sum(1 for row in rows if row['customer_id'] == customer)
    relations = pushed(orders_filters(customer))
    assert relations == [f'"customer_id" = {customer}', '"currency" = \'E\'\'UR\''], relations
    print(f'shop.orders: {len(cases)} conditions equal')


def orders_filters(customer):
    from pyspark.sql.datasource import EqualTo, Not

    return [EqualTo(('customer_id',), customer), EqualTo(('currency',), "E'UR"), Not(EqualTo(('status',), 'new'))]


def pushed(filters):
    reader = PushingReader(Source({'url': SAMPLE, 'table': 'shop.orders'}))
    assert list(reader.pushFilters(filters)) == filters
    return reader.conditions


def main():
    spark = session()
    equal = True
    for name_of_set, url, path in SETS:
        about = golden_tables.load(path)
        equal &= check_golden(spark, name_of_set, url, about)
        if name_of_set == 'da':
            check_timestamps(spark, url, about)
    check_sample(spark)
    check_uuids(spark)
    check_renewal(spark)
    check_token(spark)
    spark.stop()
    sys.exit(0 if equal else 1)


main()
