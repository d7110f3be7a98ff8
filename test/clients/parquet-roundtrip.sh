#!/usr/bin/env bash
# Parquet files of random batches, read back by pyarrow.    parquet-roundtrip.sh [SEED] [CASES]
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
python=$(bash "$here/../oracle/venv.sh" python "$here/requirements-python.txt")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
node --import tsx "$here/parquet-cases.ts" "$out" "${1:-1}" "${2:-20}"
"$python" "$here/parquet_roundtrip.py" "$out"
