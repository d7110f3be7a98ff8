// Stand-ins for storage and exporters, which count what is pulled from them and what is given back.

import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import type { Exporter } from '../../exporters/exporter.ts'
import type { ExporterFactory } from '../../src/exporter-factory.ts'
import { FORMATS } from '../../src/formats.ts'
import type { PinnedSource, Source } from '../../src/source.ts'
import { SluiceError } from '../../storage/errors.ts'
import type { Batch, BatchSchema, Field } from '../../storage/rows/batch.ts'
import type { Scan, ScanRequest } from '../../storage/scan/scan-request.ts'
import { newScanStats } from '../../storage/scan/scan-request.ts'
import type { TableSchema } from '../../storage/schema/table.ts'

export const quiet = pino({ level: 'silent' })

export interface FakeTable {
  batches: number
  batchBytes: number
  /** Raised in place of the batch of this number, from 0. */
  failAt?: number
  failure?: Error
  /** Raised by `scan` itself, before anything is read. */
  refuse?: SluiceError
}

export interface Counts {
  pins: number
  releases: number
  scans: number
  closes: number
  pulled: number
  batchReleases: number
  /** Batches pulled and not yet released, now and at most. */
  held: number
  mostHeld: number
  requests: ScanRequest[]
}

export interface FakeSource extends Source {
  counts: Counts
}

const ID: Field = { name: 'id', type: { kind: 'bigint' }, layout: { kind: 'int64' }, nullable: false, children: [] }

export function fakeSource(tables: Record<string, FakeTable>): FakeSource {
  const counts: Counts = {
    pins: 0,
    releases: 0,
    scans: 0,
    closes: 0,
    pulled: 0,
    batchReleases: 0,
    held: 0,
    mostHeld: 0,
    requests: [],
  }
  const find = (keyspace: string, table: string): FakeTable => {
    if (keyspace !== 'ks') throw new SluiceError('UNKNOWN_KEYSPACE', { keyspace })
    if (!Object.hasOwn(tables, table)) throw new SluiceError('UNKNOWN_TABLE', { keyspace, table })
    return tables[table]
  }
  return {
    counts,
    keyspaces: async () => [{ name: 'ks', tables: Object.keys(tables).sort() }],
    check: async (keyspace, table) => {
      find(keyspace, table)
    },
    table: async (keyspace, table) => {
      find(keyspace, table)
      return schemaOf(keyspace, table)
    },
    pin: async (keyspace, table) => {
      const found = find(keyspace, table)
      counts.pins++
      return fakePinned(keyspace, table, found, counts)
    },
    reopen: async ({ keyspace, table }) => {
      counts.pins++
      return fakePinned(keyspace, table, find(keyspace, table), counts)
    },
    close: async () => {},
  }
}

function fakePinned(keyspace: string, table: string, found: FakeTable, counts: Counts): PinnedSource {
  let released = false
  return {
    schema: schemaOf(keyspace, table),
    partitioner: 'Murmur3Partitioner',
    sstables: [
      {
        id: '7',
        version: 'nb',
        file: `data/${keyspace}/${table}-1234/nb-7-big-Data.db`,
        codec: 'LZ4Compressor',
        bytes: 1000,
        dataBytes: 2500,
        chunkBytes: 2500,
        rows: 20,
        partitions: 10,
        minTimestamp: '1717200000000000',
        maxTimestamp: '1717200000000999',
        level: 0,
      },
    ],
    files: [],
    descriptors: 4,
    splits: async ({ count = 1 }) =>
      Array.from({ length: count }, (_, i) => ({
        from: i === 0 ? null : `p${i}`,
        to: i === count - 1 ? null : `p${i + 1}`,
        start: i === 0 ? null : String(i),
        end: i === count - 1 ? null : String(i + 1),
        bytes: 100,
        partitions: 10,
      })),
    scan: async (request) => {
      counts.requests.push(request)
      if (found.refuse !== undefined) throw found.refuse
      counts.scans++
      return fakeScan(found, request, counts)
    },
    release: async () => {
      if (!released) counts.releases++
      released = true
    },
  }
}

function fakeScan(table: FakeTable, request: ScanRequest, counts: Counts): Scan {
  const schema: BatchSchema = { fields: [ID], metadata: new Map() }
  const stats = newScanStats()
  stats.dataBytesTotal = table.batches * table.batchBytes
  const limit = request.limit ?? Number.POSITIVE_INFINITY
  let next = 0
  let closed = false
  return {
    schema,
    stats,
    async next() {
      await setImmediate()
      if (request.signal?.aborted) throw new SluiceError('CANCELLED')
      if (table.failAt === next)
        throw table.failure ?? new SluiceError('CORRUPT_SSTABLE', { file: 'Data.db', offset: 42 })
      if (next >= table.batches || next >= limit) return undefined
      counts.pulled++
      counts.mostHeld = Math.max(counts.mostHeld, ++counts.held)
      stats.dataBytesRead += table.batchBytes
      stats.rowsEmitted++
      return fakeBatch(schema, next++, table.batchBytes, counts)
    },
    async close() {
      if (!closed) counts.closes++
      closed = true
    },
  }
}

function fakeBatch(schema: BatchSchema, n: number, bytes: number, counts: Counts): Batch {
  const values = Buffer.alloc(bytes, 97 + (n % 26))
  let released = false
  return {
    schema,
    rows: 1,
    columns: [{ field: ID, length: 1, nullCount: 0, validity: null, empty: null, offsets: null, values, children: [] }],
    position: `p${n}`,
    bytes,
    release() {
      if (released) throw new Error('released twice')
      released = true
      values.fill(33) // as a pool that hands the buffer to the next batch would
      counts.held--
      counts.batchReleases++
    },
  }
}

/** Head `<`, of each batch its values in two parts over its own buffer, tail `>`. */
export const fakeExporter: ExporterFactory = (format) => {
  const exporter: Exporter = {
    mediaType: FORMATS[format].accepts[0],
    extension: `.${format}`,
    head: () => [Buffer.from('<')],
    *batch(batch) {
      const { values } = batch.columns[0]
      const half = values.length >> 1
      yield values.subarray(0, half)
      yield values.subarray(half)
    },
    tail: () => [Buffer.from('>')],
  }
  return exporter
}

/** What the fakes send for a table. */
export function expectedBody(table: FakeTable): string {
  let body = '<'
  for (let n = 0; n < table.batches; n++) body += String.fromCharCode(97 + (n % 26)).repeat(table.batchBytes)
  return `${body}>`
}

function schemaOf(keyspace: string, table: string): TableSchema {
  return {
    keyspace,
    table,
    id: '0123456789abcdef0123456789abcdef',
    partitionKey: [{ name: 'id', kind: 'partition_key', position: 0, type: { kind: 'bigint' }, reversed: false }],
    clustering: [],
    statics: [],
    regulars: [{ name: 'Value', kind: 'regular', position: -1, type: { kind: 'text' }, reversed: false }],
    dropped: [],
    compact: 'none',
    isCounter: false,
    origin: 'system_schema',
    warnings: [],
  }
}

/** Waits until the condition holds, for a minute at most. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const end = Date.now() + 60_000
  while (!condition()) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
