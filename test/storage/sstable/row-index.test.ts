import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyPosition } from '../../../storage/ring/position.ts'
import { compareToPlace, prefixOrder } from '../../../storage/sstable/clustering-compare.ts'
import {
  type ClusteringPlace,
  type IndexBlock,
  type IndexCounters,
  newIndexCounters,
  type PartitionEntry,
  type PartitionIndex,
  type RowIndex,
} from '../../../storage/sstable/index.ts'
import { IndexScanner } from '../../../storage/sstable/index-scanner.ts'
import { openIndex } from '../../../storage/sstable/open-index.ts'
import { openSSTable, type SSTable } from '../../../storage/sstable/sstable.ts'
import {
  goldenSamples,
  partitionerOf,
  publicSamples,
  readData,
  type Sample,
  wideRandomSamples,
} from './all-sstables.ts'
import { type WalkedPartition, walkPartition } from './plain-walk.ts'

interface Wide {
  sample: Sample
  sstable: SSTable
  counters: IndexCounters
  index: PartitionIndex
  entry: PartitionEntry
  walked: WalkedPartition
}

const wide: Wide[] = []
const opened: SSTable[] = []

beforeAll(async () => {
  for (const sample of [...(await goldenSamples()), ...(await wideRandomSamples()), ...(await publicSamples())]) {
    const sstable = await openSSTable(sample.files).catch(() => null)
    if (sstable === null) continue
    opened.push(sstable)
    const partitioner = partitionerOf(sstable)
    if (partitioner.name === 'LocalPartitioner' || (sstable.rows !== null && sstable.rows.size === 0)) continue
    const counters = newIndexCounters()
    const index = openIndex(sstable, partitioner, counters)
    const keys = await wideKeys(sstable, index)
    if (keys.length === 0) continue
    const data = await readData(sstable)
    for (const key of keys) {
      const entry = (await index.seek(keyPosition(partitioner, key, [], false)))!
      wide.push({ sample, sstable, counters, index, entry, walked: walkPartition(sstable, data, entry.dataOffset) })
    }
  }
}, 120_000)

afterAll(() => {
  for (const sstable of opened) sstable.close()
})

/** Keys of at most 200 partitions that have an index of their own. */
async function wideKeys(sstable: SSTable, index: PartitionIndex): Promise<Uint8Array[]> {
  const keys: Uint8Array[] = []
  if (sstable.index !== null) {
    const scanner = new IndexScanner(sstable.index, sstable.dataLength, { bytesRead: 0 })
    while (keys.length < 200 && (await scanner.next())) if (scanner.promotedSize > 0) keys.push(scanner.key())
    return keys
  }
  let entry = await index.atOffset(0)
  for (; keys.length < 200 && entry !== null; entry = await index.after(entry)) if (entry.wide) keys.push(entry.key!)
  return keys
}

const about = ({ sample, entry }: Wide) => `${sample.set} ${sample.name} at ${entry.dataOffset}`

async function blocksOf(rows: RowIndex, { firstRow, end }: WalkedPartition): Promise<IndexBlock[]> {
  const blocks: IndexBlock[] = []
  for (let at = firstRow; at < end - 1; at = blocks.at(-1)!.end) {
    const block = await rows.atOffset(at)
    if (block.start !== at || block.end <= at) throw new Error(`the block at ${at} is ${block.start} to ${block.end}`)
    blocks.push(block)
  }
  return blocks
}

function sparse<T>(items: T[], count: number): T[] {
  if (items.length <= count) return items
  return Array.from({ length: count }, (_, i) => items[Math.floor((i * (items.length - 1)) / (count - 1))])
}

describe('the index within wide partitions', () => {
  it('is there in every version', () => {
    const versions = new Set(wide.map(({ sstable }) => sstable.version.name))
    expect([...versions].sort()).toEqual(
      process.env.SLUICE_PUBLIC_SSTABLES
        ? ['da', 'ma', 'mb', 'mc', 'md', 'me', 'na', 'nb', 'nc', 'oa']
        : ['da', 'me', 'nb', 'oa'],
    )
    expect(wide.length).toBeGreaterThan(30)
  })

  it('divides a partition without gaps, at rows and markers, and knows the deletion open at each block', async () => {
    let open = 0
    for (const w of wide) {
      const rows = (await w.index.rowIndex(w.entry))!
      expect(rows.partitionStart).toBe(w.entry.dataOffset)
      expect(rows.deletion, about(w)).toEqual(w.walked.deletion)
      expect(rows.firstRow ?? w.walked.firstRow, about(w)).toBe(w.walked.firstRow)
      const blocks = await blocksOf(rows, w.walked)
      expect(blocks.length, about(w)).toBe(rows.blockCount)
      expect(blocks[0].start).toBe(w.walked.firstRow)
      // A last block that was full to the byte leaves the end flag out.
      expect(w.walked.end - blocks.at(-1)!.end, about(w)).toBeOneOf([0, 1])
      for (let i = 0; i < blocks.length; i++) {
        if (i > 0) expect(blocks[i].start).toBe(blocks[i - 1].end)
        const at = w.walked.items.findIndex(({ offset }) => offset === blocks[i].start)
        expect(at, about(w)).toBeGreaterThanOrEqual(0)
        const before = at === 0 ? null : w.walked.items[at - 1].openAfter
        expect(blocks[i].open, about(w)).toEqual(before)
        if (before !== null) open++
      }
    }
    expect(open).toBeGreaterThan(10)
  }, 60_000)

  it('finds the block of each row, from before it and from behind it', async () => {
    for (const w of wide) {
      const { items } = w.walked
      const rows = (await w.index.rowIndex(w.entry))!
      for (const item of sparse(items, 60)) {
        const next = items[items.indexOf(item) + 1]
        const clustering = item.prefix.values
        if (item.prefix.kind !== 4) continue
        const before = await rows.seek({ clustering, after: false })
        expect(before !== null && before.start <= item.offset && item.offset < before.end, about(w)).toBe(true)
        const behind = await rows.seek({ clustering, after: true })
        if (next === undefined) {
          if (behind !== null) expect(behind.end, about(w)).toBeGreaterThanOrEqual(w.walked.end - 1)
        } else {
          expect(behind !== null && behind.start <= next.offset && item.offset < behind.end, about(w)).toBe(true)
        }
      }
      // Before and behind everything.
      expect((await rows.seek({ clustering: [], after: false }))?.start, about(w)).toBe(w.walked.firstRow)
      const last = items.at(-1)!
      const end = await rows.seek({ clustering: [], after: true })
      // A range deletion up to the partition's end closes exactly there.
      if (end !== null) expect(last.prefix.values.length === 0 && end.end >= w.walked.end - 1, about(w)).toBe(true)
    }
  }, 60_000)

  it('takes a prefix of the clustering for all that begins with it', async () => {
    let tried = 0
    for (const w of wide) {
      const order = prefixOrder(w.sstable.statistics.header.clusteringTypes)!
      if (order.types.length < 2) continue
      const { items } = w.walked
      const rows = (await w.index.rowIndex(w.entry))!
      for (const item of sparse(items, 5)) {
        for (const after of [false, true]) {
          const place: ClusteringPlace = { clustering: item.prefix.values.slice(0, 1), after }
          const first = items.find(({ prefix }) => compareToPlace(order, prefix, place) >= 0)
          const block = await rows.seek(place)
          tried++
          if (first === undefined) expect(block === null || block.end >= w.walked.end - 1, about(w)).toBe(true)
          else {
            const previous = items[items.indexOf(first) - 1]
            expect(block!.start, about(w)).toBeLessThanOrEqual(first.offset)
            expect(block!.end, about(w)).toBeGreaterThan(previous?.offset ?? -1)
          }
        }
      }
    }
    expect(tried).toBeGreaterThan(100)
  }, 60_000)

  it('cuts a partition at places that divide its rows', async () => {
    let cuts = 0
    for (const w of wide) {
      const order = prefixOrder(w.sstable.statistics.header.clusteringTypes)!
      const rows = (await w.index.rowIndex(w.entry))!
      const blocks = await rows.cuts(3)
      const starts = blocks.map((block) => block.start)
      expect(starts, about(w)).toEqual([...new Set(starts)].sort((a, b) => a - b))
      for (const { start, place } of blocks) {
        for (const { offset, prefix } of w.walked.items) {
          if (offset >= start !== compareToPlace(order, prefix, place!) >= 0) {
            expect.fail(`${about(w)}: the item at ${offset} is on the wrong side of the cut at ${start}`)
          }
        }
        const block = await rows.seek(place!)
        expect(block?.start, about(w)).toBe(start)
        cuts++
      }
    }
    expect(cuts).toBeGreaterThan(wide.length / 2)
  }, 60_000)

  it('cuts by clusterings of all types in bti but decimal, whose separators are not turned back', async () => {
    const tables = new Map<string, number>()
    for (const w of wide.filter(({ sample }) => sample.set === 'wide-random')) {
      const [table] = w.sample.name.split('/')
      const blocks = await (await w.index.rowIndex(w.entry))!.cuts(3)
      tables.set(table, (tables.get(table) ?? 0) + blocks.length)
    }
    expect(tables.size).toBe(26)
    for (const [table, cuts] of tables) {
      if (table.includes('w_decimal_')) expect(cuts, table).toBe(0)
      else expect(cuts, table).toBeGreaterThan(3)
    }
  })

  it('decodes no more blocks than a binary search meets', async () => {
    for (const w of wide) {
      const { sstable, entry } = w
      for (const item of sparse(w.walked.items, 10)) {
        const counters = newIndexCounters()
        const rows = (await openIndex(sstable, partitionerOf(sstable), counters).rowIndex(entry))!
        await rows.seek({ clustering: item.prefix.values, after: false })
        const allowed = sstable.version.format === 'bti' ? 3 : Math.ceil(Math.log2(rows.blockCount)) + 2
        expect(counters.blocksDecoded, about(w)).toBeLessThanOrEqual(allowed)
        if (sstable.version.format === 'big') continue
        // A bti lookup reads the entry and a path of the trie.
        expect(counters.rowIndex.bytesRead).toBeLessThanOrEqual(8 * 4096)
      }
    }
  }, 60_000)

  it('is reached by key', async () => {
    for (const w of wide) {
      const found = await w.index.find(w.walked.key)
      expect(found, about(w)).toMatchObject({ dataOffset: w.entry.dataOffset, wide: true, certain: true })
      const row = w.walked.items.find(({ prefix }) => prefix.values.length > 0)!
      const inside = keyPosition(partitionerOf(w.sstable), w.walked.key, row.prefix.values, true)
      expect((await w.index.seek(inside))?.dataOffset, about(w)).toBe(w.entry.dataOffset)
    }
  }, 60_000)
})
