"""What a tool made of an Arrow stream, back in the types of the stream, so that the digest of what the tool holds can be computed."""
import json
import pathlib
import sys
import urllib.parse
import urllib.request

import pyarrow as pa
import pyarrow.types as t

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / 'examples' / 'python'))
from sluice_digest import digest  # noqa: E402


def server_digest(url, name, **parameters):
    """What the server says: digest, rows, empty_values."""
    keyspace, table = name.split('.')
    query = urllib.parse.urlencode(parameters)
    with urllib.request.urlopen(f'{url}/v1/keyspaces/{keyspace}/tables/{table}/digest?{query}') as response:
        return json.load(response)


def digest_problem(url, name, table, schema, now):
    """None where the digest of the table, in the types of `schema`, is the server's; where empty values came as null it must not be."""
    told = server_digest(url, name, now=now)
    found, rows = digest(restored(table, schema).to_batches())
    if rows != told['rows']:
        return f"digest over {rows} rows in place of {told['rows']}"
    if (found == told['digest']) == (told['empty_values'] > 0):
        return f"digest {found} beside the server's {told['digest']}, {told['empty_values']} empty values"
    return None


def restored(table, schema):
    columns = [restore(column.combine_chunks(), field.type) for column, field in zip(table.columns, schema)]
    return pa.Table.from_arrays(columns, schema=schema)


def restore(array, kind):
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if array.type.equals(kind, check_metadata=True):  # nested fields say of text whether it is inet, decimal or varint
        return array
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, restore(array, kind.storage_type))
    if t.is_fixed_size_binary(kind) and t.is_string(array.type):
        return pa.array([v and bytes.fromhex(v.replace('-', '')) for v in array.to_pylist()], kind)
    if t.is_interval(kind):
        parts = [array.field(i).to_pylist() for i in range(3)]
        return pa.array([pa.MonthDayNano(v) if ok else None for v, ok in zip(zip(*parts), array.is_valid().to_pylist())], kind)
    nulls = array.is_null()
    if t.is_map(kind):
        keys, items = restore(array.keys, kind.key_type), restore(array.items, kind.item_type)
        return pa.MapArray.from_arrays(array.offsets, keys, items, kind, mask=nulls)
    if t.is_fixed_size_list(kind):
        at, size = array.offsets.to_pylist(), kind.list_size
        places = [j for i, null in enumerate(nulls.to_pylist()) for j in ([None] * size if null else range(at[i], at[i + 1]))]
        values = restore(array.values, kind.value_type).take(pa.array(places, pa.int32()))
        return pa.FixedSizeListArray.from_arrays(values, type=kind, mask=nulls)
    if t.is_list(kind):
        return pa.ListArray.from_arrays(array.offsets, restore(array.values, kind.value_type), kind, mask=nulls)
    if t.is_struct(kind):
        return pa.StructArray.from_arrays(
            [restore(array.field(i), field.type) for i, field in enumerate(kind)], fields=list(kind), mask=nulls
        )
    return array.cast(kind)


def in_milliseconds(table):
    """Timestamps as Cassandra has them: Spark and DuckDB's TIMESTAMPTZ count microseconds."""

    def milliseconds(kind):
        if pa.types.is_timestamp(kind):
            return pa.timestamp('ms', 'UTC')
        if pa.types.is_list(kind):
            return pa.list_(milliseconds(kind.value_type))
        return kind

    return table.cast(pa.schema([field.with_type(milliseconds(field.type)) for field in table.schema]))
