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

const DECADE = 10 * 365 * 86_400

async function batches(pinned: PinnedTable, request: ScanRequest): Promise<{ batches: Snapshot[]; counts: number[] }> {
  const scan = await openScan(pinned, request)
  const result: Snapshot[] = []
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
    result.push({ rows: batch.rows, position: batch.position, columns: batch.columns.map(snapshot) })
    batch.release()
  }
  await scan.close()
  const { rowsVisited, rowsEmitted, partitionsVisited, partitionsEmitted } = scan.stats
  return { batches: result, counts: [rowsVisited, rowsEmitted, partitionsVisited, partitionsEmitted] }
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
      for (const [batchRows, later] of [
        [7, 0],
        [256, 0],
        [256, DECADE], // TTLs are over
      ]) {
        const request: ScanRequest = { now: meta.now + later, batchRows, batchBytes: batchRows * 64 }
        const fast = await batches(pinned, request)
        const plain = await batches(pinned, { ...request, plainDecoder: true })
        expect(fast, name).toEqual(plain)
      }
      await pinned.release()
    }
  },
)
