// Exports and tickets over SSTables of a real node: what is pinned stays, what is read again is the same, what is gone says so.

import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createExporter } from '../../../exporters/formats.ts'
import type { ExportLimits } from '../../../src/exports/export-limits.ts'
import { ExportStore } from '../../../src/exports/export-store.ts'
import { StateDirectory } from '../../../src/exports/kept-files.ts'
import { keptSigningKey } from '../../../src/exports/tickets.ts'
import { openSource } from '../../../src/open-source.ts'
import { createServer } from '../../../src/server/create-server.ts'
import type { ExportDescription } from '../../../src/server/routes/exports.ts'
import { SAMPLE_DATA, type SampleMeta, sampleLines, sampleMeta } from '../../corpus/sample.ts'
import { until } from '../fakes.ts'

interface Served {
  url: string
  logs: Record<string, unknown>[]
  close(): Promise<void>
}

async function serve(
  data: string,
  { limits, state }: { limits?: Partial<ExportLimits>; state?: string } = {},
): Promise<Served> {
  const logs: Record<string, unknown>[] = []
  const logger = pino({ level: 'info' }, { write: (line) => logs.push(JSON.parse(line)) })
  const source = await openSource({ data: [data] })
  const exports = new ExportStore({
    source,
    logger,
    limits,
    key: state === undefined ? undefined : await keptSigningKey(state),
    state: state === undefined ? undefined : await StateDirectory.open(state),
  })
  await exports.restore()
  const server = createServer({ source, createExporter, logger, exports, locations: ['http://a:1'] })
  const url = await server.listen('127.0.0.1', 0)
  return {
    url,
    logs,
    async close() {
      await server.close(0)
      await source.close()
    },
  }
}

const folders: string[] = []
async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'sluice-exports-'))
  folders.push(path)
  return path
}

async function copyOfSample(): Promise<string> {
  const path = await folder()
  await cp(SAMPLE_DATA, path, { recursive: true })
  return path
}

async function ordersOf(data: string): Promise<string> {
  return join(data, 'shop', (await readdir(join(data, 'shop'))).find((name) => name.startsWith('orders-'))!)
}

let meta: SampleMeta
let sample: Served
let expected: unknown[]
beforeAll(async () => {
  meta = await sampleMeta()
  sample = await serve(SAMPLE_DATA)
  expected = (await sampleLines('shop.orders', 'ndjson')).map((line) => JSON.parse(line))
})
afterAll(async () => {
  await sample.close()
  for (const path of folders) await rm(path, { recursive: true, force: true })
})

async function post(
  served: Served,
  body: object,
): Promise<{ status: number; json: ExportDescription & { code: string } }> {
  const response = await request(`${served.url}/v1/exports`, { method: 'POST', body: JSON.stringify(body) })
  return { status: response.statusCode, json: (await response.body.json()) as ExportDescription & { code: string } }
}

async function makeOrders(served: Served, more: object = {}): Promise<ExportDescription> {
  const { status, json } = await post(served, { keyspace: 'shop', table: 'orders', now: meta.now, splits: 4, ...more })
  expect(status).toBe(201)
  return json
}

async function read(served: Served, ticket: string, query = ''): Promise<Buffer> {
  const response = await request(`${served.url}/v1/tickets/${ticket}?${query}`)
  const body = Buffer.from(await response.body.arrayBuffer())
  expect(response.statusCode, body.toString('latin1', 0, 300)).toBe(200)
  return body
}

async function rowsOf(served: Served, { endpoints }: ExportDescription): Promise<unknown[]> {
  const rows: unknown[] = []
  for (const { ticket } of endpoints) {
    const text = (await read(served, ticket, 'format=ndjson')).toString('utf8')
    rows.push(
      ...text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    )
  }
  return rows
}

async function problem(url: string, method: 'GET' | 'DELETE' = 'GET'): Promise<{ status: number; code: string }> {
  const response = await request(url, { method })
  const { code } = (await response.body.json()) as { code: string }
  return { status: response.statusCode, code }
}

test('the splits of an export are the table, once and in order', async () => {
  const made = await makeOrders(sample)
  expect(made.endpoints.length).toBeGreaterThan(2)
  expect(made.endpoints[0].start).toBeNull()
  expect(made.endpoints.at(-1)!.end).toBeNull()
  for (const [i, { start, locations }] of made.endpoints.entries()) {
    if (i > 0) expect(start).toBe(made.endpoints[i - 1].end)
    expect(locations).toEqual(['http://a:1'])
  }
  expect(made.schema.columns.map(({ name }) => name)).toContain('customer_id')
  expect(await rowsOf(sample, made)).toEqual(expected)
})

test('a ticket gives the same bytes again, and from a position on the rest', async () => {
  const made = await makeOrders(sample, { batch_rows: 50, splits: 2 })
  const { ticket } = made.endpoints[1]
  const whole = await read(sample, ticket)
  expect((await read(sample, ticket)).equals(whole)).toBe(true)
  const { positionsOf } = await import('../arrow-stream.ts')
  const positions = positionsOf(whole)
  expect(positions.length).toBeGreaterThan(5)
  const text = (await read(sample, ticket, 'format=ndjson')).toString('utf8').split('\n')
  const rest = (await read(sample, ticket, `format=ndjson&after=${positions[2]}`)).toString('utf8').split('\n')
  expect(rest).toEqual(text.slice(150))
  const twice = await Promise.all([1, 2].map(() => read(sample, ticket, `after=${positions[2]}`)))
  expect(twice[0].equals(twice[1])).toBe(true)
  // Behind the end there is nothing, which is an answer too.
  expect(positionsOf(await read(sample, ticket, `after=${positions.at(-1)}`))).toEqual([])
})

test('a predicate, a projection and a range hold for all splits', async () => {
  const made = await makeOrders(sample, { columns: ['customer_id', 'status'], start: '-3000000000000000000', end: '5' })
  const rows = (await rowsOf(sample, made)) as object[]
  const response = await request(
    `${sample.url}/v1/keyspaces/shop/tables/orders/rows.ndjson?now=${meta.now}&columns=customer_id,status&start=-3000000000000000000&end=5`,
  )
  const direct = (await response.body.text()).split('\n').slice(0, -1)
  expect(rows).toEqual(direct.map((line) => JSON.parse(line)))
  expect(Object.keys(rows[0])).toEqual(['customer_id', 'status'])
})

test('an export outlives the files that it pinned', async () => {
  const data = await copyOfSample()
  const served = await serve(data)
  const made = await makeOrders(served)
  const orders = await ordersOf(data)
  for (const name of await readdir(orders)) await rm(join(orders, name), { recursive: true })
  expect(await rowsOf(served, made)).toEqual(expected)
  await served.close()
})

describe('with a state directory', () => {
  test('an export outlives a restart, its files gone meanwhile', async () => {
    const data = await copyOfSample()
    const state = join(await folder(), 'state')
    const first = await serve(data, { state })
    const made = await makeOrders(first, { batch_rows: 100 })
    expect(made).toMatchObject({ durable: true })
    const before = await Promise.all(made.endpoints.map(({ ticket }) => read(first, ticket)))
    await first.close()
    const orders = await ordersOf(data)
    for (const name of await readdir(orders)) await rm(join(orders, name), { recursive: true })

    const second = await serve(data, { state })
    expect(await rowsOf(second, made)).toEqual(expected)
    const after = await Promise.all(made.endpoints.map(({ ticket }) => read(second, ticket)))
    expect(after.every((bytes, i) => bytes.equals(before[i]))).toBe(true)
    const response = await request(`${second.url}/v1/exports/${made.id}`)
    expect(await response.body.json()).toEqual(made)

    await request(`${second.url}/v1/exports/${made.id}`, { method: 'DELETE' })
    expect(await readdir(join(state, 'exports'))).toEqual([])
    expect(await problem(`${second.url}/v1/tickets/${made.endpoints[0].ticket}`)).toEqual({
      status: 410,
      code: 'EXPORT_GONE',
    })
    await second.close()
    const third = await serve(data, { state })
    expect(await problem(`${third.url}/v1/exports/${made.id}`)).toEqual({ status: 410, code: 'EXPORT_GONE' })
    await third.close()
  })

  test('what was never finished is cleared away', async () => {
    const state = join(await folder(), 'state')
    await mkdir(join(state, 'exports', 'abc', '0'), { recursive: true })
    const served = await serve(SAMPLE_DATA, { state })
    expect(await readdir(join(state, 'exports'))).toEqual([])
    await served.close()
  })

  test('the key is nobody else’s to read', async () => {
    const state = join(await folder(), 'state')
    await keptSigningKey(state)
    expect((await stat(join(state, 'ticket-key'))).mode & 0o777).toBe(0o600)
  })
})

test('without a state directory tickets end with the process, by name', async () => {
  const first = await serve(SAMPLE_DATA)
  const made = await makeOrders(first)
  await first.close()
  expect(await problem(`${sample.url}/v1/tickets/${made.endpoints[0].ticket}`)).toEqual({
    status: 410,
    code: 'EXPORT_GONE',
  })
  expect(await problem(`${sample.url}/v1/exports/${made.id}`)).toEqual({ status: 404, code: 'UNKNOWN_EXPORT' })
})

test('no change to a ticket passes', async () => {
  const made = await makeOrders(sample)
  const { ticket } = made.endpoints[0]
  for (let at = 0; at < ticket.length; at += 7) {
    const other = ticket[at] === 'A' ? 'B' : 'A'
    if (ticket[at] === '.') continue
    const { code } = await problem(`${sample.url}/v1/tickets/${ticket.slice(0, at)}${other}${ticket.slice(at + 1)}`)
    expect(code).toMatch(/^(BAD_TICKET|EXPORT_GONE)$/)
  }
  expect(await problem(`${sample.url}/v1/tickets/nonsense`)).toEqual({ status: 400, code: 'BAD_TICKET' })
})

test('exports are listed, renewed, deleted', async () => {
  const served = await serve(SAMPLE_DATA)
  const made = await makeOrders(served, { ttl: 60 })
  const list = (await (await request(`${served.url}/v1/exports`)).body.json()) as { exports: { id: string }[] }
  expect(list.exports.map(({ id }) => id)).toEqual([made.id])
  const renewed = (await (
    await request(`${served.url}/v1/exports/${made.id}/renew?ttl=600`, { method: 'POST' })
  ).body.json()) as { expires: string }
  expect(Date.parse(renewed.expires) - Date.parse(made.expires)).toBeGreaterThan(500_000)
  expect((await request(`${served.url}/v1/exports/${made.id}`, { method: 'DELETE' })).statusCode).toBe(204)
  for (const path of [`exports/${made.id}`, `tickets/${made.endpoints[0].ticket}`]) {
    expect(await problem(`${served.url}/v1/${path}`)).toEqual({ status: 410, code: 'EXPORT_GONE' })
  }
  await served.close()
})

test('an export that nobody renews ends', async () => {
  const served = await serve(SAMPLE_DATA)
  const made = await makeOrders(served, { ttl: 1 })
  await until(() => served.logs.some((log) => log.msg === 'export ended'), 'the end of the export')
  expect(await problem(`${served.url}/v1/exports/${made.id}`)).toEqual({ status: 410, code: 'EXPORT_GONE' })
  await served.close()
})

test.each<[string, Partial<ExportLimits>]>([
  ['exports', { exports: 1 }],
  ['descriptors', { descriptors: 30 }],
  ['pinned bytes', { pinnedBytes: 300_000 }],
  ['splits', { splits: 5 }],
])('the limit on %s is kept, and free again after a delete', async (reason, limits) => {
  const served = await serve(SAMPLE_DATA, { limits })
  let made: ExportDescription | undefined
  let refused: { status: number; json: ExportDescription & { code: string } } | undefined
  for (let i = 0; i < 10 && refused === undefined; i++) {
    const answer = await post(served, { keyspace: 'shop', table: 'orders', splits: 4 })
    if (answer.status === 201) made = answer.json
    else refused = answer
  }
  expect(refused).toMatchObject({ status: 503, json: { code: 'OVERLOADED', fields: { reason } } })
  await request(`${served.url}/v1/exports/${made!.id}`, { method: 'DELETE' })
  await makeOrders(served)
  await served.close()
})

test.each<[object, number, string]>([
  [{ table: 'orders' }, 400, 'BAD_PARAMETER'],
  [{ keyspace: 'shop', table: 'nope' }, 404, 'UNKNOWN_TABLE'],
  [{ keyspace: 'shop', table: 'orders', columns: 'nope' }, 400, 'UNKNOWN_COLUMN'],
  [{ keyspace: 'shop', table: 'orders', where: 'status =' }, 400, 'BAD_PREDICATE'],
  [{ keyspace: 'shop', table: 'orders', start: 'x' }, 400, 'BAD_RANGE'],
  [{ keyspace: 'shop', table: 'orders', splits: 0 }, 400, 'BAD_PARAMETER'],
  [{ keyspace: 'shop', table: 'orders', limit: 5 }, 400, 'BAD_PARAMETER'],
  [{ keyspace: 'shop', table: 'orders', where: { a: 1 } }, 400, 'BAD_PARAMETER'],
  [[], 400, 'BAD_REQUEST'],
])('%j is refused', async (body, status, code) => {
  expect(await post(sample, body)).toMatchObject({ status, json: { code } })
})

test('a digest of the bytes comes behind them when asked for', async () => {
  const made = await makeOrders(sample)
  const ask = async (query: string, headers: Record<string, string> = {}) => {
    const response = await request(`${sample.url}/v1/tickets/${made.endpoints[0].ticket}?${query}`, { headers })
    const body = Buffer.from(await response.body.arrayBuffer())
    return { body, trailers: response.trailers as Record<string, string> }
  }
  const plain = await ask('')
  expect(plain.trailers['repr-digest']).toBeUndefined()
  const { positionsOf } = await import('../arrow-stream.ts')
  expect(plain.trailers['sluice-position']).toBe(positionsOf(plain.body).at(-1))
  expect(Number(plain.trailers['sluice-batches'])).toBe(positionsOf(plain.body).length)
  const digest = `sha-256=:${createHash('sha256').update(plain.body).digest('base64')}:`
  expect((await ask('digest=1')).trailers['repr-digest']).toBe(digest)
  expect((await ask('', { 'want-repr-digest': 'sha-512=3, sha-256=10' })).trailers['repr-digest']).toBe(digest)
  expect((await ask('', { 'want-repr-digest': 'sha-256=0' })).trailers['repr-digest']).toBeUndefined()
  const ndjson = await ask('format=ndjson')
  expect(Number(ndjson.trailers['sluice-rows'])).toBe(ndjson.body.toString('utf8').split('\n').length - 1)
})

test('HEAD tells what a GET would give', async () => {
  const made = await makeOrders(sample, { format: 'csv' })
  const response = await request(`${sample.url}/v1/tickets/${made.endpoints[1].ticket}`, { method: 'HEAD' })
  expect(response.headers['content-type']).toMatch(/^text\/csv/)
  expect(response.headers['content-disposition']).toBe('attachment; filename="shop.orders.1.csv"')
  expect(response.headers['sluice-now']).toBe(String(meta.now))
})
