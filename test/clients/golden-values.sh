#!/usr/bin/env bash
# The golden tables as Arrow and Parquet, read by pyarrow, against the wire bytes that real Cassandra nodes answered.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
python=$(bash "$here/../oracle/venv.sh" python "$here/requirements-python.txt")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
node --import tsx "$here/golden-export.ts" "$out"
"$python" "$here/golden_values.py" "$out"
