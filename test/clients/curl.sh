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
curl -sS -OJ "$orders/rows?format=csv"
expect 'shop.orders.csv' "$(cat shop.orders.csv)" "$(cat rows.csv)"
for extension in arrows arrow ndjson csv parquet; do
  expect 'a file name' "$(curl -sSI "$orders/rows.$extension" | sed -n 's/^content-disposition: //Ip' | tr -d '\r')" "attachment; filename=\"shop.orders.$extension\""
done

# A stream has no length before it is read: HEAD gives the headers, and a range gives the whole from its beginning, as RFC 9110 allows.
expect 'HEAD' "$(curl -sSI -o head -w '%{http_code} %{content_type} %{size_download}' "$orders/rows.parquet")" '200 application/vnd.apache.parquet 0'
expect 'a range' "$(curl -sS -r 0-99 -o range.csv -w '%{http_code}' "$orders/rows.csv") $(cmp range.csv rows.csv && echo whole)" '200 whole'
# So curl cannot go on inside a file (-C -), and says so; positions can.
head -c 1000 rows.csv >part.csv
expect 'curl -C -' "$(curl -sS -C - -o part.csv "$orders/rows.csv" 2>curl.err || echo $?)" 33
grep -q 'byte ranges' curl.err

# --fail-with-body shows the problem, exits with 22 and leaves it where rows would have been.
expect 'a problem' "$(curl -sS --fail-with-body "$orders/rows.csv?where=items%20%3E" 2>/dev/null | jq -r '"\(.status) \(.code) \(.fields.position)"')" '400 BAD_PREDICATE 7'
expect 'its exit code' "$(curl -sS --fail-with-body -o problem "$orders/rows.csv?limit=x" 2>/dev/null || echo $?)" 22
expect 'its type' "$(curl -sS -o problem -w '%{content_type}' "$orders/rows.csv?limit=x")" application/problem+json

expect 'too much memory' "$(curl -sS --fail-with-body "$orders/rows.csv?batch_bytes=200000000" 2>/dev/null | jq -r .code)" VALUE_TOO_LARGE

# A stream that fails on its way is cut: exit code 18.
cp -r "$root/examples/data" damaged
for file in damaged/shop/orders-*/*-Data.db; do
  printf '\xff\xff\xff\xff\xff\xff\xff\xff' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") - 100)) conv=notrunc status=none
done
sound=$orders now=$(cat pages/now)
cd "$root" && start_server "$out/damaged" && cd "$out"
expect 'a cut stream' "$(curl -sS -o cut.arrows "$url/v1/keyspaces/shop/tables/orders/rows?now=$now&batch_rows=50" 2>/dev/null || echo $?)" 18
came=$(wc -c <cut.arrows)
[ "$came" -gt 5000 ] || { echo "only $came bytes came before the cut" >&2; exit 1; }

# A token: without it 401, which curl shows; with it all is as without one.
export SLUICE_TOKEN=s3cr3t-$RANDOM
cd "$root" && start_server examples/data && cd "$out"
locked=$url/v1/keyspaces/shop/tables/orders
expect 'no token' "$(curl -sS --fail-with-body "$locked/rows.csv" 2>/dev/null | jq -r .code)" UNAUTHORIZED
expect 'its header' "$(curl -sSI "$locked/rows.csv" | sed -n 's/^www-authenticate: //Ip' | tr -d '\r')" 'Bearer realm="sluice"'
expect 'a token' "$(curl -sS -H "Authorization: Bearer $SLUICE_TOKEN" "$locked/rows.csv?now=$now" | sha256sum)" "$(curl -sS "$sound/rows.csv?now=$now" | sha256sum)"
expect 'curl --oauth2-bearer' "$(curl -sS --oauth2-bearer "$SLUICE_TOKEN" "$locked/count" | jq .rows)" "$rows"
expect 'health' "$(curl -sS "$url/healthz" | jq -r .status)" ok
sluice() { node "$root/$main" "$@"; }
sluice export shop.orders --url "$url" --format csv --now "$now" -o locked.csv
expect 'sluice export --url' "$(sha256sum <locked.csv)" "$(curl -sS "$sound/rows.csv?now=$now" | sha256sum)"
expect 'a wrong token' "$(sluice export shop.orders --url "$url" --token wrong -o none.csv 2>/dev/null || echo $?)" 77
echo "curl: the examples, file names, HEAD, ranges, problems, a cut stream, a token: as expected, $rows rows"
