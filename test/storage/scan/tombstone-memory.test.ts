// The part that a scan of deletions has in the memory allowance: its windows, its columns; given back at its end, whatever the end.

import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Allowance, createAllowance, takenBytes } from '../../../storage/bytes/allowance.ts'
import { Catalog } from '../../../storage/scan/catalog.ts'
import type { PinnedTable } from '../../../storage/scan/pinned-table.ts'
import { openScan } from '../../../storage/scan/scan.ts'
import type { Scan } from '../../../storage/scan/scan-request.ts'
import { goldenMeta, goldenSet } from '../../corpus/golden.ts'

let pinned: PinnedTable
let now: number

beforeAll(async () => {
  now = (await goldenMeta('da')).now
  const catalog = await Catalog.open({ data: [join(await goldenSet('da'), 'data')] })
  pinned = await catalog.pin('golden', 'deletions')
})

afterAll(() => pinned.release())

/** Batches end at so few bytes that their columns come to more than is reckoned with. */
function open(memory: Allowance): Promise<Scan> {
  return openScan(pinned, { now, tombstones: true, batchBytes: 256, memory, sharedColumns: true })
}

test('columns of deletions beyond what is reckoned with are taken, and come back with the end', async () => {
  const memory = createAllowance(64 << 20)
  const scan = await open(memory)
  const first = (await scan.next())!
  expect(first.rows).toBeGreaterThan(0)
  const held = first.columns.reduce((sum, { values }) => sum + values.buffer.byteLength, 0)
  expect(takenBytes(memory)).toBeGreaterThan(held - 3 * 256)
  first.release()
  await scan.close()
  expect(takenBytes(memory)).toBe(0)
})

test('where the allowance has too little left, the scan is refused by name and the table is let go', async () => {
  const memory = createAllowance(4096)
  const retained: number[] = []
  const counted = {
    schema: pinned.schema,
    partitioner: pinned.partitioner,
    sstables: pinned.sstables,
    retain: () => void retained.push(1),
    release: async () => void retained.pop(),
  }
  const read = async () => {
    const scan = await openScan(counted, { now, tombstones: true, batchBytes: 256, memory })
    try {
      await scan.next()
    } finally {
      await scan.close()
    }
  }
  await expect(read()).rejects.toMatchObject({ code: 'VALUE_TOO_LARGE' })
  expect(retained).toEqual([])
  expect(takenBytes(memory)).toBe(0)
})
