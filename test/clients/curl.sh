#!/usr/bin/env bash
# The curl examples as printed, and what curl's users rely on: names of files, HEAD, ranges, going on after an interruption.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source test/clients/serving.bash
start_server examples/data
root=$PWD
orders=$url/v1/keyspaces/shop/tables/orders
cd "$out"

expect() { # WHAT FOUND WANTED
  [ "$2" = "$3" ] || { echo "$1: $2 in place of $3" >&2; exit 1; }
}

bash "$root/examples/curl/rows.sh" "$url" >rows.txt 2>rows.err
expect 'lines of rows.ndjson' "$(head -3 rows.txt | jq -r .customer_id | wc -l)" 3
expect 'magic of rows.parquet' "$(head -c 4 shop.orders.parquet)" PAR1
expect 'code of a mistake' "$(tail -1 rows.txt | jq -r .code)" UNKNOWN_COLUMN

rows=$(curl -sS "$orders/rows.ndjson" | tee whole.ndjson | wc -l)
bash "$root/examples/curl/parallel.sh" "$url" parts >parts.txt
expect 'files of parallel.sh' "$(wc -l <parts.txt)" 8
expect 'exports left behind' "$(curl -sS "$url/v1/exports" | jq '.exports | length')" 0

# Interrupted twice, at times that are as they come.
now=$(date +%s)
for wait in 0.3 0.9; do timeout "$wait" bash "$root/examples/curl/resume.sh" "$url" pages >/dev/null || true; done
expect 'rows of resume.sh' "$(bash "$root/examples/curl/resume.sh" "$url" pages)" "$rows"
expect 'lines of resume.sh' "$(cat pages/page-*.ndjson | sha256sum)" "$(curl -sS "$orders/rows.ndjson?now=$(cat pages/now)" | sha256sum)"

# -O takes the name from the path, -J from Content-Disposition.
curl -sS -O "$orders/rows.csv"
expect 'rows of rows.csv' "$(($(wc -l <rows.csv) - 1))" "$rows"
# A stream has no length before it is read: HEAD gives the headers, and a range gives the whole from its beginning, as RFC 9110 allows.
expect 'HEAD' "$(curl -sSI -o /dev/null -w '%{http_code} %{content_type}' "$orders/rows.parquet")" '200 application/vnd.apache.parquet'
expect 'a range' "$(curl -sS -r 0-99 -o /dev/null -w '%{http_code}' "$orders/rows.csv")" 200
echo "curl: the examples, file names, HEAD, ranges: as expected, $rows rows"
