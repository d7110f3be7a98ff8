"""CQL values in wire form (native_protocol_v5.spec, section 6) as the plain values of arrow_values.py. Types are CqlType records as JSON."""
import decimal
import ipaddress
import struct

# A zero-length value of these is an ordinary value; of all others it is null in Arrow.
ZERO_LENGTH = {'text', 'ascii', 'blob', 'custom'}
# Vector elements of these types have no length before them (AbstractType.valueLengthIfFixed).
FIXED = {'boolean': 1, 'int': 4, 'float': 4, 'bigint': 8, 'double': 8, 'timestamp': 8, 'uuid': 16, 'timeuuid': 16}


class Inet:
    """Equal to any text of the same address."""

    def __init__(self, packed):
        self.address = ipaddress.ip_address(packed)

    def __eq__(self, other):
        return isinstance(other, str) and ipaddress.ip_address(other) == self.address

    def __repr__(self):
        return f'inet {self.address}'


def decode(kind, data):
    """data: bytes, or None for null."""
    name = kind['kind']
    if data is None or (not data and name not in ZERO_LENGTH):
        return None
    if name in ('text', 'ascii'):
        return data.decode('utf-8')
    if name in ('blob', 'custom', 'uuid', 'timeuuid'):
        return data.hex()
    if name == 'boolean':
        return data != b'\0'
    if name in ('tinyint', 'smallint', 'int'):
        return int.from_bytes(data, 'big', signed=True)
    if name in ('bigint', 'counter', 'timestamp', 'time'):
        return str(int.from_bytes(data, 'big', signed=True))
    if name == 'date':
        return int.from_bytes(data, 'big') - 2**31
    if name in ('float', 'double'):
        value = struct.unpack('>f' if name == 'float' else '>d', data)[0]
        return 'nan' if value != value else data.hex()
    if name == 'varint':
        return str(int.from_bytes(data, 'big', signed=True))
    if name == 'decimal':
        return decimal_text(data)
    if name == 'inet':
        return Inet(data)
    if name == 'duration':
        return duration(data)
    if name in ('list', 'set'):
        count, at = int.from_bytes(data[:4], 'big'), 4
        return [decode(kind['element'], part) for part in parts(data, at, count)]
    if name == 'map':
        found = list(parts(data, 4, 2 * int.from_bytes(data[:4], 'big')))
        return [[decode(kind['key'], k), decode(kind['value'], v)] for k, v in zip(found[::2], found[1::2])]
    if name in ('tuple', 'udt'):
        found = list(parts(data, 0, len(kind['fields'])))
        found += [None] * (len(kind['fields']) - len(found))
        return [decode(inner, part) for inner, part in zip(kind['fields'], found)]
    if name == 'vector':
        return vector(kind, data)
    raise ValueError(name)


def parts(data, at, count):
    """count values of i32 length and bytes; fewer where the data ends."""
    for _ in range(count):
        if at == len(data):
            return
        size = int.from_bytes(data[at:at + 4], 'big', signed=True)
        at += 4
        if size < 0:
            yield None
        else:
            yield data[at:at + size]
            at += size
    assert at == len(data)


def decimal_text(data):
    """BigDecimal.toString and Python's str have one algorithm: General Decimal Arithmetic's to-scientific-string."""
    scale = int.from_bytes(data[:4], 'big', signed=True)
    unscaled = int.from_bytes(data[4:], 'big', signed=True)
    digits = tuple(map(int, str(abs(unscaled))))
    return str(decimal.Decimal((int(unscaled < 0), digits, -scale)))


def uvint(data, at):
    """Cassandra's unsigned vint: the leading ones of the first byte count the bytes that follow."""
    first = data[at]
    extra = 0
    while extra < 8 and first & (0x80 >> extra):
        extra += 1
    value = first & (0xff >> (extra + 1)) if extra < 8 else 0
    for byte in data[at + 1:at + 1 + extra]:
        value = value << 8 | byte
    return value, at + 1 + extra


def duration(data):
    values, at = [], 0
    for _ in range(3):
        raw, at = uvint(data, at)
        values.append(raw >> 1 if raw & 1 == 0 else -(raw >> 1) - 1)
    return [values[0], values[1], str(values[2])]


def fixed_length(kind):
    if kind['kind'] == 'vector':
        inner = fixed_length(kind['element'])
        return inner and inner * kind['dimension']
    return FIXED.get(kind['kind'])


def vector(kind, data):
    size, at, found = fixed_length(kind['element']), 0, []
    for _ in range(kind['dimension']):
        length, at = (size, at) if size else uvint(data, at)
        found.append(decode(kind['element'], data[at:at + length]))
        at += length
    assert at == len(data)
    return found
