// What clients send that is wrong, odd or hostile: each gets its answer, and the server lives on.

import { request } from 'undici'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Running } from './running.ts'
import { rawExchange, startServer } from './running.ts'

let running: Running
beforeAll(async () => {
  running = await startServer({ t: { batches: 1, batchBytes: 4 } })
})
afterEach(async () => {
  expect((await request(`${running.url}/healthz`)).statusCode).toBe(200)
})
afterAll(() => running.close())

interface Answer {
  status: number
  code: string
  fields: Record<string, unknown>
  type: string | undefined
}

async function ask(path: string, options: Parameters<typeof request>[1] = {}): Promise<Answer> {
  const response = await request(running.url + path, options)
  const body = (await response.body.json()) as { code: string; status: number; fields: Record<string, unknown> }
  if (response.statusCode >= 400) {
    expect(response.headers['content-type']).toBe('application/problem+json')
    expect(body.status).toBe(response.statusCode)
  }
  return {
    status: response.statusCode,
    code: body.code,
    fields: body.fields,
    type: response.headers['content-type'] as string,
  }
}

const ROWS = '/v1/keyspaces/ks/tables/t/rows'

test.each([
  ['/v1/keyspaces/nope/tables/t/rows', 404, 'UNKNOWN_KEYSPACE'],
  ['/v1/keyspaces/nope/tables/t', 404, 'UNKNOWN_KEYSPACE'],
  ['/v1/keyspaces/ks/tables/nope/rows', 404, 'UNKNOWN_TABLE'],
  ['/v1/keyspaces/ks/tables/..%2f..%2fetc/rows', 404, 'UNKNOWN_TABLE'],
  ['/v1/keyspaces/ks/tables/t%00/rows', 404, 'UNKNOWN_TABLE'],
  ['/v1/keyspaces/ks/tables//rows', 404, 'UNKNOWN_TABLE'],
  [`/v1/keyspaces/ks/tables/${'x'.repeat(5000)}/rows`, 404, 'UNKNOWN_TABLE'],
  [`/v1/keyspaces/ks/tables/${'x'.repeat(9000)}/rows`, 400, 'BAD_REQUEST'],
  ['/v1/keyspaces/ks/tables/%zz/rows', 400, 'BAD_REQUEST'],
  ['/v1/keyspaces/ks/tables/%ff/rows', 400, 'BAD_REQUEST'],
  ['/', 404, 'NOT_FOUND'],
  ['/v1/keyspaces/ks/tables/t/row', 404, 'NOT_FOUND'],
  ['/v1/keyspaces/__proto__/tables/constructor/rows', 404, 'UNKNOWN_KEYSPACE'],
  ['/v1/keyspaces/ks/tables/constructor/rows', 404, 'UNKNOWN_TABLE'],
  [`${ROWS}.xml`, 406, 'NOT_ACCEPTABLE'],
  [`${ROWS}.toString`, 406, 'NOT_ACCEPTABLE'],
  [`${ROWS}?format=xml`, 406, 'NOT_ACCEPTABLE'],
])('%s is refused', async (path, status, code) => {
  expect(await ask(path)).toMatchObject({ status, code })
})

test.each([
  ['bogus=1', { parameter: 'bogus' }],
  ['Limit=1', { parameter: 'Limit' }],
  ['__proto__=1', { parameter: '__proto__' }],
  ['limit=1&limit=2', { parameter: 'limit', reason: 'given twice' }],
  ['limit=', { parameter: 'limit' }],
  ['limit=-1', { parameter: 'limit', value: '-1' }],
  ['limit=1e3', { parameter: 'limit' }],
  ['limit=0x10', { parameter: 'limit' }],
  ['limit=99999999999999999999', { parameter: 'limit' }],
  ['batch_rows=0', { parameter: 'batch_rows' }],
  ['batch_bytes=0', { parameter: 'batch_bytes' }],
  ['batch_bytes=268435457', { parameter: 'batch_bytes' }],
  ['distinct=perhaps', { parameter: 'distinct' }],
  ['duration=long', { parameter: 'duration' }],
  ['decimal=decimal64:2', { parameter: 'decimal' }],
  ['decimal=decimal128', { parameter: 'decimal' }],
  ['compression=gzip', { parameter: 'compression' }],
  ['compression=zstd&format=csv', { parameter: 'compression', reason: 'means nothing in csv' }],
  ['null=x', { parameter: 'null', reason: 'means nothing in arrows' }],
  ['now=yesterday', { parameter: 'now', value: 'yesterday' }],
  ['now=2024-02-30', { parameter: 'now' }],
  ['now=', { parameter: 'now' }],
  ['columns=%zz', { parameter: 'columns' }],
  ['columns=%ff', { parameter: 'columns' }],
  ['%zz=1', { parameter: '%zz=1' }],
  [`${'x'.repeat(3000)}=1`, { parameter: `${'x'.repeat(200)}...` }],
])('the parameter %s is refused by name', async (query, fields) => {
  const answer = await ask(`${ROWS}?${query}`)
  expect(answer).toMatchObject({ status: 400, code: 'BAD_PARAMETER', fields })
})

test('resources without parameters take none', async () => {
  expect(await ask('/v1/keyspaces?limit=1')).toMatchObject({ code: 'BAD_PARAMETER' })
  expect(await ask('/v1/keyspaces/ks/tables/t?now=1')).toMatchObject({ code: 'BAD_PARAMETER' })
})

test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const)(
  '%s is not allowed, and told what is',
  async (method) => {
    const response = await request(running.url + ROWS, {
      method,
      body: method === 'POST' ? '<x/>' : undefined,
      headers: method === 'POST' ? { 'content-type': 'text/xml' } : {},
    })
    expect(response.statusCode).toBe(405)
    expect(response.headers.allow).toBe('GET, HEAD')
    expect(await response.body.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED', fields: { value: method } })
  },
)

test.each([
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['headers of a megabyte', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(1 << 20)}\r\n\r\n`],
  ['a target of a megabyte', `GET /${'y'.repeat(1 << 20)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ['a line feed in a header name', 'GET / HTTP/1.1\r\nHost: x\r\nA\nB\r\n\r\n'],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  ['an unknown method', 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a bad chunk', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
])('%s is answered as malformed or cut', async (_, text) => {
  const { received } = await rawExchange(running.port, text)
  // A client that still sends when the answer comes may see a reset in its place.
  if (received !== '') expect(received).toMatch(/^HTTP\/1\.1 4\d\d [\s\S]*"code":"(BAD_REQUEST|NOT_FOUND)"/)
})

test.each([
  ['absolute form', `GET http://elsewhere${ROWS}?limit=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`],
  ['bytes beyond ASCII', `GET ${ROWS}?columns=\xff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`],
  ['an upgrade', `GET ${ROWS} HTTP/1.1\r\nHost: x\r\nConnection: upgrade, close\r\nUpgrade: h2c\r\n\r\n`],
  ['a range', `GET ${ROWS} HTTP/1.1\r\nHost: x\r\nRange: bytes=5-\r\nConnection: close\r\n\r\n`],
  ['a body', `GET ${ROWS} HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc`],
  ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n'],
])('a request with %s does no harm', async (_, text) => {
  const { received } = await rawExchange(running.port, text)
  if (received !== '') expect(received).toMatch(/^HTTP\/1\.1 [24]\d\d /)
})

test('the format follows extension, parameter and Accept, in this order', async () => {
  const typeOf = async (path: string, accept?: string) => {
    const response = await request(running.url + path, { headers: accept === undefined ? {} : { accept } })
    await response.body.dump()
    return response.headers['content-type']
  }
  expect(await typeOf(ROWS)).toBe('application/vnd.apache.arrow.stream')
  expect(await typeOf(`${ROWS}.csv?format=ndjson`, 'application/vnd.apache.arrow.file')).toBe('text/csv')
  expect(await typeOf(`${ROWS}?format=ndjson`, 'text/csv')).toBe('application/x-ndjson')
  expect(await typeOf(ROWS, 'text/csv')).toBe('text/csv')
  expect(await typeOf(ROWS, 'text/html')).toBe('application/problem+json')
})

test('keyspaces and a table are described', async () => {
  const keyspaces = await request(`${running.url}/v1/keyspaces`)
  expect(await keyspaces.body.json()).toEqual({ keyspaces: [{ name: 'ks', tables: ['t'] }] })
  const table = await request(`${running.url}/v1/keyspaces/ks/tables/t`)
  expect(await table.body.json()).toMatchObject({
    keyspace: 'ks',
    table: 't',
    id: '0123456789abcdef0123456789abcdef',
    partitioner: 'Murmur3Partitioner',
    columns: [
      { name: 'id', kind: 'partition_key', position: 0, order: null, cql_type: 'bigint', arrow_type: 'int64' },
      { name: 'Value', kind: 'regular', position: null, order: null, cql_type: 'text', arrow_type: null },
    ],
    totals: { sstables: 1, bytes: 1000, data_bytes: 2500, rows: 20, partitions: 10 },
    sstables: [{ id: '7', version: 'nb', codec: 'LZ4Compressor', min_timestamp: '1717200000000000' }],
    warnings: [],
  })
  expect(running.source.counts.releases).toBe(running.source.counts.pins)
})

test('HEAD of a JSON resource has the length of its GET and no body', async () => {
  const get = await request(`${running.url}/v1/keyspaces`)
  await get.body.dump()
  const head = await request(`${running.url}/v1/keyspaces`, { method: 'HEAD' })
  expect(await head.body.text()).toBe('')
  expect(head.headers['content-length']).toBe(get.headers['content-length'])
})
