// Streams of rows over HTTP: what is sent, what is asked of storage, what becomes of failures before and after the first byte.

import { request } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SluiceError } from '../../../storage/errors.ts'
import type { FakeTable } from '../fakes.ts'
import { expectedBody } from '../fakes.ts'
import type { Running } from './running.ts'
import { rawExchange, startServer } from './running.ts'

const TABLES: Record<string, FakeTable> = {
  few: { batches: 3, batchBytes: 1000 },
  many: { batches: 40, batchBytes: 300_000 },
  none: { batches: 0, batchBytes: 0 },
  fails_first: { batches: 3, batchBytes: 1000, failAt: 0 },
  fails_later: { batches: 8, batchBytes: 700_000, failAt: 5 },
  breaks: { batches: 3, batchBytes: 1000, failAt: 0, failure: new TypeError('x is not a function') },
  refused: { batches: 1, batchBytes: 1, refuse: new SluiceError('BAD_RANGE', { parameter: 'start', value: 'x' }) },
  MixedCase: { batches: 1, batchBytes: 4 },
  'odd "name/%': { batches: 1, batchBytes: 4 },
}

let running: Running
beforeAll(async () => {
  running = await startServer(TABLES)
})
afterAll(() => running.close())

const rows = (path: string, options: Parameters<typeof request>[1] = {}) =>
  request(`${running.url}/v1/keyspaces/ks/tables/${path}`, options)

test('rows arrive whole, whatever the sizes of batches and writes', async () => {
  for (const name of ['few', 'many', 'none']) {
    const response = await rows(`${name}/rows`)
    expect(response.statusCode).toBe(200)
    expect((await response.body.text()) === expectedBody(TABLES[name])).toBe(true)
  }
})

test('every batch is released and every scan and pin closed after a stream', async () => {
  const { counts } = running.source
  const before = { ...counts }
  await (await rows('many/rows')).body.text()
  expect(counts.pulled - before.pulled).toBe(40)
  expect(counts.batchReleases - before.batchReleases).toBe(40)
  expect(counts.closes - before.closes).toBe(1)
  expect(counts.releases - before.releases).toBe(1)
})

test('headers name the format, the second used and a file', async () => {
  const response = await rows('few/rows.ndjson?now=1717200000')
  await response.body.dump()
  expect(response.headers).toMatchObject({
    'content-type': 'application/x-ndjson',
    'sluice-now': '1717200000',
    'content-disposition': 'attachment; filename="ks.few.ndjson"',
    'transfer-encoding': 'chunked',
  })
})

test('HEAD gives the headers of GET without pulling a batch', async () => {
  const { counts } = running.source
  const get = await rows('few/rows.csv?now=5')
  await get.body.dump()
  const before = { ...counts }
  const head = await rows('few/rows.csv?now=5', { method: 'HEAD' })
  expect(await head.body.text()).toBe('')
  expect(head.statusCode).toBe(200)
  for (const name of ['content-type', 'content-disposition', 'sluice-now', 'cache-control', 'vary']) {
    expect(head.headers[name]).toBe(get.headers[name])
  }
  expect(counts.pulled).toBe(before.pulled)
  expect(counts.releases - before.releases).toBe(1)
})

test('HEAD meets the errors that need no reading', async () => {
  expect((await rows('refused/rows', { method: 'HEAD' })).statusCode).toBe(400)
  expect((await rows('missing/rows', { method: 'HEAD' })).statusCode).toBe(404)
})

test('the current second is used and told where none is given', async () => {
  const second = Math.floor(Date.now() / 1000)
  const response = await rows('few/rows')
  await response.body.dump()
  const now = Number(response.headers['sluice-now'])
  expect(now).toBeGreaterThanOrEqual(second)
  expect(now).toBeLessThanOrEqual(second + 5)
  expect(running.source.counts.requests.at(-1)!.now).toBe(now)
})

test('parameters reach the scan', async () => {
  const query = new URLSearchParams({
    start: '-9223372036854775808',
    end: '42',
    columns: 'id, "Value"',
    where: "id = 5 AND name = 'a+b'",
    distinct: '',
    limit: '7',
    after: 'p0',
    now: '2024-06-01T02:00:00+02:00',
    batch_rows: '500',
    batch_bytes: '70000',
    decimal: 'decimal128:4',
    duration: 'text',
  })
  await (await rows(`few/rows?${query}`)).body.dump()
  expect(running.source.counts.requests.at(-1)).toMatchObject({
    start: '-9223372036854775808',
    end: '42',
    columns: 'id, "Value"',
    where: "id = 5 AND name = 'a+b'",
    distinct: true,
    limit: 7,
    after: 'p0',
    now: 1717200000,
    batchRows: 500,
    batchBytes: 70_000,
    decimal: { kind: 'decimal128', scale: 4 },
    duration: 'text',
  })
})

test('a limit of zero gives a valid empty stream', async () => {
  expect(await (await rows('few/rows?limit=0')).body.text()).toBe('<>')
})

test('names that need encoding in a URL are found', async () => {
  expect((await rows('MixedCase/rows')).statusCode).toBe(200)
  const odd = await rows(`${encodeURIComponent('odd "name/%')}/rows.csv`)
  expect(odd.statusCode).toBe(200)
  expect(odd.headers['content-disposition']).toBe(
    `attachment; filename="ks.odd__name__.csv"; filename*=UTF-8''ks.odd%20%22name%2F%25.csv`,
  )
})

test('a failure before the first byte is a problem, with nothing of the stream in it', async () => {
  const response = await rows('fails_first/rows')
  expect(response.statusCode).toBe(500)
  expect(response.headers['content-type']).toBe('application/problem+json')
  expect(response.headers['content-disposition']).toBeUndefined()
  expect(await response.body.json()).toEqual({
    type: '/errors#CORRUPT_SSTABLE',
    title: 'the SSTable is damaged',
    status: 500,
    code: 'CORRUPT_SSTABLE',
    detail: 'the SSTable is damaged (file: Data.db, offset: 42)',
    fields: { file: 'Data.db', offset: 42 },
  })
})

test('an unforeseen failure says INTERNAL and tells nothing of itself', async () => {
  const response = await rows('breaks/rows')
  expect(response.statusCode).toBe(500)
  const text = await response.body.text()
  expect(JSON.parse(text).code).toBe('INTERNAL')
  expect(text).not.toContain('function')
})

test('a failure after the first byte cuts the stream before its final chunk', async () => {
  const response = await rows('fails_later/rows')
  expect(response.statusCode).toBe(200)
  await expect(response.body.text()).rejects.toThrow()
  const { received } = await rawExchange(
    running.port,
    'GET /v1/keyspaces/ks/tables/fails_later/rows HTTP/1.1\r\nHost: x\r\n\r\n',
  )
  expect(received).toMatch(/^HTTP\/1\.1 200 /)
  expect(received).toContain('aaaa')
  expect(received.endsWith('0\r\n\r\n')).toBe(false)
  const { counts } = running.source
  expect(counts.held).toBe(0)
  expect(counts.closes).toBe(counts.scans)
  expect(counts.releases).toBe(counts.pins)
})

test('HTTP/1.0, which has no final chunk, is reset when a stream fails and closed when it ends', async () => {
  const ask = (table: string) => rawExchange(running.port, `GET /v1/keyspaces/ks/tables/${table}/rows HTTP/1.0\r\n\r\n`)
  const whole = await ask('many')
  expect(whole.reset).toBe(false)
  expect(whole.received.endsWith(expectedBody(TABLES.many))).toBe(true)
  expect((await ask('fails_later')).reset).toBe(true)
})

test('a connection serves further requests after a stream', async () => {
  const head = 'HTTP/1.1\r\nHost: x\r\n'
  const { received } = await rawExchange(
    running.port,
    `GET /v1/keyspaces/ks/tables/few/rows ${head}\r\nGET /v1/keyspaces/ks/tables/few/rows ${head}\r\n` +
      `GET /healthz ${head}Connection: close\r\n\r\n`,
  )
  expect(received.match(/HTTP\/1\.1 200/g)).toHaveLength(3)
  expect(received.match(/\r\n0\r\nSluice-Rows: \d+\r\n/g)).toHaveLength(2)
})

test('ClickHouse, which takes a trailer for a malformed chunk, is sent none', async () => {
  const { received } = await rawExchange(
    running.port,
    'GET /v1/keyspaces/ks/tables/few/rows HTTP/1.1\r\nHost: x\r\nUser-Agent: ClickHouse/26.5.1.1\r\nConnection: close\r\n\r\n',
  )
  expect(received).not.toMatch(/\r\ntrailer:/i)
  expect(received.endsWith('\r\n0\r\n\r\n')).toBe(true)
})
