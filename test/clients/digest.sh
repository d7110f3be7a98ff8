#!/usr/bin/env bash
# Digests of golden tables, computed by Sluice and by the Python reference from Arrow streams.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
python=$(bash "$here/../oracle/venv.sh" python "$here/requirements-python.txt")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
node --import tsx "$here/digest-cases.ts" "$out"
"$python" "$here/digest_check.py" "$out"
