// The specialised run decoders against the plain decoder: the same batches, to the byte, over every golden table.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Vector } from '../../../storage/rows/batch.ts'
import { Catalog } from '../../../storage/scan/catalog.ts'
import type { PinnedTable } from '../../../storage/scan/pinned-table.ts'
import { openScan } from '../../../storage/scan/scan.ts'
import type { ScanRequest } from '../../../storage/scan/scan-request.ts'
import { goldenMeta, goldenSet } from '../../corpus/golden.ts'

interface Snapshot {
  rows: number
  position: string
  columns: unknown[]
}

async function batches(pinned: PinnedTable, request: ScanRequest): Promise<Snapshot[]> {
  const scan = await openScan(pinned, request)
  const result: Snapshot[] = []
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
    result.push({ rows: batch.rows, position: batch.position, columns: batch.columns.map(snapshot) })
    batch.release()
  }
  await scan.close()
  return result
}

function snapshot(vector: Vector): unknown {
  const { length, nullCount, validity, empty, offsets, values, children } = vector
  return {
    length,
    nullCount,
    validity: validity && Buffer.from(validity).toString('hex'),
    empty: empty && Buffer.from(empty).toString('hex'),
    offsets: offsets && [...offsets],
    values: Buffer.from(values).toString('hex'),
    children: children.map(snapshot),
  }
}

test.each(['me', 'nb', 'da', 'da-codecs'] as const)(
  '%s: run decoders give the same batches as the plain decoder',
  async (set) => {
    const directory = await goldenSet(set)
    const meta = await goldenMeta(set)
    const catalog = await Catalog.open({ data: [join(directory, 'data')] })
    for (const name of Object.keys(meta.rows)) {
      const [keyspace, table] = name.split('.')
      const pinned = await catalog.pin(keyspace, table)
      for (const batchRows of [7, 256]) {
        const request: ScanRequest = { now: meta.now, batchRows, batchBytes: batchRows * 64 }
        const fast = await batches(pinned, request)
        const plain = await batches(pinned, { ...request, plainDecoder: true })
        expect(fast, name).toEqual(plain)
      }
      await pinned.release()
    }
  },
)
