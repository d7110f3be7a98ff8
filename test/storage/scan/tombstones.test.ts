// Deletions in force, against sstabledump of the same SSTables.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Catalog } from '../../../storage/scan/catalog.ts'
import { PinnedTable } from '../../../storage/scan/pinned-table.ts'
import { openScan } from '../../../storage/scan/scan.ts'
import { ndjsonOf } from '../../corpus/compare-table.ts'
import { type GoldenName, goldenMeta, goldenSet } from '../../corpus/golden.ts'
import { dumpedDeletions, parseDump, toldDeletions } from '../../corpus/sstabledump.ts'

/** sstabledump knows neither what was dropped or renamed later, nor what CQL hides of compact tables. */
const OTHERWISE = /^golden\.(altered_drop|altered_readd|altered_rename|compact_)/

test.each(['me', 'nb', 'oa', 'da'] as GoldenName[])(
  '%s: every SSTable alone has the deletions that sstabledump prints',
  async (set) => {
    const dumps = join(await goldenSet(`dumps-${set}`), 'sstabledump')
    const { now } = await goldenMeta(set)
    const catalog = await Catalog.open({ data: [join(await goldenSet(set), 'data')] })
    let compared = 0
    const kinds = new Set<string>()
    for (const file of await readdir(dumps)) {
      const [keyspace, table, generation] = file.split('.')
      if (OTHERWISE.test(file)) continue
      const pinned = await catalog.pin(keyspace, table)
      const sstable = pinned.sstables.find((s) => s.file.includes(`-${generation}-`))
      expect(sstable, file).toBeDefined()
      const dump = parseDump(await readFile(join(dumps, file), 'utf8'))
      const lines = await ndjsonOf(new PinnedTable(pinned.schema, [sstable!]), { now, tombstones: true })
      const told = toldDeletions(lines, pinned.schema)
      expect(told, file).toEqual(dumpedDeletions(dump, pinned.schema, now))
      compared += told.length
      for (const { kind } of told) kinds.add(kind)
      await pinned.release()
    }
    expect([...kinds].sort()).toEqual(['cell', 'collection', 'liveness', 'partition', 'range', 'row'])
    expect(compared).toBeGreaterThan(1000)
  },
)

/** All deletions of a table as lines, read in one go. */
async function whole(pinned: PinnedTable, now: number): Promise<string[]> {
  return ndjsonOf(pinned, { now, tombstones: true })
}

test.each(['deletions', 'deletions_desc', 'clustering_mixed', 'static_rows', 'ttl', 'types_nested'])(
  '%s: resumed behind any batch, the deletions are the rest',
  async (table) => {
    const { now } = await goldenMeta('da')
    const catalog = await Catalog.open({ data: [join(await goldenSet('da'), 'data')] })
    const pinned = await catalog.pin('golden', table)
    const all = await whole(pinned, now)
    const request = { now, tombstones: true, batchRows: 3 }
    const scan = await openScan(pinned, request)
    const places: { position: string; rows: number }[] = []
    let rows = 0
    for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
      rows += batch.rows
      places.push({ position: batch.position, rows })
      batch.release()
    }
    await scan.close()
    expect(rows).toBe(all.length)
    const step = Math.ceil(places.length / 12)
    for (let i = 0; i < places.length; i += step) {
      const { position, rows: before } = places[i]
      expect(await ndjsonOf(pinned, { ...request, after: position })).toEqual(all.slice(before))
      const until = await ndjsonOf(pinned, { ...request, to: position })
      expect(until).toEqual(all.slice(0, before))
      // A limit is kept to the end of a row.
      const limited = await ndjsonOf(pinned, { ...request, limit: before })
      expect(limited).toEqual(all.slice(0, before))
    }
    await pinned.release()
  },
)

test('columns and times choose among cells; windows of one set of SSTables are disjoint', async () => {
  const { now } = await goldenMeta('da')
  const catalog = await Catalog.open({ data: [join(await goldenSet('da'), 'data')] })
  const pinned = await catalog.pin('golden', 'deletions')
  const all = await whole(pinned, now)
  const of = (line: string) => JSON.parse(line) as { column: string | null; timestamp: number }
  expect(await ndjsonOf(pinned, { now, tombstones: true, columns: 'm, pk' })).toEqual(
    all.filter((line) => [null, 'm'].includes(of(line).column)),
  )
  for (const since of [500n, 1000n, 2000n, 3000n]) {
    const until = since + 600n
    expect(await ndjsonOf(pinned, { now, tombstones: true, since, until })).toEqual(
      all.filter((line) => of(line).timestamp >= Number(since) && of(line).timestamp < Number(until)),
    )
  }
  const refused = [{ columns: 'token' }, { where: 'pk = 1' }, { distinct: true }]
  for (const request of refused) {
    await expect(openScan(pinned, { now, tombstones: true, ...request })).rejects.toThrow()
  }
  await pinned.release()
})
