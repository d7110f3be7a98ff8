// The quick merge of several SSTables (lane-merge.ts) against the plain decoder and PartitionMerger: the same batches and counts, to the byte.
// Golden sets of several Cassandra versions read as replicas of one node give partitions that overlap in all ways, written at different
// times; one set read twice gives rows that are the same to the byte.

import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import type { Vector } from '../../../storage/rows/batch.ts'
import { Catalog } from '../../../storage/scan/catalog.ts'
import { LaneMerge } from '../../../storage/scan/lane-merge.ts'
import type { PinnedTable } from '../../../storage/scan/pinned-table.ts'
import { openScan } from '../../../storage/scan/scan.ts'
import type { ScanRequest } from '../../../storage/scan/scan-request.ts'
import { goldenMeta, goldenSet } from '../../corpus/golden.ts'

const DECADE = 10 * 365 * 86_400

async function read(pinned: PinnedTable, request: ScanRequest): Promise<unknown> {
  const scan = await openScan(pinned, request)
  const batches: unknown[] = []
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
    batches.push({ rows: batch.rows, position: batch.position, columns: batch.columns.map(snapshot) })
    batch.release()
  }
  await scan.close()
  const { rowsVisited, rowsEmitted, partitionsVisited, partitionsEmitted } = scan.stats
  return { batches, rowsVisited, rowsEmitted, partitionsVisited, partitionsEmitted }
}

function snapshot({ length, nullCount, validity, empty, offsets, values, children }: Vector): unknown {
  return {
    length,
    nullCount,
    validity: validity && Buffer.from(validity).toString('hex'),
    empty: empty && Buffer.from(empty).toString('hex'),
    offsets: offsets?.join(),
    values: Buffer.from(values).toString('hex'),
    children: children.map(snapshot),
  }
}

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
        plain = await read(pinned, { ...request, plainDecoder: true })
      } catch {
        continue
      }
      expect(await read(pinned, request), name).toEqual(plain)
      compared++
    }
    await pinned.release()
  }
  await catalog.close()
  expect(compared).toBeGreaterThan(100)
  expect(quickRows()).toBeGreaterThan(2000)
})
