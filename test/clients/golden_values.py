"""Holds what golden-export.ts wrote, read by pyarrow, against the wire bytes that real Cassandra nodes answered.

    python golden_values.py OUT
"""
import json
import pathlib
import sys

import pyarrow as pa
import pyarrow.parquet as pq

from arrow_values import plain
from cql_values import decode


def difference(table, columns, rows):
    table.validate(full=True)
    if table.num_rows != len(rows):
        return f'{table.num_rows} rows in place of {len(rows)}'
    if table.column_names != [c['name'] for c in columns]:
        return f'columns {table.column_names}'
    for c, column in enumerate(columns):
        found = [value for chunk in table.column(c).chunks for value in plain(chunk)]
        for i, row in enumerate(rows):
            raw = row.get(column['name'])
            wanted = decode(column['type'], None if raw is None else bytes.fromhex(raw))
            if wanted != found[i]:
                return f"{column['name']} in row {i}: {found[i]!r} in place of {wanted!r}"
    return None


def main():
    failed = False
    for folder in sorted(path for path in pathlib.Path(sys.argv[1]).iterdir() if path.is_dir()):
        for suffix in ('arrows', 'parquet'):
            files = sorted(folder.glob(f'*.{suffix}'))
            equal = 0
            for file in files:
                table = pa.ipc.open_stream(file.read_bytes()).read_all() if suffix == 'arrows' else pq.read_table(file)
                about = json.loads(file.with_suffix('.json').read_text())
                with open(about['raw'], encoding='utf-8') as lines:
                    rows = [json.loads(line) for line in lines]
                found = difference(table, about['columns'], rows)
                equal += found is None
                if found is not None:
                    print(f'{folder.name} {file.name}: {found[:500]}', file=sys.stderr)
            if files:
                print(f'{folder.name}: {equal} of {len(files)} tables equal in {suffix}')
            failed |= equal < len(files) or (suffix == 'arrows' and not files)
    sys.exit(1 if failed else 0)


main()
