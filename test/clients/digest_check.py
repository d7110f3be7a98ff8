"""The Python reference of digests over what digest-cases.ts wrote: equal, but where there are empty values.

    python digest_check.py OUT
"""
import json
import pathlib
import sys

import pyarrow as pa

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / 'examples' / 'python'))
from sluice_digest import digest  # noqa: E402

failed = False
for folder in sorted(path for path in pathlib.Path(sys.argv[1]).iterdir() if path.is_dir()):
    equal, other = set(), set()
    for file in sorted(folder.glob('*.arrows')):
        about = json.loads(file.with_suffix('.json').read_text())
        with pa.ipc.open_stream(file.read_bytes()) as reader:
            found, rows = digest(reader)
        (equal if found == about['digest'] else other).add(file.stem)
        if rows != about['rows'] or (found == about['digest']) == (about['emptyValues'] > 0):
            failed = True
            print(f"{folder.name} {file.stem}: {found} in place of {about['digest']}, {about['emptyValues']} empty values", file=sys.stderr)
    print(f'{folder.name}: {len(equal)} digests equal, {len(other)} of tables with empty values')
    wanted = {f'golden.{name}' for name in ('types_scalar', 'types_nested', 'static_rows', 'counters', 'wide')}
    failed |= not wanted <= equal
sys.exit(1 if failed else 0)
