// What is wrong in one of several SSTables that are merged is told with that SSTable, the partition and a place.

import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { isSluiceError } from '../../../storage/errors.ts'
import { Lane } from '../../../storage/rows/lane.ts'
import { RowDecoder } from '../../../storage/rows/row-decoder.ts'
import { ClusteringOrderError } from '../../../storage/rows/run-state.ts'
import { Catalog } from '../../../storage/scan/catalog.ts'
import type { PinnedTable } from '../../../storage/scan/pinned-table.ts'
import { openScan } from '../../../storage/scan/scan.ts'
import { goldenMeta, goldenSet } from '../../corpus/golden.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

async function failure(pinned: PinnedTable, now: number, plainDecoder: boolean): Promise<Record<string, unknown>> {
  const scan = await openScan(pinned, { now, plainDecoder })
  try {
    for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) batch.release()
  } catch (error) {
    if (isSluiceError(error)) return { code: error.code, ...error.fields }
    throw error
  } finally {
    await scan.close()
  }
  throw new Error('nothing failed')
}

test.each(['nb', 'da'] as const)('%s: lengths that lead beyond a buffer, in each SSTable in turn', async (set) => {
  const catalog = await Catalog.open({ data: [join(await goldenSet(set), 'data')] })
  const { now } = await goldenMeta(set)
  const pinned = await catalog.pin('golden', 'ck_inet')
  const files = pinned.sstables.map(({ file }) => file)
  expect(files.length).toBeGreaterThan(1)
  const row = RowDecoder.prototype.row
  for (const file of files) {
    vi.spyOn(RowDecoder.prototype, 'row').mockImplementation(function (this: RowDecoder, ...parts) {
      if (this.layout.sstable.file === file) throw new RangeError('Offset is outside the bounds of the DataView')
      row.apply(this, parts)
    })
    const fields = await failure(pinned, now, true)
    expect(fields.code).toBe('CORRUPT_SSTABLE')
    expect(fields.file).toContain(file)
    expect(fields.partition).toMatch(/^([0-9a-f]{2})+$/)
    expect(fields.offset).toBeGreaterThan(0)
    vi.restoreAllMocks()
  }
  await pinned.release()
  await catalog.close()
})

test.each(['nb', 'da'] as const)(
  '%s: rows out of order that the quick merge comes to, in each SSTable',
  async (set) => {
    const catalog = await Catalog.open({ data: [join(await goldenSet(set), 'data')] })
    const { now } = await goldenMeta(set)
    const pinned = await catalog.pin('golden', 'ck_inet')
    for (const { file } of pinned.sstables) {
      const { enter } = Lane.prototype
      vi.spyOn(Lane.prototype, 'enter').mockImplementation(function (this: Lane) {
        enter.call(this)
        if (this.source.layout.sstable.file !== file) return
        this.decoder.prefix = () => {
          throw new ClusteringOrderError('clusterings out of order')
        }
      })
      expect(await failure(pinned, now, false)).toMatchObject({
        code: 'CORRUPT_SSTABLE',
        file,
        reason: 'clusterings out of order',
        partition: expect.stringMatching(/^([0-9a-f]{2})+$/),
        offset: expect.any(Number),
      })
      vi.restoreAllMocks()
    }
    await pinned.release()
    await catalog.close()
  },
)
