#!/usr/bin/env bash
# Lines of a table in pages of one moment; interrupted and started again, it goes on behind the last whole page.
#   resume.sh [URL] [FOLDER]
set -euo pipefail
url=${1:-http://127.0.0.1:9180} folder=${2:-pages}
mkdir -p "$folder"
orders=$url/v1/keyspaces/shop/tables/orders/rows.ndjson

now=$(cat "$folder/now" 2>/dev/null || date +%s | tee "$folder/now")
page=$(find "$folder" -name 'page-*.ndjson' | wc -l)
while true; do
  after=$(cat "$folder/position-$((page - 1))" 2>/dev/null || true)
  curl -sS --fail-with-body -G "$orders" --data-urlencode "now=$now" --data-urlencode limit=1000 \
    ${after:+--data-urlencode "after=$after"} -D "$folder/headers" -o "$folder/page"
  [ -s "$folder/page" ] || break
  # Behind a whole page the trailer Sluice-Position says where it ends. It is kept first: a page that is there has its position.
  sed -n 's/^sluice-position: *\([^[:space:]]*\).*/\1/Ip' "$folder/headers" >"$folder/position-$page"
  mv "$folder/page" "$(printf '%s/page-%05d.ndjson' "$folder" "$page")"
  page=$((page + 1))
done
rm -f "$folder/page" "$folder/headers"
cat "$folder"/page-*.ndjson | wc -l
