#!/usr/bin/env bash
# A table, some of it, and errors.    rows.sh [URL]
set -euo pipefail
url=${1:-http://127.0.0.1:9180}
orders=$url/v1/keyspaces/shop/tables/orders

# Lines of JSON, as SELECT JSON * prints them.
curl -sS --fail-with-body "$orders/rows.ndjson?limit=3"

# CSV of some columns of some rows; -G with --data-urlencode takes care of what a URL needs quoted.
curl -sS --fail-with-body -G "$orders/rows.csv" \
  --data-urlencode 'columns=order_id,status,total' --data-urlencode "where=status = 'shipped' AND items >= 5" --data-urlencode limit=3

# A file under its own name: shop.orders.parquet.
curl -sS --fail-with-body -OJ --clobber "$orders/rows.parquet"

# How many rows there are, without reading their columns.
curl -sS --fail-with-body "$orders/count"

# A mistake is told in words, with a code that never changes; --fail-with-body shows it and exits with 22.
curl -sS --fail-with-body "$orders/rows.ndjson?columns=totl" || test $? = 22
