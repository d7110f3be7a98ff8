#!/usr/bin/env bash
# Golden tables over Arrow Flight with pyarrow.flight, against what real Cassandra nodes answered; plans, actions, errors.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source test/clients/serving.bash
python=$(bash test/oracle/venv.sh python test/clients/requirements-python.txt)
tables=(golden.types_scalar golden.types_nested golden.types_empty golden.static_rows golden.counters golden.wide)

start_server examples/data --flight-port 0
sample=$location sample_url=$url
token=s3cr3t-$RANDOM
echo "$token" >"$out/token"
start_server examples/data --flight-port 0 --token-file "$out/token"
locked=$location
for set in da nb; do
  node --import tsx test/clients/golden-types.ts "$set" "${tables[@]}" >"$out/$set.json"
  start_server "$(node -p "require('$out/$set.json').data")" --flight-port 0
  "$python" test/clients/flight_clients.py "$set" "$location" "$out/$set.json" "$sample" "$sample_url" "$locked" "$token"
done
