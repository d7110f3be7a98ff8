"""Reads what arrow-cases.ts wrote with pyarrow: schema, metadata, positions and every value equal, validate(full=True).

    python arrow_roundtrip.py OUT
"""
import json
import pathlib
import sys

import pyarrow as pa

from arrow_values import arrow_field, plain


def read(path):
    """Schema, batches, their custom metadata; a file memory-mapped, as a user would."""
    if path.suffix == '.arrow':
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
        pairs = [reader.get_batch_with_custom_metadata(i) for i in range(reader.num_record_batches)]
    else:
        reader = pa.ipc.open_stream(path.read_bytes())
        pairs = list(reader.iter_batches_with_custom_metadata())
    return reader.schema, pairs


def check(case, folder):
    schema, pairs = read(folder / case['file'])
    expected = pa.schema([arrow_field(f) for f in case['fields']], case['metadata'])
    assert schema.equals(expected, check_metadata=True), f'{schema}\n--- expected\n{expected}'
    assert [pair.batch.num_rows for pair in pairs] == case['sizes']
    for i, pair in enumerate(pairs):
        assert pair.custom_metadata == {b'sluice.position': b'position %d' % i}, pair.custom_metadata
        pair.batch.validate(full=True)
        if case['file'].endswith('.arrow') and case['compression'] == 'none':  # pages are aligned, so the buffers in them are
            for column in pair.batch.columns:
                assert all(buffer is None or buffer.address % 64 == 0 for buffer in column.buffers())
    for c, wanted in enumerate(case['columns']):
        found = [value for pair in pairs for value in plain(pair.batch.column(c))]
        if found != wanted:
            row = next(i for i, (a, b) in enumerate(zip(found, wanted)) if a != b)
            raise AssertionError(f"{case['fields'][c]} row {row}: {found[row]!r} in place of {wanted[row]!r}")
    return sum(case['sizes'])


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
    print(f'pyarrow {pa.__version__}: {len(cases) - failed} of {len(cases)} Arrow cases equal, {rows} rows')
    sys.exit(1 if failed or not cases else 0)


main()
