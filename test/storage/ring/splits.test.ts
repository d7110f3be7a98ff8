// Splits over indexes made of plain lists, where the true bytes of every split can be counted.
import { describe, expect, test } from 'vitest'
import { comparePrefixes } from '../../../storage/ring/clustering-prefix.ts'
import { partitionerByName, type Token, tokenOf } from '../../../storage/ring/partitioner.ts'
import { comparePositions, keyPosition, type Position } from '../../../storage/ring/position.ts'
import { planSplits, type Split, type SplitSource } from '../../../storage/ring/splits.ts'
import { parseTokenRange, type TokenInterval, WHOLE_RING } from '../../../storage/ring/token-range.ts'
import type { ColumnSchema } from '../../../storage/schema/table.ts'
import type { PartitionEntry, PartitionIndex } from '../../../storage/sstable/index.ts'
import { placeBefore } from '../../../storage/sstable/partition-place.ts'

const partitioner = partitionerByName('Murmur3Partitioner', { kind: 'bigint' })
const clustering: ColumnSchema[] = [
  { name: 'c', kind: 'clustering', position: 0, type: { kind: 'int' }, reversed: false },
]
const compare = (a: Position, b: Position) =>
  comparePositions(partitioner, (x, y) => comparePrefixes(clustering, x, y), a, b)

function random(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const bigint = (n: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(n))
  return new Uint8Array(bytes)
}
const int = (n: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(n)
  return new Uint8Array(bytes)
}

interface Row {
  c: number
  bytes: number
}
interface Partition {
  key: Uint8Array
  rows: Row[]
}
const BLOCK = 64 * 1024

/** An SSTable as an index sees it. `keysKnown`: as in big; else as in bti, where narrow partitions have no key. */
class ListIndex implements PartitionIndex {
  readonly partitions: Partition[]
  readonly dataLength: number
  readonly #entries: PartitionEntry[] = []
  readonly #places: Position[]

  constructor(partitions: Partition[], keysKnown: boolean) {
    this.partitions = partitions.sort((a, b) =>
      compare(keyPosition(partitioner, a.key, [], false), keyPosition(partitioner, b.key, [], false)),
    )
    let dataOffset = 0
    for (const [rank, { key, rows }] of this.partitions.entries()) {
      const size = rows.reduce((sum, row) => sum + row.bytes, 0)
      const wide = size > BLOCK
      const known = keysKnown || wide
      this.#entries.push({
        dataOffset,
        key: known ? key : null,
        certain: true,
        rank,
        wide,
        rowIndexAt: 0,
        rowIndexSize: 0,
      })
      dataOffset += size
    }
    this.dataLength = dataOffset
    this.#places = this.partitions.map(({ key }) => keyPosition(partitioner, key, [], false))
  }

  /** Bytes before a position, as they are. */
  bytesBefore(position: Position | null): number {
    if (position === null) return this.dataLength
    let bytes = 0
    for (const { key, rows } of this.partitions) {
      for (const { c, bytes: own } of rows) {
        if (compare(keyPosition(partitioner, key, [int(c)], true), position) <= 0) bytes += own
      }
    }
    return bytes
  }

  async partitionCount() {
    return this.partitions.length
  }
  async seek(position: Position) {
    const i = this.#places.findIndex(
      (_, j) => compare(keyPosition(partitioner, this.partitions[j].key, [], true), position) > 0,
    )
    return this.#entries[i] ?? null
  }
  async find(): Promise<null> {
    throw new Error('not asked for')
  }
  async endOffset(position: Position) {
    return (await this.seek(position))?.dataOffset ?? this.dataLength
  }
  async atOffset(dataOffset: number) {
    return this.#entries.findLast((e) => e.dataOffset <= dataOffset) ?? null
  }
  async after(entry: PartitionEntry) {
    return this.#entries[this.#entries.indexOf(entry) + 1] ?? null
  }
  async boundaries(from: number, to: number, count: number) {
    const found = new Set<number>()
    for (let k = 1; k <= count; k++) {
      const i = this.#entries.findLastIndex((e) => e.dataOffset <= from + ((to - from) * k) / (count + 1))
      for (const j of [i, i + 1]) {
        const at = this.#entries[j]?.dataOffset
        if (at !== undefined && at > from && at < to) found.add(j)
      }
    }
    return [...found]
      .sort((a, b) => a - b)
      .map((i) => {
        const entry = this.#entries[i]
        return {
          position: placeBefore(partitioner, this.partitions[i].key),
          dataOffset: entry.dataOffset,
          rank: i,
          entry,
        }
      })
  }
  async rowIndex(entry: PartitionEntry) {
    const { rows } = this.partitions[this.#entries.indexOf(entry)]
    const blocks: {
      start: number
      end: number
      open: null
      place: { clustering: Uint8Array[]; after: boolean } | null
    }[] = []
    let at = entry.dataOffset
    let start = at
    for (const [i, row] of rows.entries()) {
      at += row.bytes
      if (at - start < BLOCK && i < rows.length - 1) continue
      blocks.push({ start, end: at, open: null, place: null })
      start = at
    }
    // The place before each block but the first: behind the last row of the block before.
    let row = 0
    let offset = entry.dataOffset
    for (const block of blocks) {
      while (offset < block.start) offset += rows[row++].bytes
      if (row > 0) block.place = { clustering: [int(rows[row - 1].c)], after: true }
    }
    return {
      blockCount: blocks.length,
      partitionStart: entry.dataOffset,
      firstRow: null,
      deletion: null,
      seek: async () => null,
      atOffset: async (o: number) => blocks.findLast((b) => b.start <= o) ?? blocks[0],
      cuts: async (count: number) => {
        const size = at - entry.dataOffset
        const chosen = new Set<number>()
        for (let k = 1; k <= count; k++) {
          chosen.add(blocks.findLastIndex((b) => b.start <= entry.dataOffset + (size * k) / (count + 1)))
        }
        chosen.delete(0)
        return [...chosen].sort((a, b) => a - b).map((i) => blocks[i])
      },
    }
  }
}

function partitions(
  count: number,
  rowsOf: (i: number) => number,
  rowBytes: number,
  seed: number,
  first = 0,
): Partition[] {
  const next = random(seed)
  return Array.from({ length: count }, (_, i) => ({
    key: bigint(first + i),
    rows: Array.from({ length: rowsOf(i) }, (_, c) => ({ c, bytes: Math.ceil(rowBytes * (0.5 + next())) })),
  }))
}

function indexes(tables: Partition[][], keysKnown: boolean): { sources: SplitSource[]; lists: ListIndex[] } {
  const lists = tables.map((table) => new ListIndex(table, keysKnown))
  return { lists, sources: lists.map((index) => ({ index, dataLength: index.dataLength })) }
}

const plan = (sources: SplitSource[], asked: { count?: number; targetBytes?: number }, intervals = WHOLE_RING) =>
  planSplits({ partitioner, clustering, sources, intervals, ...asked })

/** True bytes of each split, and that the splits are a chain over each interval. */
function check(splits: Split[], lists: ListIndex[], intervals: readonly TokenInterval[]): number[] {
  const place = (token: Token | null): Position | null => token && { kind: 'token', token }
  let at = 0
  for (const { start, end } of intervals) {
    expect(splits[at].start).toEqual(place(start))
    while (JSON.stringify(splits[at].end) !== JSON.stringify(place(end))) {
      const [here, next] = [splits[at], splits[at + 1]]
      expect(next.start).toBe(here.end)
      if (here.start !== null) expect(compare(here.start, here.end!)).toBeLessThan(0)
      at++
    }
    at++
  }
  expect(at).toBe(splits.length)
  return splits.map(({ start, end }) =>
    lists.reduce((sum, list) => sum + list.bytesBefore(end) - (start === null ? 0 : list.bytesBefore(start)), 0),
  )
}

const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length

describe.each([true, false])('splits (keys known: %s)', (keysKnown) => {
  test.each([
    ['of one SSTable of narrow partitions', [partitions(3000, () => 1, 100, 1)]],
    ['of four overlapping SSTables', [0, 1, 2, 3].map((i) => partitions(700, () => 1 + (i % 2), 100, i))],
    [
      'of SSTables of very different size',
      [partitions(3000, () => 1, 100, 1), partitions(30, () => 1, 100, 2, 5000), partitions(300, () => 3, 50, 3, 9000)],
    ],
    ['with one huge partition', [partitions(2000, (i) => (i === 77 ? 4000 : 1), 500, 4)]],
    [
      'with a huge partition in three SSTables',
      [0, 1, 2].map((s) => partitions(500, (i) => (i === 7 ? 1500 : 1), 500, s)),
    ],
    ['of a huge partition alone', [partitions(1, () => 4000, 500, 6), partitions(1, () => 1000, 500, 7)]],
    [
      'of sizes by a power law',
      [
        partitions(300, (i) => Math.ceil(6000 / (i + 1)), 300, 8),
        partitions(300, (i) => Math.ceil(3000 / (i + 1)), 300, 9),
      ],
    ],
  ])('%s are of about equal bytes', async (_, tables) => {
    const { lists, sources } = indexes(tables, keysKnown)
    for (const count of [2, 3, 8]) {
      const splits = await plan(sources, { count })
      const bytes = check(splits, lists, WHOLE_RING)
      expect(splits).toHaveLength(count)
      expect(Math.max(...bytes) / mean(bytes)).toBeLessThan(1.3)
      expect(Math.min(...bytes) / mean(bytes)).toBeGreaterThan(0.6)
      expect(splits.reduce((sum, s) => sum + s.bytes, 0)).toBe(lists.reduce((sum, l) => sum + l.dataLength, 0))
      for (const [i, { bytes: estimated }] of splits.entries()) {
        expect(Math.abs(estimated - bytes[i]) / mean(bytes)).toBeLessThan(0.2)
      }
    }
  })

  test('of a part of the ring, also one that wraps', async () => {
    const { lists, sources } = indexes(
      [0, 1].map((i) => partitions(900, () => 1, 100, i)),
      keysKnown,
    )
    for (const [start, end] of [
      ['-4000000000000000000', '5000000000000000000'],
      ['8000000000000000000', '-2000000000000000000'],
      ['0', '1000'],
    ]) {
      const intervals = parseTokenRange(partitioner, start, end)
      const splits = await plan(sources, { count: 6 }, intervals)
      const bytes = check(splits, lists, intervals)
      if (mean(bytes) > 2000) expect(Math.max(...bytes) / mean(bytes)).toBeLessThan(1.35)
    }
  })
})

test('by target bytes', async () => {
  const { lists, sources } = indexes([partitions(2000, () => 1, 100, 3)], true)
  const splits = await plan(sources, { targetBytes: 20_000 })
  expect(splits).toHaveLength(Math.ceil(lists[0].dataLength / 20_000))
  expect(await plan(sources, { targetBytes: 1e12 })).toHaveLength(1)
  expect(await plan(sources, {})).toEqual([{ start: null, end: null, bytes: lists[0].dataLength, partitions: 2000 }])
})

test('partitions are counted about right', async () => {
  const { lists, sources } = indexes([partitions(2000, (i) => 1 + (i % 3), 100, 3)], true)
  const splits = await plan(sources, { count: 5 })
  for (const { start, end, partitions: estimated } of splits) {
    const held = lists[0].partitions.filter(({ key }) => {
      const token: Position = { kind: 'token', token: tokenOf(partitioner, key) }
      return (start === null || compare(token, start) > 0) && (end === null || compare(token, end) <= 0)
    }).length
    expect(Math.abs(estimated - held)).toBeLessThanOrEqual(2)
  }
})

test('of nothing are one, without bytes', async () => {
  expect(await plan([], { count: 5 })).toEqual([{ start: null, end: null, bytes: 0, partitions: 0 }])
  const { sources } = indexes([partitions(1, () => 1, 100, 3)], true)
  expect(await plan(sources, { count: 5 })).toHaveLength(1)
  const far = parseTokenRange(partitioner, '9223372036854775806', undefined)
  expect(await plan(sources, { count: 5 }, far)).toEqual([
    expect.objectContaining({ end: null, bytes: 0, partitions: 0 }),
  ])
})
