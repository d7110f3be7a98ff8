#!/usr/bin/env bash
# A table in parts, four at a time, all of one moment: an export and its tickets. Needs jq.    parallel.sh [URL] [FOLDER]
set -euo pipefail
url=${1:-http://127.0.0.1:9180} folder=${2:-orders}
mkdir -p "$folder"

export=$(curl -sS --fail-with-body "$url/v1/exports" -d '{"keyspace": "shop", "table": "orders", "splits": 8, "format": "parquet"}')
id=$(jq -r .id <<<"$export")
trap 'curl -sS -X DELETE "$url/v1/exports/$id"' EXIT

# Every ticket may be read again, as often as it takes: it always gives the same rows.
jq -r '.endpoints | to_entries[] | "\(.key) \(.value.ticket)"' <<<"$export" |
  xargs -P 4 -L 1 bash -c 'curl -sS --fail-with-body --retry 5 --retry-all-errors -o "$1/part-$2.parquet" "$0/v1/tickets/$3"' "$url" "$folder"
ls "$folder"
