// Slices over SSTables of which some lie elsewhere: those are passed over by their clustering bounds, and never where they hold a
// deletion or static content that counts. Written by real nodes, held against what each of them selected. That bounds of versions
// before md are not believed is test/cases/clustering-bounds-of-old-files-are-not-believed.test.ts.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { splitTable } from '../../../src/split-table.ts'
import { comparePrefixes } from '../../../storage/ring/clustering-prefix.ts'
import { partitionerByName } from '../../../storage/ring/partitioner.ts'
import { comparePositions, decodePosition, encodePosition, keyPosition } from '../../../storage/ring/position.ts'
import { Catalog } from '../../../storage/scan/catalog.ts'
import type { PinnedTable } from '../../../storage/scan/pinned-table.ts'
import { openScan } from '../../../storage/scan/scan.ts'
import type { ScanRequest, ScanStats } from '../../../storage/scan/scan-request.ts'
import { ndjsonOf } from '../../corpus/compare-table.ts'
import { goldenMeta, goldenSet } from '../../corpus/golden.ts'

type Answers = Record<string, [columns: string, where: string, rows: string[]][]>

const SETS = ['da', 'oa', 'nb', 'me'] as const
type SetName = (typeof SETS)[number]

async function open(set: SetName, table: string): Promise<{ pinned: PinnedTable; now: number }> {
  const catalog = await Catalog.open({ data: [join(await goldenSet(`slices-${set}`), 'data')] })
  return { pinned: await catalog.pin('slices', table), now: (await goldenMeta(`slices-${set}`)).now }
}

async function statsOf(pinned: PinnedTable, request: ScanRequest): Promise<ScanStats> {
  const scan = await openScan(pinned, request)
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) batch.release()
  await scan.close()
  return scan.stats
}

const int = (value: number) => Uint8Array.of(value >> 24, value >> 16, value >> 8, value)

const sorted = (lines: string[]) => lines.map((line) => JSON.stringify(JSON.parse(line))).sort()

describe.each(SETS)('slices-%s', (set) => {
  test('each slice gives the rows that the node selected, passed over SSTables or not', async () => {
    const file = join(await goldenSet(`slices-${set}`), 'expected', 'answers.json')
    const answers = JSON.parse(await readFile(file, 'utf8')) as Answers
    expect(Object.keys(answers).length).toBe(10)
    for (const [table, asked] of Object.entries(answers)) {
      const { pinned, now } = await open(set, table)
      expect(pinned.sstables.map(({ version }) => version.name)).toEqual(pinned.sstables.map(() => set))
      let pruned = 0
      for (const [columns, where, rows] of asked) {
        const request = { now, where, columns: columns === '*' ? undefined : columns }
        const found = await ndjsonOf(pinned, request)
        expect(sorted(found), `${table} ${columns} ${where}`).toEqual(sorted(rows))
        pruned += (await statsOf(pinned, request)).sstablesPruned
      }
      if (table !== 'late_life') expect(pruned, table).toBeGreaterThan(0)
      await pinned.release()
    }
  })

  test('SSTables that lie elsewhere are passed over, and not read', async () => {
    for (const table of ['plain', 'descending']) {
      const { pinned, now } = await open(set, table)
      expect(pinned.sstables.length).toBe(3)
      for (const [where, wanted] of [
        ['pk = 1 AND c = 150', 1],
        ['c = 150', 1],
        ['c > 90 AND c < 110', 2],
        ['pk IN (1, 2) AND c IN (5, 295)', 2],
        ['c >= 1000', 0],
        ['v = 150', 3],
      ] as const) {
        const stats = await statsOf(pinned, { now, where })
        expect(stats.sstables).toBe(3)
        expect(stats.sstablesPruned, `${table} ${where}`).toBe(3 - wanted)
        expect(stats.sstablesRead, `${table} ${where}`).toBe(wanted)
      }
      await pinned.release()
    }
  })

  test('an SSTable that lies elsewhere and deletes a partition, or has static content to show, is read', async () => {
    const read = async (table: string, request: Omit<ScanRequest, 'now'>) => {
      const { pinned, now } = await open(set, table)
      const { sstables, sstablesPruned } = await statsOf(pinned, { now, ...request })
      await pinned.release()
      return sstables - sstablesPruned
    }
    // One of the three with rows, and the two with deletions of partitions.
    expect(await read('partition_deletion', { where: 'c = 150' })).toBe(3)
    // Two of the three with static content alone are needed where it is shown or tested, and those with rows elsewhere have some too.
    const statics = await read('statics', { where: 'c = 150' })
    expect(await read('statics', { where: 'c = 150', columns: 'c, s' })).toBe(statics)
    expect(await read('statics', { where: 'c = 150 AND s = 1', columns: 'c' })).toBe(statics)
    expect(await read('statics', { where: 'c = 150', columns: 'c, v' })).toBeLessThan(statics)
  })

  test('a partition whose live rows lie behind its first index blocks is there once, wherever it is cut', async () => {
    const { pinned, now } = await open(set, 'late_life')
    const columns = 'pk, s'
    const splits = await splitTable(pinned, { count: 24 })
    // And before the first row that lives.
    const partitioner = partitionerByName(pinned.partitioner, { kind: 'int' })
    const before = [1, 2, 3].map((pk) => keyPosition(partitioner, int(pk), [int(100)], true))
    const position = (text: string) => decodePosition(partitioner, 'slices.late_life', 1, text)
    const compare = (a: string, b: string) =>
      comparePositions(partitioner, (x, y) => comparePrefixes(pinned.schema.clustering, x, y), position(a), position(b))
    const cuts = [
      ...splits.flatMap(({ to }) => to ?? []),
      ...before.map((p) => encodePosition(partitioner, 'slices.late_life', p)),
    ].sort(compare)
    expect(cuts.length).toBeGreaterThan(6)
    for (const request of [{ now, distinct: true, columns }, { now }]) {
      const whole = await ndjsonOf(pinned, request)
      expect(whole.length).toBe(request.distinct ? 2 : 3)
      for (const some of [cuts, cuts.filter((_, i) => i % 2 === 0), ...cuts.map((cut) => [cut])]) {
        const parts: string[] = []
        for (let i = 0; i <= some.length; i++) {
          parts.push(...(await ndjsonOf(pinned, { ...request, from: some[i - 1], to: some[i] })))
        }
        expect(parts).toEqual(whole)
      }
    }
    await pinned.release()
  })
})
