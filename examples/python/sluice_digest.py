"""The digest of rows, out of their Arrow stream: what GET .../digest and `sluice digest` answer, computed elsewhere.

    python examples/python/sluice_digest.py --table shop.orders     # asks the server too, and compares
    python examples/python/sluice_digest.py orders.arrows           # a file of `sluice export`

XXH3-128 over all rows in their order, of every column in the order of the schema: i32 length, -1 for null, and the value's bytes as the
CQL protocol has them; of clusterings that are decimals without trailing zeros. Decimals and durations must come in their default types.
An Arrow stream shows an empty value (a zero-length int, say) as null; the server's digest tells them apart, and says how many there are:
with `empty_values` above 0 this one is another. Needs pyarrow and xxhash.
"""
import argparse
import decimal
import ipaddress
import json
import os
import struct
import sys
import urllib.parse
import urllib.request

import pyarrow as pa
import pyarrow.types as t
import xxhash

NULL = struct.pack('>i', -1)


def digest(reader):
    """(hex digest, rows) of a pyarrow.ipc.RecordBatchStreamReader, or anything that has a schema and gives record batches."""
    hashed = xxhash.xxh3_128()
    rows = 0
    for batch in reader:
        columns = [column_parts(field, batch.column(i)) for i, field in enumerate(batch.schema)]
        hashed.update(b''.join(part for row in zip(*columns) for part in row))
        rows += batch.num_rows
    return hashed.hexdigest(), rows


def column_parts(field, array):
    parts = values(field, array)
    about = field.metadata or {}
    if about.get(b'cql.type') == b'decimal' and about.get(b'cql.kind') == b'clustering':
        parts = [part and shortest(part) for part in parts]
    return [sized(part) for part in parts]


def sized(value):
    return NULL if value is None else struct.pack('>i', len(value)) + value


def values(field, array):
    """The values of an array in wire form, None for null."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return array.storage.to_pylist()  # uuid
    if t.is_null(kind):
        return [None] * len(array)
    if t.is_boolean(kind):
        return [v if v is None else b'\1' if v else b'\0' for v in array.to_pylist()]
    if t.is_string(kind):
        encode = TEXTS.get((field.metadata or {}).get(b'cql.type'), str.encode)
        return [v if v is None else encode(v) for v in array.to_pylist()]
    if t.is_binary(kind):
        return array.to_pylist()
    if t.is_date32(kind):
        return [v if v is None else struct.pack('>I', v + 2**31) for v in array.view(pa.int32()).to_pylist()]
    if t.is_interval(kind):
        return [v if v is None else vint(v.months) + vint(v.days) + vint(v.nanoseconds) for v in array.to_pylist()]
    if t.is_struct(kind):
        children = [[sized(v) for v in values(kind.field(i), array.field(i))] for i in range(kind.num_fields)]
        return [b''.join(child[i] for child in children) if ok else None for i, ok in enumerate(array.is_valid().to_pylist())]
    if t.is_map(kind):
        keys, items = values(kind.key_field, array.keys), values(kind.item_field, array.items)
        pairs = [sized(key) + sized(item) for key, item in zip(keys, items)]
        return collections(array, pairs)
    if t.is_fixed_size_list(kind):
        return vectors(array, kind)
    if t.is_list(kind):
        return collections(array, [sized(v) for v in values(kind.value_field, array.values)])
    width = kind.bit_width // 8  # integers, floats, times and timestamps: their bits, turned around
    bits = array.view(getattr(pa, f'int{kind.bit_width}')())
    return [v if v is None else v.to_bytes(width, 'big', signed=True) for v in bits.to_pylist()]


def collections(array, parts):
    at = array.offsets.to_pylist()
    return [
        struct.pack('>i', at[i + 1] - at[i]) + b''.join(parts[at[i]:at[i + 1]]) if ok else None
        for i, ok in enumerate(array.is_valid().to_pylist())
    ]


def vectors(array, kind):
    """Elements of one length stand side by side; others have their length before them (AbstractType.valueLengthIfFixed)."""
    size, start, parts = kind.list_size, array.offset, values(kind.value_field, array.values)
    if not is_fixed(kind.value_type):
        parts = [v if v is None else unsigned_vint(len(v)) + v for v in parts]
    return [
        b''.join(parts[(start + i) * size:(start + i + 1) * size]) if ok else None
        for i, ok in enumerate(array.is_valid().to_pylist())
    ]


def is_fixed(kind):
    if t.is_fixed_size_list(kind):
        return is_fixed(kind.value_type)
    return isinstance(kind, pa.BaseExtensionType) or any(
        is_kind(kind) for is_kind in (t.is_boolean, t.is_int32, t.is_int64, t.is_floating, t.is_timestamp)
    )


# --- What is text in Arrow but not in CQL

def varint(value):
    """Two's complement in as few bytes as hold it."""
    return value.to_bytes((value + (value < 0)).bit_length() // 8 + 1, 'big', signed=True)


def decimal_bytes(text):
    sign, digits, exponent = decimal.Decimal(text).as_tuple()
    unscaled = int(''.join(map(str, digits)))
    return struct.pack('>i', -exponent) + varint(-unscaled if sign else unscaled)


TEXTS = {
    b'decimal': decimal_bytes,
    b'varint': lambda text: varint(int(text)),
    b'inet': lambda text: ipaddress.ip_address(text).packed,
}


def shortest(data):
    """1.50 as 1.5: they are one clustering."""
    scale, value = struct.unpack('>i', data[:4])[0], int.from_bytes(data[4:], 'big', signed=True)
    if value == 0:
        scale = 0
    while value and value % 10 == 0:
        value, scale = value // 10, scale - 1
    return struct.pack('>i', scale) + varint(value)


# --- o.a.c.utils.vint.VIntCoding

def vint(value):
    return unsigned_vint((value << 1 ^ value >> 63) & 2**64 - 1)


def unsigned_vint(value):
    size = 9 if value.bit_length() > 56 else max(1, -(-value.bit_length() // 7))
    if size == 9:
        return b'\xff' + value.to_bytes(8, 'big')
    return (value | (0xff00 >> size - 1 & 0xff) << 8 * (size - 1)).to_bytes(size, 'big')


def ask(url, **parameters):
    given = {name: value for name, value in parameters.items() if value is not None}
    token = os.environ.get('SLUICE_TOKEN')
    headers = {'Authorization': f'Bearer {token}'} if token else {}
    return urllib.request.urlopen(urllib.request.Request(f'{url}?{urllib.parse.urlencode(given)}', headers=headers))


def main():
    parser = argparse.ArgumentParser(description='Computes the digest of rows from their Arrow stream.')
    parser.add_argument('file', nargs='?', help='an Arrow stream; without it the server is asked')
    parser.add_argument('--url', default='http://127.0.0.1:9180')
    parser.add_argument('--table', default='shop.orders')
    parser.add_argument('--columns')
    parser.add_argument('--where')
    args = parser.parse_args()
    if args.file:
        with pa.ipc.open_stream(args.file) as reader:
            print('%s  %d rows' % digest(reader))
        return
    keyspace, table = args.table.split('.')
    base = f'{args.url}/v1/keyspaces/{keyspace}/tables/{table}'
    with ask(f'{base}/digest', columns=args.columns, where=args.where) as response:
        answer = json.load(response)
    with ask(f'{base}/rows.arrows', columns=args.columns, where=args.where, now=answer['now']) as response:
        found, rows = digest(pa.ipc.open_stream(response))
    print(f'{found}  {rows} rows')
    if found != answer['digest']:
        empty = answer['empty_values']
        sys.exit(f"the server says {answer['digest']}" + (f'; it tells {empty} empty values from null' if empty else ''))


if __name__ == '__main__':
    main()
