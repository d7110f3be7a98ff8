#!/usr/bin/env bash
# Golden tables over HTTP in pyarrow, pandas, Polars, DuckDB and ClickHouse, against what real Cassandra nodes answered; and sluice.py.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source test/clients/serving.bash
export RUST_BACKTRACE=0
python=$(bash test/oracle/venv.sh python test/clients/requirements-python.txt)
tables=(golden.types_scalar golden.types_nested golden.types_empty golden.static_rows golden.counters golden.wide)

start_samples
for set in da nb; do
  node --import tsx test/clients/golden-types.ts "$set" "${tables[@]}" >"$out/$set.json"
  start_server "$(node -p "require('$out/$set.json').data")"
  "$python" test/clients/python_clients.py "$set" "$url" "$out/$set.json" "$sample" "$locked" "$token"
done

# The other examples run as they are printed: printed-commands.sh.
"$python" examples/python/sluice.py --url "$sample" --output "$out/orders"
"$python" test/clients/python_pull.py "$sample" "$out/orders"
SLUICE_TOKEN=$token "$python" examples/python/sluice.py --url "$locked"
SLUICE_TOKEN=$token "$python" examples/python/sluice_digest.py --url "$locked"
