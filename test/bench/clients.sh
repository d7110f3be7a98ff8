#!/usr/bin/env bash
# What clients get of `narrow` (one row a partition, 9 columns): pyarrow over HTTP and over Flight, by turns; Parquet; Spark with four tasks.
# Prints a Markdown table; wall times are of this machine, so read the ratios.
#   clients.sh [--rows 2000000] [--rounds 5] [--digest]      --digest: no times; compares the digests of what pyarrow and Spark read
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rows=2000000
for ((i = 1; i < $#; i++)); do if [ "${!i}" = --rows ]; then j=$((i + 1)) rows=${!j}; fi; done
data=${SLUICE_CACHE:-$HOME/.cache/sluice}/bench/da-narrow-$rows
if [ ! -e "$data" ]; then
  rm -rf "$data.filling" && mkdir -p "$data.filling"
  test/oracle/cassandra.sh bulk 5.0.8 da "$data.filling" narrow "$rows" >&2
  mv "$data.filling" "$data"
fi
python=$(bash test/oracle/venv.sh spark test/clients/requirements-spark.txt)
source test/clients/serving.bash
start_server "$data" --schema "$data/schema.narrow.cql" --flight-port 0
export PYTHONPATH=examples/python:examples/spark:test/clients PYSPARK_PYTHON=$python SPARK_LOCAL_IP=127.0.0.1
"$python" test/bench/clients.py "$url" "$location" "$@"
