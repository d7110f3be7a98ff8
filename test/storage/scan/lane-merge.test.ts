// The quick merge of several SSTables (lane-merge.ts) against the plain decoder and PartitionMerger: the same batches and counts, to the byte.
// Golden sets of several Cassandra versions read as replicas of one node give partitions that overlap in all ways, written at different
// times; one set read twice gives rows that are the same to the byte.

import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { Catalog } from '../../../storage/scan/catalog.ts'
import { LaneMerge } from '../../../storage/scan/lane-merge.ts'
import type { PinnedTable } from '../../../storage/scan/pinned-table.ts'
import type { ScanRequest } from '../../../storage/scan/scan-request.ts'
import { goldenMeta, goldenSet } from '../../corpus/golden.ts'
import { readBatches } from './batches.ts'

const DECADE = 10 * 365 * 86_400

afterEach(() => {
  vi.restoreAllMocks()
})

/** Counts the rows that go through the quick merge from now on. */
function countQuickRows(): () => number {
  let rows = 0
  for (const name of ['run', 'runInside'] as const) {
    const original = LaneMerge.prototype[name] as (...parts: unknown[]) => number
    vi.spyOn(LaneMerge.prototype, name).mockImplementation(function (this: LaneMerge, ...parts: unknown[]) {
      const left = original.apply(this, parts)
      rows += this.rows
      return left
    })
  }
  return () => rows
}

test.each([
  { sets: ['da', 'nb'] as const },
  { sets: ['me', 'nb-5.0', 'oa'] as const },
  { sets: ['nb', 'nb'] as const },
])('$sets as replicas: the quick merge gives what the plain one gives', async ({ sets }) => {
  const directories = await Promise.all(sets.map(goldenSet))
  const { now, rows } = await goldenMeta(sets[0])
  const catalog = await Catalog.open({ data: directories.map((directory) => join(directory, 'data')) })
  const quickRows = countQuickRows()
  let compared = 0
  for (const name of Object.keys(rows)) {
    const [keyspace, table] = name.split('.')
    let pinned: PinnedTable
    try {
      pinned = await catalog.pin(keyspace, table)
    } catch {
      continue // not in all of the sets, or with other columns
    }
    for (const [batchRows, later] of [
      [5, 0],
      [500, 0],
      [500, DECADE],
    ]) {
      const request: ScanRequest = { now: now + later, batchRows, batchBytes: batchRows * 64 }
      let plain: unknown
      try {
        plain = await readBatches(pinned, { ...request, plainDecoder: true })
      } catch {
        continue
      }
      expect(await readBatches(pinned, request), name).toEqual(plain)
      compared++
    }
    await pinned.release()
  }
  await catalog.close()
  expect(compared).toBeGreaterThan(100)
  expect(quickRows()).toBeGreaterThan(2000)
})
