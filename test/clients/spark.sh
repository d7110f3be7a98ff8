#!/usr/bin/env bash
# The Spark data source in a local Spark: golden tables against what real Cassandra nodes answered, their digests, a killed task.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source test/clients/serving.bash
python=$(bash test/oracle/venv.sh spark test/clients/requirements-spark.txt)
export PYTHONPATH=examples/python:examples/spark:test/clients PYSPARK_PYTHON=$python SPARK_LOCAL_IP=127.0.0.1
tables=(golden.types_scalar golden.types_nested golden.types_empty golden.static_rows golden.counters golden.wide)

start_samples
sets=()
for set in da nb; do
  node --import tsx test/clients/golden-types.ts "$set" "${tables[@]}" >"$out/$set.json"
  start_server "$(node -p "require('$out/$set.json').data")"
  sets+=("$set" "$url" "$out/$set.json")
done
"$python" test/clients/spark_clients.py "$out" "$sample" "$locked" "$token" "${sets[@]}"
