"""pyarrow arrays as the plain values that the *-cases.ts scripts write: nothing of to_pylist's roundings and overflows."""
import struct

import pyarrow as pa
import pyarrow.types as t


def arrow_type(field):
    layout = field['layout']
    kind = layout['kind']
    simple = {
        'null': pa.null(), 'bool': pa.bool_(), 'int8': pa.int8(), 'int16': pa.int16(), 'int32': pa.int32(), 'int64': pa.int64(),
        'float32': pa.float32(), 'float64': pa.float64(), 'date32': pa.date32(), 'time64ns': pa.time64('ns'),
        'timestamp_ms': pa.timestamp('ms', tz='UTC'), 'uuid': pa.uuid(), 'interval': pa.month_day_nano_interval(),
        'utf8': pa.utf8(), 'binary': pa.binary(),
    }
    if kind in simple:
        return simple[kind]
    if kind == 'decimal128':
        return pa.decimal128(layout['precision'], layout['scale'])
    if kind == 'decimal256':
        return pa.decimal256(layout['precision'], layout['scale'])
    children = [arrow_field(child) for child in field['children']]
    if kind == 'list':
        return pa.list_(children[0])
    if kind == 'fixed_list':
        return pa.list_(children[0], layout['size'])
    if kind == 'struct':
        return pa.struct(children)
    if kind == 'map':
        key, value = children[0].type
        return pa.map_(key, value)
    raise ValueError(kind)


def arrow_field(field):
    metadata = {k: v for k, v in field['metadata'].items() if not k.startswith('ARROW:')}
    return pa.field(field['name'], arrow_type(field), field['nullable'], metadata or None)


def plain(array):
    """A list of plain values, None for null."""
    kind = array.type
    if isinstance(kind, pa.ExtensionType) or isinstance(kind, pa.BaseExtensionType):
        return plain(array.storage)
    valid = array.is_valid().to_pylist()
    if t.is_boolean(kind) or t.is_int8(kind) or t.is_int16(kind) or t.is_int32(kind) or t.is_null(kind):
        return array.to_pylist()
    if t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind):
        return array.to_pylist()
    if t.is_int64(kind):
        return texts(array)
    if t.is_date32(kind):
        return array.cast(pa.int32()).to_pylist()
    if t.is_time64(kind) or t.is_timestamp(kind):
        return texts(array.cast(pa.int64()))
    if t.is_floating(kind):
        code = '>f' if t.is_float32(kind) else '>d'
        return [v if v is None else 'nan' if v != v else struct.pack(code, v).hex() for v in array.to_pylist()]
    if t.is_binary(kind) or t.is_fixed_size_binary(kind) or t.is_large_binary(kind) or t.is_binary_view(kind):
        return [v if v is None else v.hex() for v in array.to_pylist()]
    if t.is_decimal(kind):
        return [v if v is None else unscaled(v, kind.scale) for v in array.to_pylist()]
    if t.is_interval(kind):
        return [v if v is None else [v.months, v.days, str(v.nanoseconds)] for v in array.to_pylist()]
    if t.is_struct(kind):
        columns = [plain(array.field(i)) for i in range(kind.num_fields)]
        return [[c[i] for c in columns] if ok else None for i, ok in enumerate(valid)]
    if t.is_map(kind):
        keys, items, at = plain(array.keys), plain(array.items), array.offsets.to_pylist()
        pairs = [list(pair) for pair in zip(keys, items)]
        return [pairs[at[i]:at[i + 1]] if ok else None for i, ok in enumerate(valid)]
    if t.is_fixed_size_list(kind):
        size, start, values = kind.list_size, array.offset, plain(array.values)
        return [values[(start + i) * size:(start + i + 1) * size] if ok else None for i, ok in enumerate(valid)]
    if t.is_list(kind) or t.is_large_list(kind):
        values, at = plain(array.values), array.offsets.to_pylist()
        return [values[at[i]:at[i + 1]] if ok else None for i, ok in enumerate(valid)]
    raise ValueError(kind)


def texts(array):
    return [v if v is None else str(v) for v in array.to_pylist()]


def unscaled(value, scale):
    sign, digits, exponent = value.as_tuple()
    number = int(''.join(map(str, digits))) * 10 ** (exponent + scale)
    return str(-number if sign else number)
