#!/usr/bin/env bash
# Arrow streams and files of random batches, read back by pyarrow.    arrow-roundtrip.sh [SEED] [CASES]
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
python=$(bash "$here/../oracle/venv.sh" python "$here/requirements-python.txt")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
node --import tsx "$here/arrow-cases.ts" "$out" "${1:-1}" "${2:-40}"
"$python" "$here/arrow_roundtrip.py" "$out"
