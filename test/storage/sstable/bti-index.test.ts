import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tokenOf } from '../../../storage/ring/partitioner.ts'
import { keyPosition, type Position } from '../../../storage/ring/position.ts'
import { BtiIndex } from '../../../storage/sstable/bti-index.ts'
import { newIndexCounters, type PartitionEntry } from '../../../storage/sstable/index.ts'
import { openSSTable, type SSTable } from '../../../storage/sstable/sstable.ts'
import {
  goldenSamples,
  partitionerOf,
  publicSamples,
  readData,
  type Sample,
  wideRandomSamples,
} from './all-sstables.ts'
import { walkPartition } from './plain-walk.ts'

interface Listed {
  key: Uint8Array
  dataOffset: number
}

const opened: { sample: Sample; sstable: SSTable; entries: Listed[] }[] = []

beforeAll(async () => {
  const samples = [
    ...(await goldenSamples(['da', 'da-codecs'])),
    ...(await wideRandomSamples()),
    ...(await publicSamples()),
  ]
  for (const sample of samples) {
    if (sample.files.descriptor.version !== 'da') continue
    const sstable = await openSSTable(sample.files)
    // An index on a map's keys or values is ordered by those, which its header does not tell.
    if (sstable.statistics.header.keyType.includes('.MapType(') && sample.name.includes('..')) continue
    const data = await readData(sstable)
    const entries: Listed[] = []
    for (let at = 0; at < data.length; ) {
      const { key, end } = walkPartition(sstable, data, at)
      entries.push({ key: key.slice(), dataOffset: at })
      at = end
    }
    opened.push({ sample, sstable, entries })
  }
}, 120_000)

afterAll(() => {
  for (const { sstable } of opened) sstable.close()
})

function sparse<T>(items: T[], count = 12): T[] {
  if (items.length <= count) return items
  return Array.from({ length: count }, (_, i) => items[Math.floor((i * (items.length - 1)) / (count - 1))])
}

const same = (a: Uint8Array | null | undefined, b: Uint8Array) => a != null && Buffer.compare(a, b) === 0

describe('Partitions.db', () => {
  it('counts and bounds the partitions of Data.db', async () => {
    let partitions = 0
    let local = 0
    let random = 0
    for (const { sample, sstable, entries } of opened) {
      const index = new BtiIndex(sstable, partitionerOf(sstable), newIndexCounters())
      expect(await index.partitionCount(), sample.name).toBe(entries.length)
      const { firstKey, lastKey } = await index.bounds()
      expect(same(firstKey, entries[0].key) && same(lastKey, entries.at(-1)!.key), sample.name).toBe(true)
      expect(same(sstable.statistics.firstKey, firstKey), sample.name).toBe(true)
      partitions += entries.length
      if (partitionerOf(sstable).name === 'LocalPartitioner') local++
      if (partitionerOf(sstable).name === 'RandomPartitioner') random++
    }
    expect(partitions).toBeGreaterThan(4000)
    expect(local).toBeGreaterThan(0)
    expect(random).toBeGreaterThan(20)
  })

  it('lists them in order, forward from any of them', async () => {
    for (const { sample, sstable, entries } of opened) {
      const index = new BtiIndex(sstable, partitionerOf(sstable), newIndexCounters())
      const offsets: number[] = []
      const limit = Math.min(entries.length, 300)
      for (
        let entry = await index.atOffset(0);
        entry !== null && offsets.length < limit;
        entry = await index.after(entry)
      ) {
        offsets.push(entry.dataOffset)
        if (entry.key !== null) expect(same(entry.key, entries[offsets.length - 1].key), sample.name).toBe(true)
        expect(entry.wide).toBe(entry.key !== null)
      }
      expect(offsets, sample.name).toEqual(entries.slice(0, limit).map(({ dataOffset }) => dataOffset))
      expect(await index.after((await index.atOffset(sstable.dataLength - 1))!)).toBe(null)
    }
  }, 60_000)
})

describe('BtiIndex', () => {
  it('finds every key, at its own offset', async () => {
    for (const { sample, sstable, entries } of opened) {
      const counters = newIndexCounters()
      const index = new BtiIndex(sstable, partitionerOf(sstable), counters)
      for (const { key, dataOffset } of sparse(entries, 100)) {
        const entry = await index.find(key)
        expect(entry?.dataOffset, sample.name).toBe(dataOffset)
        expect(entry?.certain).toBe(entry?.key !== null)
      }
      expect(counters.filterRejections, sample.name).toBe(0)
    }
  }, 60_000)

  it('answers keys that are not there with nothing, or with a candidate that is not certain', async () => {
    let tried = 0
    let candidates = 0
    for (const { sample, sstable, entries } of opened) {
      if (partitionerOf(sstable).name === 'LocalPartitioner') continue
      // Without its filter, which would hide what the trie says.
      const index = new BtiIndex({ ...sstable, filter: null }, partitionerOf(sstable), newIndexCounters())
      for (const { key } of sparse(entries)) {
        const other = key.slice()
        other[other.length - 1] ^= 0x55
        if (entries.some((entry) => same(entry.key, other))) continue
        const found = await index.find(other)
        tried++
        if (found === null) continue
        expect(found.certain, sample.name).toBe(false)
        candidates++
      }
    }
    expect(tried).toBeGreaterThan(200)
    // Most tries here are of a few keys, whose prefixes tell little; the hash byte does.
    expect(candidates / tried).toBeLessThan(0.05)
  }, 60_000)

  it('seeks the first partition at, behind or after a position, and where a range ends', async () => {
    let uncertain = 0
    let certain = 0
    for (const { sample, sstable, entries } of opened) {
      const partitioner = partitionerOf(sstable)
      const index = new BtiIndex(sstable, partitioner, newIndexCounters())
      const offsetOf = (entry: PartitionEntry | null) => entry?.dataOffset ?? sstable.dataLength

      /** `expected` is the offset of the first partition not before the position. */
      const check = async (position: Position, expected: number) => {
        const entry = await index.seek(position)
        const end = await index.endOffset(position)
        expect(end, sample.name).toBeGreaterThanOrEqual(expected)
        if (entry === null || entry.certain) {
          certain++
          expect(offsetOf(entry), sample.name).toBe(expected)
          const inside = position.kind === 'key' && position.clustering.length > 0
          if (!inside) expect(end, sample.name).toBe(expected)
          return
        }
        // Either this one or the one behind it.
        uncertain++
        const after = await index.after(entry)
        expect([entry.dataOffset, offsetOf(after)], sample.name).toContain(expected)
        expect(end, sample.name).toBe(offsetOf(after))
      }
      const step = Math.ceil(entries.length / 10)
      for (let i = 0; i < entries.length; i += step) {
        const { key, dataOffset } = entries[i]
        const next = entries[i + 1]?.dataOffset ?? sstable.dataLength
        await check(keyPosition(partitioner, key, [], false), dataOffset)
        await check(keyPosition(partitioner, key, [], true), next)
        await check({ kind: 'token', token: tokenOf(partitioner, key) }, next)
        if (sstable.statistics.header.clusteringTypes.length > 0) {
          await check(keyPosition(partitioner, key, [new Uint8Array(0)], false), dataOffset)
        }
        // Right before the token, on both sides of whatever lies there.
        if (partitioner.name === 'Murmur3Partitioner') {
          const before = tokenOf(partitioner, key)
          before.words[1] = (before.words[1] - 1) | 0
          if (before.words[1] !== -1) await check({ kind: 'token', token: before }, dataOffset)
        }
      }
      expect((await index.seek({ kind: 'token', token: partitioner.minimum }))?.dataOffset, sample.name).toBe(0)
      if (partitioner.maximum !== null) await check({ kind: 'token', token: partitioner.maximum }, sstable.dataLength)
    }
    expect(certain).toBeGreaterThan(200)
    expect(uncertain).toBeGreaterThan(200)
  }, 60_000)

  it('cuts an SSTable into about equal parts, at tokens', async () => {
    const large = opened.filter(({ entries }) => entries.length >= 1000)
    expect(large.length).toBeGreaterThan(1)
    for (const { sample, sstable, entries } of large) {
      const partitioner = partitionerOf(sstable)
      const index = new BtiIndex(sstable, partitioner, newIndexCounters())
      const boundaries = await index.boundaries(0, sstable.dataLength, 9)
      const offsets = [0, ...boundaries.map((boundary) => boundary.dataOffset), sstable.dataLength]
      expect(offsets.length).toBeGreaterThanOrEqual(11)
      for (let i = 1; i < offsets.length; i++) {
        expect(offsets[i] - offsets[i - 1]).toBeGreaterThan(0)
        expect(offsets[i] - offsets[i - 1], sample.name).toBeLessThan(sstable.dataLength / 8)
      }
      for (const { position, dataOffset, rank } of boundaries) {
        const at = entries.findIndex((entry) => entry.dataOffset === dataOffset)
        const { words } = position.kind === 'token' ? position.token : position
        const order = (key: Uint8Array) => {
          const token = tokenOf(partitioner, key).words
          return token[0] - words[0] || (token[1] >>> 0) - (words[1] >>> 0)
        }
        // All keys before the boundary are at or before its token, and its own behind.
        expect(order(entries[at - 1].key), sample.name).toBeLessThanOrEqual(0)
        expect(order(entries[at].key), sample.name).toBeGreaterThan(0)
        expect(Math.abs(rank - at), sample.name).toBeLessThan(entries.length * 0.05)
      }
    }
  }, 60_000)

  it('reads a path of pages, not the file', async () => {
    const { sstable, entries } = opened.reduce((a, b) => (b.entries.length > a.entries.length ? b : a))
    const counters = newIndexCounters()
    await new BtiIndex(sstable, partitionerOf(sstable), counters).find(entries[entries.length >> 1].key)
    expect(counters.index.bytesRead).toBeLessThanOrEqual(4 * 4096)
  })
})
