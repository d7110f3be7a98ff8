// Streaming against paging against paging one page ahead (CASSANDRA-9259, CASSANDRA-11521): the same rows of one ticket by requests of
// 5,000 rows each, by the same where the next page is asked for before the one at hand is worked on, and by one request. The consumer
// looks at every value, as one that does something with them would.

import type { RecordBatch } from 'apache-arrow'
import { request } from 'undici'
import { createExport } from '../../src/client/index.ts'
import { ipcMessages } from '../../src/client/ipc-messages.ts'
import { recordBatchOf } from '../../src/client/record-batches.ts'
import { ensureDataset } from './dataset.ts'
import { best, median, table } from './figures.ts'
import { startServer } from './server-process.ts'

const NOW = 1_800_000_000
const PAGE_ROWS = 5000
const SETS = [
  { name: 'narrow', partition: '100 B' },
  { name: 'pages10k', partition: '10 KB' },
  { name: 'pages100k', partition: '100 KB' },
]

interface Page {
  batches: RecordBatch[]
  rows: number
  position: string
}

async function page(url: string, after: string): Promise<Page> {
  const query = new URLSearchParams({ limit: String(PAGE_ROWS) })
  if (after !== '') query.set('after', after)
  const result: Page = { batches: [], rows: 0, position: after }
  let schema = new Uint8Array(0)
  for await (const { kind, bytes, rows, position } of ipcMessages((await request(`${url}?${query}`)).body)) {
    if (kind === 'schema') schema = bytes as Uint8Array<ArrayBuffer>
    else {
      result.batches.push(recordBatchOf(schema, bytes))
      result.rows += rows
      result.position = position
    }
  }
  return result
}

async function byPages(url: string): Promise<number> {
  let rows = 0
  for (let at = await page(url, ''); at.rows > 0; at = await page(url, at.position)) {
    at.batches.forEach(consume)
    rows += at.rows
  }
  return rows
}

async function byPagesAhead(url: string): Promise<number> {
  let rows = 0
  for (let at = await page(url, ''); at.rows > 0; ) {
    const next = page(url, at.position)
    at.batches.forEach(consume)
    rows += at.rows
    at = await next
  }
  return rows
}

async function byStream(url: string): Promise<number> {
  let rows = 0
  let schema = new Uint8Array(0)
  for await (const message of ipcMessages((await request(url)).body)) {
    if (message.kind === 'schema') schema = message.bytes as Uint8Array<ArrayBuffer>
    else {
      consume(recordBatchOf(schema, message.bytes))
      rows += message.rows
    }
  }
  return rows
}

let seen = 0

/** Every byte of every column, summed: about as little as a consumer can do. */
function consume(batch: RecordBatch): void {
  for (const { values, valueOffsets } of batch.data.children) {
    const bytes = values as ArrayLike<number>
    if (valueOffsets !== undefined) for (let i = 0; i < valueOffsets.length; i++) seen += Number(valueOffsets[i])
    for (let i = 0; i < bytes.length; i++) seen += Number(bytes[i])
  }
}

export async function pagingBench(rounds: number): Promise<void> {
  const rows: string[][] = []
  for (const { name, partition } of SETS) {
    const {
      data,
      schema,
      keyspace,
      table: tableName,
    } = ensureDataset(name, 'da', name === 'narrow' ? 2_000_000 : undefined)
    const server = await startServer(['--data', data, '--schema', schema, '--workers', '1'])
    const made = await createExport({ url: server.url }, { keyspace, table: tableName, splits: 1, now: NOW })
    const url = `${server.url}/v1/tickets/${made.description.endpoints[0].ticket}`
    const ways = [byPages, byPagesAhead, byStream]
    const times = ways.map((): number[] => [])
    const counts = new Set<number>()
    for (let round = -1; round < rounds; round++) {
      for (const [i, way] of ways.entries()) {
        const begun = performance.now()
        counts.add(await way(url))
        if (round >= 0) times[i].push((performance.now() - begun) / 1000)
      }
    }
    if (counts.size !== 1) throw new Error(`${name}: ${[...counts].join(', ')} rows`)
    const [count] = counts
    const cell = (i: number) =>
      `${(count / best(times[i]) / 1e6).toFixed(2)} (${(best(times[0]) / best(times[i])).toFixed(1)})`
    rows.push([partition, String(count), cell(0), cell(1), cell(2), (median(times[0]) / median(times[2])).toFixed(1)])
    await server.stop()
  }
  table(['partition', 'rows', 'pages, M rows/s', 'pages one ahead', 'one stream', 'stream over pages (median)'], rows)
  if (seen === 0) throw new Error('nothing was consumed')
}
