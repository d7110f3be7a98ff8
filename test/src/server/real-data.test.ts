// The server over SSTables that real nodes wrote: whole answers, split ones, damaged ones.

import { cp, mkdtemp, open, readdir, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tableFromIPC } from 'apache-arrow'
import { request } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createExporter } from '../../../exporters/formats.ts'
import { openSource } from '../../../src/open-source.ts'
import type { SluiceServer } from '../../../src/server/create-server.ts'
import { createServer } from '../../../src/server/create-server.ts'
import type { Source } from '../../../src/source.ts'
import { goldenSet } from '../../corpus/golden.ts'
import type { SampleMeta } from '../../corpus/sample.ts'
import { SAMPLE_DATA, sampleLines, sampleMeta } from '../../corpus/sample.ts'
import { quiet } from '../fakes.ts'

interface Served {
  url: string
  close(): Promise<void>
}

async function serve(data: string): Promise<Served> {
  const source: Source = await openSource({ data: [data] })
  const server: SluiceServer = createServer({ source, createExporter, logger: quiet })
  const url = await server.listen('127.0.0.1', 0)
  return {
    url,
    async close() {
      await server.close(0)
      await source.close()
    },
  }
}

let meta: SampleMeta
let sample: Served
beforeAll(async () => {
  meta = await sampleMeta()
  sample = await serve(SAMPLE_DATA)
})
afterAll(() => sample.close())

const rows = async (table: string, query = '') =>
  request(`${sample.url}/v1/keyspaces/shop/tables/${table}/rows${query.startsWith('.') ? query : `?${query}`}`)

async function ndjson(table: string, query: string): Promise<string[]> {
  const response = await request(`${sample.url}/v1/keyspaces/shop/tables/${table}/rows.ndjson?now=${meta.now}&${query}`)
  expect(response.statusCode).toBe(200)
  return (await response.body.text()).split('\n').slice(0, -1)
}

const parsed = (lines: string[]) => lines.map((line) => JSON.parse(line) as Record<string, unknown>)

test.each(['orders', 'sensor_readings', 'products'])(
  'the rows of %s are those that Cassandra answered',
  async (table) => {
    const expected = await sampleLines(`shop.${table}`, 'ndjson')
    expect(parsed(await ndjson(table, ''))).toEqual(parsed(expected))
  },
)

test('any cut of the ring gives every row once, in the same order', async () => {
  const whole = await ndjson('orders', '')
  const cuts = ['-6000000000000000000', '-1', '0', '5', '7000000000000000000']
  const ends = [...cuts.map((cut) => `end=${cut}`), '']
  const starts = ['', ...cuts.map((cut) => `start=${cut}`)]
  const parts: string[] = []
  for (const [i, start] of starts.entries()) parts.push(...(await ndjson('orders', `${start}&${ends[i]}`)))
  expect(parts).toEqual(whole)
})

test('the same range at the same moment gives the same bytes', async () => {
  const read = async () =>
    Buffer.from(await (await rows('sensor_readings', `now=${meta.now}&start=-5&batch_rows=100`)).body.arrayBuffer())
  const first = await read()
  expect(first.length).toBeGreaterThan(10_000)
  expect(first.equals(await read())).toBe(true)
})

test('an Arrow stream has the batches asked for', async () => {
  const response = await rows('orders', `now=${meta.now}&batch_rows=1000&columns=customer_id,total`)
  const table = tableFromIPC(Buffer.from(await response.body.arrayBuffer()))
  expect(table.numRows).toBe(meta.tables['shop.orders'].rows)
  expect(table.batches.map((batch) => batch.numRows).slice(0, -1)).toEqual(
    Array(Math.floor(table.numRows / 1000)).fill(1000),
  )
  expect(table.schema.fields.map(({ name }) => name)).toEqual(['customer_id', 'total'])
})

test('batches end at the bytes asked for, over a ticket too', async () => {
  const body = { keyspace: 'shop', table: 'orders', now: meta.now, batch_bytes: 10_000, splits: 1 }
  const made = await request(`${sample.url}/v1/exports`, { method: 'POST', body: JSON.stringify(body) })
  const { endpoints } = (await made.body.json()) as { endpoints: { ticket: string }[] }
  const ticket = await request(`${sample.url}/v1/tickets/${endpoints[0].ticket}`)
  for (const response of [await rows('orders', `now=${meta.now}&batch_bytes=10000`), ticket]) {
    const table = tableFromIPC(Buffer.from(await response.body.arrayBuffer()))
    expect(table.numRows).toBe(meta.tables['shop.orders'].rows)
    const perRow = table.data.reduce((sum, { byteLength }) => sum + byteLength, 0) / table.numRows
    expect(table.batches.length).toBeGreaterThan(10)
    for (const { numRows } of table.batches.slice(0, -1)) {
      expect(numRows * perRow).toBeGreaterThan(7000)
      expect(numRows * perRow).toBeLessThan(14_000)
    }
  }
  const refused = await rows('orders', 'batch_bytes=200000000')
  expect(refused.statusCode).toBe(507)
  expect(await refused.body.json()).toMatchObject({
    code: 'VALUE_TOO_LARGE',
    fields: { hint: expect.stringContaining('batch_bytes') },
  })
})

test('a compressed Arrow stream is smaller and reads the same', async () => {
  const { compressionRegistry, CompressionType } = await import('apache-arrow')
  const { decompressFrameSync } = await import('lz4-napi')
  compressionRegistry.set(CompressionType.LZ4_FRAME, {
    decode: (bytes: Uint8Array) => decompressFrameSync(Buffer.from(bytes)),
  })
  const read = async (compression: string) => {
    const response = await rows('orders', `now=${meta.now}&compression=${compression}&columns=customer_id`)
    return Buffer.from(await response.body.arrayBuffer())
  }
  const [plain, packed] = [await read('none'), await read('lz4')]
  expect(packed.length).toBeLessThan(plain.length)
  const values = (bytes: Buffer) => [...tableFromIPC(bytes).getChild('customer_id')!]
  expect(values(packed)).toEqual(values(plain))
})

test('CSV has a header and a line for each row', async () => {
  const text = await (await rows('orders', `.csv?now=${meta.now}&columns=customer_id,status&null=NULL`)).body.text()
  const lines = text.split('\r\n').slice(0, -1)
  expect(lines[0]).toBe('customer_id,status')
  expect(lines.length).toBe(meta.tables['shop.orders'].rows + 1)
})

test.each([
  ['start=x', 'BAD_RANGE'],
  ['columns=nope', 'UNKNOWN_COLUMN'],
  ['columns=items,,status', 'BAD_SELECTOR'],
  ['after=nonsense', 'BAD_POSITION'],
  ['where=status%20=', 'BAD_PREDICATE'],
  ['where=nope=1', 'UNKNOWN_COLUMN'],
  ['decimal=decimal128:99', 'BAD_PARAMETER'],
  ['format=csv&null=%22', 'BAD_PARAMETER'],
])('%s is refused', async (query, code) => {
  const response = await rows('orders', query)
  expect(response.statusCode).toBe(400)
  expect(await response.body.json()).toMatchObject({ code })
})

test('a predicate picks the rows that Cassandra would', async () => {
  const all = parsed(await sampleLines('shop.orders', 'ndjson'))
  const [{ customer_id: customer, order_time: time }] = all
  const query = (where: string) => ndjson('orders', `where=${encodeURIComponent(where)}`)
  const ofCustomer = all.filter((row) => row.customer_id === customer)
  expect(parsed(await query(`customer_id = ${customer}`))).toEqual(ofCustomer)
  expect(parsed(await query(`customer_id = ${customer} AND order_time >= '${time}'`))).toEqual(
    ofCustomer.filter((row) => String(row.order_time) >= String(time)),
  )
  const paid = all.filter((row) => row.status === 'paid')
  expect(parsed(await query("status = 'paid'"))).toEqual(paid)
  expect(paid.length).toBeGreaterThan(10)
})

test('distinct gives each partition once', async () => {
  const all = parsed(await sampleLines('shop.orders', 'ndjson'))
  const customers = new Map(all.map((row) => [row.customer_id, row.customer_name]))
  const rows = parsed(await ndjson('orders', 'distinct&columns=customer_id,customer_name'))
  expect(rows.map((row) => [row.customer_id, row.customer_name])).toEqual([...customers])
})

test('a table is described from its SSTables', async () => {
  const response = await request(`${sample.url}/v1/keyspaces/shop/tables/orders`)
  const table = (await response.body.json()) as { sstables: { rows: number }[]; columns: { name: string }[] }
  expect(table).toMatchObject({ origin: 'system_schema', partitioner: 'Murmur3Partitioner', warnings: [] })
  expect(table.columns.slice(0, 4)).toEqual([
    { name: 'customer_id', kind: 'partition_key', position: 0, order: null, cql_type: 'bigint', arrow_type: 'int64' },
    {
      name: 'order_time',
      kind: 'clustering',
      position: 0,
      order: 'desc',
      cql_type: 'timestamp',
      arrow_type: 'timestamp[ms, tz=UTC]',
    },
    {
      name: 'order_id',
      kind: 'clustering',
      position: 1,
      order: 'asc',
      cql_type: 'uuid',
      arrow_type: 'extension<arrow.uuid>',
    },
    { name: 'customer_name', kind: 'static', position: null, order: null, cql_type: 'text', arrow_type: 'string' },
  ])
  expect(table.sstables).toHaveLength(3)
  for (const sstable of table.sstables) {
    expect(sstable).toMatchObject({ version: 'da', codec: expect.stringMatching(/Compressor$/), level: 0 })
    expect(sstable.rows).toBeGreaterThan(0)
  }
})

test('every table of a node is described, or refused by name', async () => {
  const golden = await serve(join(await goldenSet('da'), 'data'))
  const { keyspaces } = (await (await request(`${golden.url}/v1/keyspaces`)).body.json()) as {
    keyspaces: { name: string; tables: string[] }[]
  }
  let described = 0
  for (const { name, tables } of keyspaces) {
    for (const table of tables) {
      const response = await request(`${golden.url}/v1/keyspaces/${name}/tables/${table}`)
      const body = (await response.body.json()) as { table: string; columns: { arrow_type: string | null }[] }
      expect(response.statusCode).toBe(200)
      expect(body.table).toBe(table)
      if (!('refused' in body)) for (const column of body.columns) expect(column.arrow_type).not.toBeNull()
      described++
    }
  }
  expect(described).toBeGreaterThan(80)
  await golden.close()
})

test('a name with capitals is found as it is, and not in lower case', async () => {
  const golden = await serve(join(await goldenSet('da'), 'data'))
  const status = async (path: string) => {
    const response = await request(`${golden.url}/v1/keyspaces/${path}/rows.ndjson`)
    await response.body.dump()
    return response.statusCode
  }
  expect(await status('CaseKs/tables/MixedCase')).toBe(200)
  expect(await status('caseks/tables/mixedcase')).toBe(404)
  await golden.close()
})

/** A copy of the sample whose orders are damaged by `damage`, served. */
async function damaged(damage: (directory: string) => Promise<void>): Promise<Served> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-damaged-'))
  await cp(SAMPLE_DATA, folder, { recursive: true })
  const shop = join(folder, 'shop')
  const orders = (await readdir(shop)).find((name) => name.startsWith('orders-'))!
  await damage(join(shop, orders))
  const served = await serve(folder)
  return {
    url: served.url,
    async close() {
      await served.close()
      await rm(folder, { recursive: true })
    },
  }
}

async function largest(directory: string, component: string): Promise<{ path: string; size: number }> {
  const files = (await readdir(directory))
    .filter((name) => name.endsWith(component))
    .map((name) => join(directory, name))
  const sized = await Promise.all(files.map(async (path) => ({ path, size: (await stat(path)).size })))
  return sized.reduce((a, b) => (a.size >= b.size ? a : b))
}

async function flip(path: string, offset: number): Promise<void> {
  const file = await open(path, 'r+')
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, offset)
  byte[0] ^= 0x10
  await file.write(byte, 0, 1, offset)
  await file.close()
}

test.each<[string, (directory: string) => Promise<void>, RegExp]>([
  ['a byte at the start of Data.db', async (d) => flip((await largest(d, 'Data.db')).path, 100), /^CHECKSUM_MISMATCH$/],
  [
    'a byte in Statistics.db',
    async (d) => flip((await largest(d, 'Statistics.db')).path, 200),
    /^(CHECKSUM_MISMATCH|CORRUPT_SSTABLE)$/,
  ],
  [
    'Data.db cut short',
    async (d) => {
      const { path, size } = await largest(d, 'Data.db')
      await truncate(path, size - 1000)
    },
    /^(CHECKSUM_MISMATCH|CORRUPT_SSTABLE)$/,
  ],
  ['Statistics.db gone', async (d) => rm((await largest(d, 'Statistics.db')).path), /^MISSING_COMPONENT$/],
  ['CompressionInfo.db gone', async (d) => rm((await largest(d, 'CompressionInfo.db')).path), /^MISSING_COMPONENT$/],
])('%s is a problem that names the file, before any row', async (_, damage, code) => {
  const served = await damaged(damage)
  const response = await request(`${served.url}/v1/keyspaces/shop/tables/orders/rows.ndjson`)
  expect(response.statusCode).toBe(500)
  const problem = (await response.body.json()) as { code: string; fields: { file?: string } }
  expect(problem.code).toMatch(code)
  expect(problem.fields.file).toMatch(/orders-.*\.db$/)
  // The other tables are none the worse.
  const other = await request(`${served.url}/v1/keyspaces/shop/tables/products/rows.ndjson?now=${meta.now}`)
  expect((await other.body.text()).split('\n')).toHaveLength(meta.tables['shop.products'].rows + 1)
  await served.close()
})

test('damage further on cuts the stream, after rows that are right', async () => {
  const served = await damaged(async (directory) => {
    const { path, size } = await largest(directory, 'Data.db')
    await flip(path, size - 100)
  })
  const response = await request(
    `${served.url}/v1/keyspaces/shop/tables/orders/rows.ndjson?now=${meta.now}&batch_rows=10`,
  )
  expect(response.statusCode).toBe(200)
  let text = ''
  const whole = (async () => {
    for await (const part of response.body) text += part
  })()
  await expect(whole).rejects.toThrow()
  const received = text.split('\n').slice(0, -1)
  const expected = await sampleLines('shop.orders', 'ndjson')
  expect(received.length).toBeGreaterThan(0)
  expect(received.length).toBeLessThan(expected.length)
  expect(parsed(received)).toEqual(parsed(expected.slice(0, received.length)))
  await served.close()
})
