"""What Cassandra answered of golden tables, and comparison with what a client read. Descriptions come from golden-types.ts."""
import json
import struct

from arrow_values import plain
from cql_values import decode


def load(path):
    with open(path, encoding='utf-8') as file:
        about = json.load(file)
    for table in about['tables'].values():
        with open(table.get('raw') or table['rows'], encoding='utf-8') as lines:
            rows = [json.loads(line) for line in lines]
        kinds = [column['type'] for column in table['columns']]
        of = wire_value if 'raw' in table else json_value
        table['expected'] = {
            column['name']: [of(kind, row.get(column['name'])) for row in rows] for column, kind in zip(table['columns'], kinds)
        }
        table['count'] = len(rows)
    return about


def wire_value(kind, text):
    return decode(kind, None if text is None else bytes.fromhex(text))


def json_value(kind, value):
    """Of the plain types that tables without wire bytes are made of."""
    if value is None:
        return None
    if kind['kind'] in ('int', 'text', 'ascii'):
        return value
    if kind['kind'] in ('bigint', 'counter'):
        return str(value)
    if kind['kind'] == 'double':
        return struct.pack('>d', value).hex()
    raise ValueError(kind)


def difference(table, found, leave_out=()):
    """None, or what is not equal. found: a pyarrow.Table that a client made of the rows."""
    if found.num_rows != table['count']:
        return f"{found.num_rows} rows in place of {table['count']}"
    names = [column['name'] for column in table['columns'] if column['name'] not in leave_out]
    if found.column_names != names:
        return f'columns {found.column_names}'
    for column in table['columns']:
        name, kind = column['name'], column['type']
        if name in leave_out:
            continue
        values = [canonical(kind, value) for chunk in found.column(name).chunks for value in plain(chunk)]
        wanted = table['expected'][name]
        if values != wanted:
            row = next(i for i, pair in enumerate(zip(values, wanted)) if pair[0] != pair[1])
            return f'{name} in row {row}: {values[row]!r} in place of {wanted[row]!r}'
    return None


def canonical(kind, value):
    """A tool may give a UUID as its text."""
    name = kind['kind']
    if value is None:
        return None
    if name in ('uuid', 'timeuuid'):
        return value.replace('-', '')
    if name in ('list', 'set', 'vector'):
        return [canonical(kind['element'], part) for part in value]
    if name == 'map':
        return [[canonical(kind['key'], k), canonical(kind['value'], v)] for k, v in value]
    if name in ('tuple', 'udt'):
        return [canonical(inner, part) for inner, part in zip(kind['fields'], value)]
    return value
