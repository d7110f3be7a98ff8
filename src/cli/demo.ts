// What `npm run demo` prints: lines to copy, over the sample in examples/data.

export function demoText(url: string): string {
  const tables = `${url}/v1/keyspaces/shop/tables`
  return `Sluice serves the sample keyspace "shop" on ${url}. In another terminal, try

  what there is:        curl -s ${url}/v1/keyspaces
  one table:            curl -s ${tables}/orders
  rows to look at:      curl -s '${tables}/orders/rows.ndjson?limit=5'
  half of the ring:     curl -s '${tables}/sensor_readings/rows.ndjson?start=0' | wc -l
  one customer:         curl -sG ${tables}/orders/rows.ndjson --data-urlencode 'where=customer_id = 889232'
  some columns as CSV:  curl -s '${tables}/orders/rows.csv?columns=customer_id,order_time,total&limit=5'
  a Parquet file:       curl -OJ ${tables}/products/rows.parquet
  an Arrow file:        curl -OJ ${tables}/orders/rows.arrow
  from Python:          python3 -c "import urllib.request, pyarrow as pa; print(pa.ipc.open_stream(urllib.request.urlopen('${tables}/orders/rows')).read_all())"

Ctrl-C ends it.
`
}
