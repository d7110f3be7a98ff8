import { cp, mkdtemp, readdir, readFile, rm, truncate, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isSluiceError } from '../../../storage/errors.ts'
import { keyPosition } from '../../../storage/ring/position.ts'
import { BigIndex } from '../../../storage/sstable/big-index.ts'
import { type Component, componentPath, groupSSTables, type SSTableFiles } from '../../../storage/sstable/descriptor.ts'
import { newIndexCounters } from '../../../storage/sstable/index.ts'
import { IndexScanner } from '../../../storage/sstable/index-scanner.ts'
import { openIndex } from '../../../storage/sstable/open-index.ts'
import { openSSTable, type SSTable } from '../../../storage/sstable/sstable.ts'
import { goldenSamples, partitionerOf, type Sample } from './all-sstables.ts'

let folder = ''
let samples: Sample[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-damage-'))
  samples = await goldenSamples(['nb', 'oa', 'da', 'me'])
}, 60_000)

afterAll(() => rm(folder, { recursive: true, force: true }))

/** A copy of a golden SSTable, to be changed. */
async function copy(set: string, table: string): Promise<SSTableFiles> {
  const { files } = samples.find((sample) => sample.set === set && sample.name.startsWith(`golden.${table}/`))!
  const target = await mkdtemp(join(folder, `${set}-${table}-`))
  for (const component of files.components) {
    const from = componentPath(files.descriptor, component)
    await cp(from, join(target, files.descriptor.prefix + component))
  }
  return groupSSTables(target, await readdir(target))[0]
}

const path = (files: SSTableFiles, component: Component) => componentPath(files.descriptor, component)

async function withSSTable<T>(files: SSTableFiles, run: (sstable: SSTable) => Promise<T>): Promise<T> {
  const { directory } = files.descriptor
  const sstable = await openSSTable(groupSSTables(directory, await readdir(directory))[0])
  try {
    return await run(sstable)
  } finally {
    sstable.close()
  }
}

async function keysOf(sstable: SSTable): Promise<{ key: Uint8Array; dataOffset: number }[]> {
  const scanner = new IndexScanner(sstable.index!, sstable.dataLength, { bytesRead: 0 })
  const keys: { key: Uint8Array; dataOffset: number }[] = []
  while (await scanner.next()) keys.push({ key: scanner.key(), dataOffset: scanner.dataOffset })
  return keys
}

/** Looks up some keys; how often the summary was sampled anew. */
async function lookUp(files: SSTableFiles): Promise<number> {
  return withSSTable(files, async (sstable) => {
    const counters = newIndexCounters()
    const index = new BigIndex(sstable, partitionerOf(sstable), counters)
    const keys = await keysOf(sstable)
    for (let i = 0; i < keys.length; i += Math.ceil(keys.length / 50)) {
      expect((await index.find(keys[i].key))?.dataOffset).toBe(keys[i].dataOffset)
      expect((await index.atOffset(keys[i].dataOffset + 1))?.dataOffset).toBe(keys[i].dataOffset)
      const next = keys[i + 1]?.dataOffset ?? null
      const behind = keyPosition(partitionerOf(sstable), keys[i].key, [], true)
      expect((await index.seek(behind))?.dataOffset ?? null).toBe(next)
    }
    return counters.summariesRebuilt
  })
}

describe('Summary.db', () => {
  it('is sampled from Index.db where it is not there', async () => {
    const files = await copy('nb', 'many_partitions')
    expect(await lookUp(files)).toBe(0)
    await unlink(path(files, 'Summary.db'))
    expect(await lookUp(files)).toBe(1)
  })

  it('is sampled from Index.db where it is cut, empty, or full of nonsense', async () => {
    const files = await copy('nb', 'many_partitions')
    const whole = await readFile(path(files, 'Summary.db'))
    for (const content of [
      Buffer.alloc(0),
      whole.subarray(0, 20),
      whole.subarray(0, 100),
      Buffer.alloc(whole.length, 0xff),
      Buffer.alloc(whole.length),
    ]) {
      await writeFile(path(files, 'Summary.db'), content)
      expect(await lookUp(files)).toBe(1)
    }
  })

  it('is passed over where it is of another SSTable', async () => {
    const files = await copy('nb', 'many_partitions')
    const other = await copy('oa', 'many_partitions')
    const table = await copy('nb', 'single_big')
    for (const stranger of [other, table]) {
      await cp(path(stranger, 'Summary.db'), path(files, 'Summary.db'))
      // It may happen to fit at every key looked up; what matters is that all are found, which lookUp checks.
      await lookUp(files)
    }
  })

  it('is passed over where a big-endian machine wrote its offsets', async () => {
    const files = await copy('nb', 'many_partitions')
    const bytes = await readFile(path(files, 'Summary.db'))
    const count = bytes.readUInt32BE(4)
    bytes.subarray(24, 24 + 4 * count).swap32()
    await writeFile(path(files, 'Summary.db'), bytes)
    expect(await lookUp(files)).toBe(1)
  })

  /** Entries of a Summary.db: a key, then its position in Index.db. */
  function entriesOf(bytes: Buffer): Buffer[] {
    const count = bytes.readUInt32BE(4)
    const from = (i: number) => 24 + (i < count ? bytes.readUInt32LE(24 + 4 * i) : Number(bytes.readBigUInt64BE(8)))
    return Array.from({ length: count }, (_, i) => Buffer.from(bytes.subarray(from(i), from(i + 1))))
  }

  function withEntries(bytes: Buffer, entries: Buffer[]): Buffer {
    const offsets = Buffer.alloc(4 * entries.length)
    let at = offsets.length
    entries.forEach((part, i) => {
      offsets.writeUInt32LE(at, 4 * i)
      at += part.length
    })
    const head = Buffer.from(bytes.subarray(0, 24))
    head.writeUInt32BE(entries.length, 4)
    head.writeBigUInt64BE(BigInt(at), 8)
    const size = Number(bytes.readBigUInt64BE(8))
    return Buffer.concat([head, offsets, ...entries, bytes.subarray(24 + size)])
  }

  it('serves with any sampling', async () => {
    const files = await copy('nb', 'many_partitions')
    const bytes = await readFile(path(files, 'Summary.db'))
    // Every third entry, as Cassandra does when memory for summaries is short.
    const kept = entriesOf(bytes).filter((_, i) => i % 3 === 0)
    await writeFile(path(files, 'Summary.db'), withEntries(bytes, kept))
    expect(await lookUp(files)).toBe(0)
  })

  it('leads nobody astray, whatever its entries say', async () => {
    const files = await copy('nb', 'many_partitions')
    const bytes = await readFile(path(files, 'Summary.db'))
    const entries = entriesOf(bytes)
    const last = entries.length - 1
    expect(last).toBeGreaterThan(10)
    const keyOf = (entry: Buffer) => entry.subarray(0, -8)
    const positionOf = (entry: Buffer) => entry.subarray(-8)
    const moved = (entry: Buffer, by: bigint) => {
      const position = Buffer.alloc(8)
      position.writeBigUInt64LE(positionOf(entry).readBigUInt64LE() + by)
      return Buffer.concat([keyOf(entry), position])
    }
    const misleading: Record<string, Buffer[]> = {
      'each at the place of the next': entries.map((e, i) =>
        Buffer.concat([keyOf(e), positionOf(entries[Math.min(last, i + 1)])]),
      ),
      'each at the place of the one before': entries.map((e, i) =>
        Buffer.concat([keyOf(e), positionOf(entries[Math.max(0, i - 1)])]),
      ),
      'behind where entries begin': entries.map((e) => moved(e, 1n)),
      'beyond the end of Index.db': entries.map((e) => moved(e, 1n << 40n)),
      'in the opposite order': entries.toReversed(),
      'all the same': entries.map(() => entries[last >> 1]),
      'two of them swapped': entries.map((e, i) => (i === 3 ? entries[last - 3] : i === last - 3 ? entries[3] : e)),
      'the first alone': [entries[0]],
      'the last alone': [entries[last]],
    }
    for (const [how, wrong] of Object.entries(misleading)) {
      await writeFile(path(files, 'Summary.db'), withEntries(bytes, wrong))
      expect(await lookUp(files), how).toBeLessThanOrEqual(1)
    }
  })

  it('that is stale, of an Index.db with fewer partitions, hides none', async () => {
    const files = await copy('nb', 'many_partitions')
    const bytes = await readFile(path(files, 'Summary.db'))
    const entries = entriesOf(bytes)
    // As before the last third of the partitions were there; and as when another third was before them.
    for (const stale of [entries.slice(0, (2 * entries.length) / 3), entries.slice(entries.length / 3)]) {
      await writeFile(path(files, 'Summary.db'), withEntries(bytes, stale))
      expect(await lookUp(files)).toBeLessThanOrEqual(1)
    }
  })
})

/** Everything that an index is asked, over one SSTable. */
async function askEverything(sstable: SSTable, keys: Uint8Array[]): Promise<void> {
  const partitioner = partitionerOf(sstable)
  const index = openIndex(sstable, partitioner, newIndexCounters())
  await index.partitionCount()
  for (const key of keys) {
    await index.find(key)
    await index.endOffset(keyPosition(partitioner, key, [], true))
  }
  await index.boundaries(0, sstable.dataLength, 5)
  let entry = await index.seek({ kind: 'token', token: partitioner.minimum })
  for (let i = 0; entry !== null && i < 10; i++) {
    const rows = await index.rowIndex(entry)
    if (rows !== null) {
      await rows.seek({ clustering: [], after: false })
      await rows.seek({ clustering: [Uint8Array.of(0, 0, 0, 9)], after: true })
      await rows.atOffset(entry.dataOffset + 30_000)
      await rows.cuts(4)
    }
    entry = await index.after(entry)
  }
}

describe('a damaged index', () => {
  const seeded = (seed: number) => (n: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return Math.floor((seed / 0x100000000) * n)
  }

  const cases: [string, string, Component[]][] = [
    ['nb', 'wide', ['Index.db', 'Summary.db', 'Filter.db']],
    ['oa', 'wide', ['Index.db', 'Filter.db']],
    ['me', 'many_partitions', ['Index.db', 'Summary.db', 'Filter.db']],
    ['da', 'wide', ['Partitions.db', 'Rows.db', 'Filter.db']],
    ['da', 'many_partitions', ['Partitions.db', 'Filter.db']],
  ]
  for (const [set, table, components] of cases) {
    it(`ends in an answer or in an error by name: ${table} in ${set}`, async () => {
      const files = await copy(set, table)
      const random = seeded(set.length * 7919 + table.length)
      const keys = [Uint8Array.of(0, 0, 0, 1), Uint8Array.of(0, 0, 0, 2), Buffer.from('k17'), new Uint8Array(70)]
      let errors = 0
      for (const component of components) {
        const file = path(files, component)
        const whole = await readFile(file)
        for (let i = 0; i < 60; i++) {
          const bytes = Buffer.from(whole)
          const kind = i % 4
          // Half of them where it hurts: at the head and in the footer.
          const at = random(2) ? random(bytes.length) : random(2) ? random(64) : bytes.length - 1 - random(64)
          const start = Math.min(bytes.length - 1, Math.max(0, at))
          if (kind === 0) bytes[start] ^= 1 << random(8)
          else if (kind === 1) bytes[start] = random(256)
          else if (kind === 2) bytes.fill(random(2) ? 0xff : 0, start, Math.min(bytes.length, start + 1 + random(8)))
          await writeFile(file, bytes)
          if (kind === 3) await truncate(file, start)
          try {
            await withSSTable(files, (sstable) => askEverything(sstable, keys))
          } catch (error) {
            if (!isSluiceError(error)) throw error
            expect(['CORRUPT_SSTABLE', 'MISSING_COMPONENT', 'CHECKSUM_MISMATCH']).toContain(error.code)
            expect(error.fields.file).toMatch(/-(Index|Summary|Filter|Partitions|Rows)\.db$/)
            errors++
          }
        }
        await writeFile(file, whole)
      }
      expect(errors).toBeGreaterThan(10)
    }, 120_000)
  }

  it('names Rows.db when a wide partition needs it and it is gone', async () => {
    const files = await copy('da', 'wide')
    await unlink(path(files, 'Rows.db'))
    await withSSTable(files, async (sstable) => {
      const index = openIndex(sstable, partitionerOf(sstable), newIndexCounters())
      await expect(index.atOffset(0)).rejects.toMatchObject({
        code: 'MISSING_COMPONENT',
        fields: { file: path(files, 'Rows.db') },
      })
    })
  })

  it('is no way to make the reader follow a trie for ever', async () => {
    const files = await copy('da', 'many_partitions')
    const file = path(files, 'Partitions.db')
    const whole = await readFile(file)
    const root = Number(whole.readBigUInt64BE(whole.length - 8))
    // A chain of single nodes, each a byte before the next, down to nothing.
    const chain = Buffer.alloc(root + 2, 0x11)
    await writeFile(file, Buffer.concat([chain, whole.subarray(root + 2)]))
    await withSSTable(files, async (sstable) => {
      const index = openIndex(sstable, partitionerOf(sstable), newIndexCounters())
      await expect(index.atOffset(0)).rejects.toMatchObject({ code: 'CORRUPT_SSTABLE' })
    })
  })
})
