// What a steady scan allocates on the JavaScript heap, per row: a count, not a time, by V8's sampling profiler, which counts what was
// collected meanwhile too. The SSTables are written here, as the golden table
// `compress_none` has them (format nb, its schema and Statistics.db) but large enough that opening them counts for nothing.

import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { murmur3 } from '../../../storage/ring/murmur3.ts'
import { Catalog } from '../../../storage/scan/catalog.ts'
import type { ScannedTable } from '../../../storage/scan/pinned-table.ts'
import { externalBytes, sampleAllocations, scanToArrow } from '../../bench/heap.ts'
import { goldenSet } from '../../corpus/golden.ts'

const ROWS = 300_000
const TABLE = 'compress_none'
/** Values of r, x and z. */
const VALUES = ['sierra', 'the quick brown fox jumps over it', 'tango'].map((value) => Buffer.from(value))
const made: string[] = []

afterAll(() => Promise.all(made.map((directory) => rm(directory, { recursive: true }))))

/** Partition keys 0..count-1 in the order of their tokens, as Data.db has them. */
function keysInTokenOrder(count: number): number[] {
  const key = Buffer.alloc(4)
  const hash = new Int32Array(4)
  const tokens = Array.from({ length: count }, (_, i) => {
    key.writeInt32BE(i)
    murmur3(key, 0, 4, hash)
    return { i, high: hash[0], low: hash[1] >>> 0 }
  })
  tokens.sort((a, b) => a.high - b.high || a.low - b.low)
  return tokens.map(({ i }) => i)
}

/** Data.db of `(pk int, c int, a int, r text, x blob, z text)`: UnfilteredSerializer, no row of it special. */
function dataFile(rowsPerPartition: number): Buffer {
  const bytes = Buffer.alloc(ROWS * 96)
  let at = 0
  for (const pk of keysInTokenOrder(ROWS / rowsPerPartition)) {
    at = bytes.writeUInt16BE(4, at)
    at = bytes.writeInt32BE(pk, at)
    at = bytes.writeInt32BE(0x7fffffff, at) // not deleted
    at = bytes.writeBigInt64BE(-(2n ** 63n), at)
    for (let c = 0; c < rowsPerPartition; c++) {
      at = bytes.writeUInt8(0x24, at) // HAS_TIMESTAMP, HAS_ALL_COLUMNS
      at = bytes.writeUInt8(0, at) // no clustering value is null or empty
      at = bytes.writeInt32BE(c, at)
      const size = at++
      at = bytes.writeUInt8(0, at) // size of the row before: nobody asks
      at = bytes.writeUInt8(c & 63, at) // write time
      at = bytes.writeUInt8(0x08, at) // USE_ROW_TIMESTAMP
      at = bytes.writeInt32BE(c, at)
      for (const value of VALUES) {
        at = bytes.writeUInt8(0x08, at)
        at = bytes.writeUInt8(value.length, at)
        at += value.copy(bytes, at)
      }
      bytes.writeUInt8(at - size - 1, size)
    }
    at = bytes.writeUInt8(0x01, at) // END_OF_PARTITION
  }
  return bytes.subarray(0, at)
}

/** A data directory with one SSTable of so many rows a partition, and the schema of the golden set. */
async function writeTable(rowsPerPartition: number): Promise<{ data: string; schemaFile: string }> {
  const golden = await goldenSet('nb')
  const tables = join(golden, 'data', 'golden')
  const name = (await readdir(tables)).find((d) => d.startsWith(`${TABLE}-`))!
  const data = await mkdtemp(join(tmpdir(), 'sluice-allocation-'))
  made.push(data)
  const directory = join(data, 'golden', name)
  await mkdir(directory, { recursive: true })
  for (const component of ['Statistics.db', 'Index.db', 'Summary.db', 'Filter.db']) {
    await cp(join(tables, name, `nb-1-big-${component}`), join(directory, `nb-1-big-${component}`))
  }
  await writeFile(join(directory, 'nb-1-big-Data.db'), dataFile(rowsPerPartition))
  return { data, schemaFile: join(golden, 'schema.cql') }
}

test.each([1, 10_000])('a scan of %i rows a partition allocates less than 8 bytes a row', async (rowsPerPartition) => {
  const { data, schemaFile } = await writeTable(rowsPerPartition)
  const catalog = await Catalog.open({ data: [data], schemaFile })
  const pinned = await catalog.pin('golden', TABLE)
  // Statistics.db is of the golden table, with as many partitions as that has.
  const [sstable] = pinned.sstables
  const sizes = sstable.statistics.partitionSizes
  const partitionSizes = { ...sizes, counts: sizes.counts.slice(0, 0) }
  const statistics = { ...sstable.statistics, partitionSizes }
  const scanned: ScannedTable = {
    schema: pinned.schema,
    partitioner: pinned.partitioner,
    sstables: [{ ...sstable, statistics }],
    retain() {},
    async release() {},
  }
  const now = 1_800_000_000
  for (let warm = 0; warm < 3; warm++) await scanToArrow(scanned, now)
  const before = externalBytes()
  let rows = 0
  const { bytes, places } = await sampleAllocations(async () => {
    rows = await scanToArrow(scanned, now)
  })
  for (let more = 0; more < 3; more++) await scanToArrow(scanned, now)
  const after = externalBytes()
  await pinned.release()
  await catalog.close()
  expect(rows).toBe(ROWS)
  const most = [...places].sort(([, a], [, b]) => b - a).slice(0, 5)
  expect(bytes / rows, JSON.stringify(most)).toBeLessThan(8)
  // Columns and windows are used again from scan to scan: nothing more is taken outside the heap.
  expect(after - before).toBeLessThan(1 << 20)
})
