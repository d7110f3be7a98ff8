"""Spark reads a Sluice table in parallel: a Python data source for Spark 4.

    spark.dataSource.register(SluiceDataSource)
    orders = spark.read.format('sluice').option('url', 'http://127.0.0.1:9180').option('table', 'shop.orders').load()

One partition for each ticket of an export: all tasks, the repeated and the speculative too, read the same rows. A task whose
connection breaks goes on behind the last batch that it got. Record batches go to Spark as they come, without a Python object a row.

Options: url, table; columns, where, start, end, now, since, until, distinct, decimal, splits, target_bytes, ttl, batch_rows, batch_bytes as
the server's; and
  token       where the server asks for one; else SLUICE_TOKEN in the environment of the driver
  export      id of an export made before (POST /v1/exports): several actions over the same rows
  uuid        text (the default) or binary
  timestamp   timestamp (the default; Spark's ends in the year 294247) or long (milliseconds)
  pushdown    true: the server evaluates conditions on plain columns. Needs spark.sql.python.filterPushdown.enabled=true: without it
              Spark refuses a source that would take conditions, which is why false is the default

Needs examples/python/sluice.py beside it: --py-files examples/python/sluice.py,examples/spark/sluice_datasource.py
"""
import base64
import datetime
import http.client
import json
import os

import numpy
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)
from pyspark.sql.pandas.types import from_arrow_schema

import sluice

SERVER_OPTIONS = (
    'columns', 'where', 'start', 'end', 'now', 'since', 'until', 'distinct', 'decimal', 'splits', 'target_bytes', 'ttl', 'batch_rows',
    'batch_bytes',
)
OWN_OPTIONS = ('url', 'table', 'export', 'token', 'uuid', 'timestamp', 'pushdown', 'path')


class SluiceDataSource(DataSource):
    @classmethod
    def name(cls):
        return 'sluice'

    def schema(self):
        source = Source(self.options)
        return from_arrow_schema(pa.schema([spark_field(field, source) for field in source.arrow_schema()]))

    def reader(self, schema):
        source = Source(self.options)
        return PushingReader(source) if source.pushdown else SluiceReader(source)


class Source:
    """The options, checked."""

    def __init__(self, options):
        options = {name.lower(): value for name, value in options.items()}
        unknown = sorted(set(options) - set(SERVER_OPTIONS) - set(OWN_OPTIONS))
        if unknown:
            raise ValueError(f'unknown options: {", ".join(unknown)}')
        self.url = options['url'].rstrip('/')
        self.export = options.get('export')
        self.table = options.get('table') or options.get('path')
        if self.export is None and self.table is None:
            raise ValueError('option table: KEYSPACE.TABLE')
        self.token = options.get('token') or os.environ.get('SLUICE_TOKEN')
        self.uuid_as_text = choice(options, 'uuid', ('text', 'binary')) == 'text'
        self.pushdown = choice(options, 'pushdown', ('false', 'true')) == 'true'
        self.timestamp_as_long = choice(options, 'timestamp', ('timestamp', 'long')) == 'long'
        # Spark has no interval of months, days and nanoseconds together.
        self.parameters = {'duration': 'struct', **{name: options[name] for name in SERVER_OPTIONS if name in options}}

    def arrow_schema(self):
        if self.export is not None:
            return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(self.description()['schema']['arrow'])))
        keyspace, table = sluice.parse_table_name(self.table)
        wanted = {name: self.parameters[name] for name in ('columns', 'decimal', 'duration', 'distinct') if name in self.parameters}
        address = f'{self.url}/v1/keyspaces/{sluice.quote(keyspace)}/tables/{sluice.quote(table)}/rows'
        with self.request(f'{address}?{sluice.query(limit=0, **wanted)}') as response:
            return pa.ipc.open_stream(response).schema

    def description(self):
        with self.request(f'{self.url}/v1/exports/{self.export}') as response:
            return json.load(response)

    def request(self, url, method='GET'):
        return sluice.request(url, method, token=self.token)


def choice(options, name, values):
    value = options.get(name, values[0])
    if value not in values:
        raise ValueError(f'option {name}: {" or ".join(values)}, not {value}')
    return value


class Ticket(InputPartition):
    """value: the id of the export, and the ticket."""


class SluiceReader(DataSourceReader):
    def __init__(self, source):
        self.source = source
        self.conditions = []

    def partitions(self):
        if self.source.export is not None:
            export = self.source.export
            endpoints = self.source.description()['endpoints']
        else:
            parameters = dict(self.source.parameters)
            conditions = [parameters['where']] if parameters.get('where') else []
            if conditions or self.conditions:
                parameters['where'] = ' AND '.join(conditions + self.conditions)
            # It is not closed: Spark does not tell when the last task has ended. It expires on the server, `ttl` after the last task began.
            made = sluice.Export(self.source.url, self.source.table, self.source.token, **parameters)
            export, endpoints = made.id, made.endpoints
        return [Ticket((export, endpoint['ticket'])) for endpoint in endpoints]

    def read(self, partition):
        export, ticket = partition.value
        self.renew(export)
        for batch, _ in sluice.ticket_batches(self.source.url, ticket, token=self.source.token):
            yield spark_batch(batch, self.source)

    def renew(self, export):
        try:
            self.source.request(f'{self.source.url}/v1/exports/{export}/renew', 'POST').close()
        except (OSError, http.client.HTTPException):
            pass  # the next task may do it; reading a ticket is tried again by itself


class PushingReader(SluiceReader):
    def pushFilters(self, filters):
        cql_types = {field.name: (field.metadata or {}).get(b'cql.type', b'').decode() for field in self.source.arrow_schema()}
        for condition in filters:
            relation = cql_relation(condition, cql_types)
            if relation is not None and self.source.export is None:
                self.conditions.append(relation)
            # Spark evaluates all of them again, over what is left: zero-length values are null to it, and smallest to CQL.
            yield condition


# Values: what Spark's Arrow reader takes.


def spark_field(field, source, name=None):
    return pa.field(name or field.name, spark_type(field.type, source), field.nullable)


def spark_type(kind, source):
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_fixed_size_binary(kind):
        return pa.string() if source.uuid_as_text else pa.binary()
    if pa.types.is_timestamp(kind):
        return pa.int64() if source.timestamp_as_long else pa.timestamp('us', 'UTC')
    if pa.types.is_time64(kind):
        return pa.int64()  # nanoseconds since midnight
    if pa.types.is_map(kind):
        return pa.map_(spark_type(kind.key_type, source), spark_field(kind.item_field, source))
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        return pa.list_(spark_field(kind.value_field, source, 'element'))  # Spark's name
    if pa.types.is_struct(kind):
        return pa.struct([spark_field(field, source) for field in kind])
    return kind


def spark_batch(batch, source):
    schema = pa.schema([spark_field(field, source) for field in batch.schema])
    return pa.RecordBatch.from_arrays([spark_array(column, source) for column in batch.columns], schema=schema)


def spark_array(array, source):
    wanted = spark_type(array.type, source)
    if wanted == array.type:
        return array
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    kind = array.type
    if pa.types.is_fixed_size_binary(kind):
        return uuid_texts(array) if source.uuid_as_text else array.cast(pa.binary())
    if pa.types.is_timestamp(kind) and not source.timestamp_as_long:
        try:
            return array.cast(wanted)
        except pa.ArrowInvalid as error:
            raise ValueError(f"a timestamp is beyond Spark's range: read it with .option('timestamp', 'long') ({error})") from None
    nulls = array.is_null() if array.null_count else None
    if pa.types.is_map(kind):
        keys, items = spark_array(array.keys, source), spark_array(array.items, source)
        return pa.MapArray.from_arrays(array.offsets, keys, items, wanted, mask=nulls)
    if pa.types.is_fixed_size_list(kind):
        offsets = pa.array(numpy.arange(len(array) + 1, dtype='int32') * kind.list_size)
        return pa.ListArray.from_arrays(offsets, spark_array(array.values, source), wanted, mask=nulls)
    if pa.types.is_list(kind):
        return pa.ListArray.from_arrays(array.offsets, spark_array(array.values, source), wanted, mask=nulls)
    if pa.types.is_struct(kind):
        fields = [spark_array(array.field(i), source) for i in range(kind.num_fields)]
        return pa.StructArray.from_arrays(fields, fields=list(wanted), mask=nulls)
    return array.cast(wanted)


# Where the 32 hexadecimal digits of a UUID stand in its 36 characters.
DIGITS = numpy.array([i for i in range(36) if i not in (8, 13, 18, 23)])
HEXADECIMAL = numpy.frombuffer(b''.join(b'%02x' % byte for byte in range(256)), dtype='uint8').reshape(256, 2)


def uuid_texts(array):
    """All at once: a Python object for each would cost more than all the rest."""
    count = len(array)
    octets = numpy.frombuffer(array.buffers()[1], dtype='uint8')[16 * array.offset:16 * (array.offset + count)]
    texts = numpy.full((count, 36), ord('-'), dtype='uint8')
    texts[:, DIGITS] = HEXADECIMAL[octets].reshape(count, 32)
    offsets = pa.py_buffer(numpy.arange(count + 1, dtype='int32') * 36)
    strings = pa.StringArray.from_buffers(count, offsets, pa.py_buffer(texts))
    return pc.if_else(array.is_valid(), strings, None) if array.null_count else strings


# Conditions: those that CQL has too become a relation of the server's `where`.

OPERATORS = {EqualTo: '=', GreaterThan: '>', GreaterThanOrEqual: '>=', LessThan: '<', LessThanOrEqual: '<='}
INTEGERS = ('tinyint', 'smallint', 'int', 'bigint')


def cql_relation(condition, cql_types):
    """CQL text, or None where Spark has to evaluate the condition itself."""
    if len(getattr(condition, 'attribute', ())) != 1 or condition.attribute[0] not in cql_types:
        return None
    name = condition.attribute[0]
    kind = cql_types[name]
    column = '"' + name.replace('"', '""') + '"'
    if type(condition) in OPERATORS:
        literal = cql_literal(kind, condition.value)
        return None if literal is None else f'{column} {OPERATORS[type(condition)]} {literal}'
    if type(condition) is In:
        literals = [cql_literal(kind, value) for value in condition.value]
        return None if None in literals else f'{column} IN ({", ".join(literals)})'
    return None


def cql_literal(kind, value):
    # Floating point is left to Spark: to it NaN equals NaN, and -0.0 equals 0.0. So are the texts of uuid, decimal and varint columns,
    # which Spark orders as text.
    if kind in INTEGERS and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if kind == 'boolean' and isinstance(value, bool):
        return 'true' if value else 'false'
    if kind in ('text', 'varchar', 'ascii') and isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if kind == 'date' and isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return f"'{value.isoformat()}'"
    if kind == 'timestamp' and isinstance(value, datetime.datetime) and value.tzinfo is not None and value.microsecond % 1000 == 0:
        return str((value - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(milliseconds=1))
    return None
