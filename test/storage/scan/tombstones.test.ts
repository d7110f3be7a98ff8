// Deletions in force, against sstabledump of the same SSTables.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Catalog } from '../../../storage/scan/catalog.ts'
import { PinnedTable } from '../../../storage/scan/pinned-table.ts'
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
