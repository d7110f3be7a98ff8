"""Reads what parquet-cases.ts wrote with pyarrow: schema, metadata and every value equal, validate(full=True).

    python parquet_roundtrip.py OUT
"""
import json
import pathlib
import sys

import pyarrow as pa
import pyarrow.parquet as pq

from arrow_values import arrow_field, plain

CODECS = {'none': 'UNCOMPRESSED', 'lz4': 'LZ4', 'zstd': 'ZSTD'}


def check(case, folder):
    file = pq.ParquetFile(folder / case['file'])
    expected = pa.schema([arrow_field(f) for f in case['fields']], case['metadata'])
    # Without names of map entries, which pyarrow makes up when it reads Parquet.
    assert file.schema_arrow.equals(expected), f'{file.schema_arrow}\n--- expected\n{expected}'
    for found, wanted in zip(file.schema_arrow, expected):
        assert (found.metadata or None) == wanted.metadata, f'{wanted.name}: {found.metadata}'
    for key, value in case['metadata'].items():
        assert file.metadata.metadata[key.encode()] == value.encode()
    for group in range(file.metadata.num_row_groups):
        for c in range(file.metadata.num_columns):
            assert file.metadata.row_group(group).column(c).compression == CODECS[case['compression']]
    table = file.read()
    table.validate(full=True)
    assert table.num_rows == file.metadata.num_rows == sum(case['sizes'])
    for c, wanted in enumerate(case['columns']):
        found = [value for chunk in table.column(c).chunks for value in plain(chunk)]
        if found != wanted:
            row = next(i for i, (a, b) in enumerate(zip(found, wanted)) if a != b)
            raise AssertionError(f"{case['fields'][c]} row {row}: {found[row]!r} in place of {wanted[row]!r}")
    return table.num_rows


def main():
    folder = pathlib.Path(sys.argv[1])
    cases = sorted(folder.glob('case*.json'))
    rows, failed = 0, 0
    for path in cases:
        try:
            rows += check(json.loads(path.read_text()), folder)
        except Exception as error:  # every case is tried, each failure named
            failed += 1
            print(f'{path.name}: {type(error).__name__}: {str(error)[:2000]}', file=sys.stderr)
    print(f'pyarrow {pa.__version__}: {len(cases) - failed} of {len(cases)} Parquet cases equal, {rows} rows')
    sys.exit(1 if failed or not cases else 0)


main()
