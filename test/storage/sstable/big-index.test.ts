import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tokenOf } from '../../../storage/ring/partitioner.ts'
import { keyPosition } from '../../../storage/ring/position.ts'
import { BigIndex } from '../../../storage/sstable/big-index.ts'
import { newIndexCounters, type PartitionEntry } from '../../../storage/sstable/index.ts'
import { IndexScanner } from '../../../storage/sstable/index-scanner.ts'
import { openSSTable, type SSTable } from '../../../storage/sstable/sstable.ts'
import { versionTraits } from '../../../storage/sstable/versions.ts'
import { goldenSamples, keyAt, partitionerOf, publicSamples, readData, type Sample } from './all-sstables.ts'

interface Listed {
  key: Uint8Array
  dataOffset: number
  promotedSize: number
}

async function list(sstable: SSTable): Promise<Listed[]> {
  const scanner = new IndexScanner(sstable.index!, sstable.dataLength, { bytesRead: 0 })
  const entries: Listed[] = []
  while (await scanner.next()) {
    entries.push({ key: scanner.key(), dataOffset: scanner.dataOffset, promotedSize: scanner.promotedSize })
  }
  return entries
}

const opened: { sample: Sample; sstable: SSTable; entries: Listed[] }[] = []

beforeAll(async () => {
  for (const sample of [...(await goldenSamples()), ...(await publicSamples())]) {
    const { descriptor } = sample.files
    try {
      versionTraits(descriptor.version, descriptor.format, '')
    } catch {
      continue
    }
    if (descriptor.format !== 'big') continue
    const sstable = await openSSTable(sample.files).catch((error) => {
      // One public set has lost a component.
      if (sample.set === 'public' && error.code === 'MISSING_COMPONENT') return null
      throw error
    })
    // An index on a map's keys or values is ordered by those, which its header does not tell.
    if (sstable?.statistics.header.keyType.includes('.MapType(') === true && sample.name.includes('..')) {
      sstable.close()
      continue
    }
    if (sstable !== null) opened.push({ sample, sstable, entries: await list(sstable) })
  }
}, 120_000)

afterAll(() => {
  for (const { sstable } of opened) sstable.close()
})

const same = (a: Uint8Array | null | undefined, b: Uint8Array) => a != null && Buffer.compare(a, b) === 0

describe('Index.db', () => {
  it('lists every partition of Data.db, by key and offset', async () => {
    let partitions = 0
    for (const { sample, sstable, entries } of opened) {
      const data = await readData(sstable).catch((error) => {
        if (error.code === 'UNSUPPORTED_CODEC') return null
        throw error
      })
      if (data === null) continue
      for (const { key, dataOffset } of entries) {
        if (!same(keyAt(data, dataOffset), key)) expect.fail(`${sample.name}: another key at ${dataOffset}`)
      }
      const index = new BigIndex(sstable, partitionerOf(sstable), newIndexCounters())
      expect(await index.partitionCount(), sample.name).toBe(entries.length)
      const { firstKey, lastKey } = sstable.statistics
      if (firstKey !== null) {
        expect(same(firstKey, entries[0].key) && same(lastKey, entries.at(-1)!.key), sample.name).toBe(true)
      }
      partitions += entries.length
    }
    expect(partitions).toBeGreaterThan(9_000)
  }, 120_000)

  it('has the positions that sstabledump prints', async () => {
    const root = process.env.SLUICE_DUMPS
    if (!root) return console.log('SKIPPED: positions by sstabledump (SLUICE_DUMPS is not set)')
    let compared = 0
    let exact = 0
    for (const { sample, sstable, entries } of opened) {
      if (sample.set === 'public') continue
      const [table] = sample.name.split('/')
      const dump = join(root, sample.set, 'sstabledump', `${table}.${sample.files.descriptor.id}.json`)
      const text = await readFile(dump, 'utf8').catch(() => null)
      if (text === null) continue
      const positions = (JSON.parse(text) as { partition: { position: number } }[]).map((p) => p.partition.position)
      expect(positions.length, sample.name).toBe(entries.length)
      entries.forEach(({ dataOffset, key }, i) => {
        // Where it has read ahead (a static row, nothing but deletions) it prints the position behind the header.
        if (positions[i] === dataOffset) exact++
        else expect(positions[i], sample.name).toBeGreaterThanOrEqual(dataOffset + 2 + key.length + 1)
        expect(positions[i], sample.name).toBeLessThan(entries[i + 1]?.dataOffset ?? sstable.dataLength)
        compared++
      })
    }
    expect(compared).toBeGreaterThan(1500)
    expect(exact).toBeGreaterThan(500)
  })
})

describe('BigIndex', () => {
  it('finds every key, at its own offset', async () => {
    let usedSummaries = 0
    for (const { sample, sstable, entries } of opened) {
      const counters = newIndexCounters()
      const index = new BigIndex(sstable, partitionerOf(sstable), counters)
      for (const { key, dataOffset, promotedSize } of sparse(entries)) {
        const entry = await index.find(key)
        expect(entry, sample.name).toMatchObject({ dataOffset, certain: true, wide: promotedSize > 0 })
      }
      expect(counters.filterRejections).toBe(0)
      // Every summary here is whole.
      expect(counters.summariesRebuilt, sample.name).toBe(0)
      if (counters.summary.bytesRead > 0) usedSummaries++
      if (sstable.filter !== null) expect(counters.filterChecks).toBe(sparse(entries).length)
    }
    expect(usedSummaries).toBe(opened.length)
  }, 120_000)

  it('does not find keys that are not there, most of them by the filter', async () => {
    let checks = 0
    let rejections = 0
    for (const { sample, sstable, entries } of opened) {
      const counters = newIndexCounters()
      const index = new BigIndex(sstable, partitionerOf(sstable), counters)
      const { name } = partitionerOf(sstable)
      for (const { key } of sparse(entries, 5)) {
        if (name === 'LocalPartitioner') continue // a changed key may be no value of its type
        const other = key.slice()
        other[other.length - 1] ^= 0x55
        if (entries.some((entry) => same(entry.key, other))) continue
        expect(await index.find(other), sample.name).toBe(null)
      }
      checks += counters.filterChecks
      rejections += counters.filterRejections
    }
    expect(checks).toBeGreaterThan(1000)
    expect(rejections / checks).toBeGreaterThan(0.95)
  }, 120_000)

  it('seeks the first partition at, behind or after a position, and where a range ends', async () => {
    for (const { sample, sstable, entries } of opened) {
      const partitioner = partitionerOf(sstable)
      const index = new BigIndex(sstable, partitioner, newIndexCounters())
      const offsetOf = (entry: PartitionEntry | null) => entry?.dataOffset ?? sstable.dataLength
      const step = Math.ceil(entries.length / 6)
      for (let i = 0; i < entries.length; i += step) {
        const { key, dataOffset } = entries[i]
        const next = entries[i + 1]?.dataOffset ?? sstable.dataLength
        const before = keyPosition(partitioner, key, [], false)
        const behind = keyPosition(partitioner, key, [], true)
        expect(offsetOf(await index.seek(before)), sample.name).toBe(dataOffset)
        expect(await index.endOffset(before)).toBe(dataOffset)
        expect(offsetOf(await index.seek(behind)), sample.name).toBe(next)
        expect(await index.endOffset(behind)).toBe(next)
        // Where there are tokens: behind all keys of this token.
        const token = { kind: 'token' as const, token: tokenOf(partitioner, key) }
        expect(offsetOf(await index.seek(token)), sample.name).toBe(next)
        // A place inside the partition is reached by starting with it, and ends with its last byte.
        if (sstable.statistics.header.clusteringTypes.length > 0) {
          const inside = keyPosition(partitioner, key, [new Uint8Array(0)], false)
          expect(offsetOf(await index.seek(inside)), sample.name).toBe(dataOffset)
          expect(await index.endOffset(inside), sample.name).toBe(next)
        }
      }
      if (partitioner.maximum !== null) {
        expect(await index.seek({ kind: 'token', token: partitioner.maximum })).toBe(null)
      }
      expect((await index.seek({ kind: 'token', token: partitioner.minimum }))?.dataOffset).toBe(0)
    }
  }, 120_000)

  it('walks by data offset', async () => {
    for (const { sample, sstable, entries } of opened) {
      const index = new BigIndex(sstable, partitionerOf(sstable), newIndexCounters())
      const step = Math.ceil(entries.length / 5)
      for (let i = 0; i < entries.length; i += step) {
        const next = entries[i + 1]?.dataOffset
        const end = next ?? sstable.dataLength
        const middle = Math.floor((entries[i].dataOffset + end) / 2)
        const entry = await index.atOffset(middle)
        expect(same(entry?.key, entries[i].key), sample.name).toBe(true)
        expect((await index.after(entry!))?.dataOffset).toBe(next)
      }
    }
  }, 120_000)

  it('cuts an SSTable into about equal parts', async () => {
    const large = opened.filter(({ entries }) => entries.length >= 1000)
    expect(large.length).toBeGreaterThan(3)
    for (const { sample, sstable, entries } of large) {
      const partitioner = partitionerOf(sstable)
      const index = new BigIndex(sstable, partitioner, newIndexCounters())
      const boundaries = await index.boundaries(0, sstable.dataLength, 9)
      const offsets = [0, ...boundaries.map((boundary) => boundary.dataOffset), sstable.dataLength]
      expect(offsets.length).toBeGreaterThanOrEqual(11)
      for (let i = 1; i < offsets.length; i++) {
        expect(offsets[i] - offsets[i - 1]).toBeGreaterThan(0)
        expect(offsets[i] - offsets[i - 1], sample.name).toBeLessThan(sstable.dataLength / 8)
      }
      for (const { position, dataOffset, rank } of boundaries) {
        expect(await index.endOffset(position)).toBe(dataOffset)
        const trueRank = entries.findIndex((entry) => entry.dataOffset === dataOffset)
        expect(Math.abs(rank - trueRank), sample.name).toBeLessThan(entries.length * 0.03)
      }
    }
  }, 120_000)
})

/** At most `count` of them, evenly spread, first and last among them. */
function sparse<T>(items: T[], count = 12): T[] {
  if (items.length <= count) return items
  return Array.from({ length: count }, (_, i) => items[Math.floor((i * (items.length - 1)) / (count - 1))])
}
