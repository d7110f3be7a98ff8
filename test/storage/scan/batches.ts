// What a scan gives, for comparison: its batches to the byte with its counts, or where its batches end.

import type { Vector } from '../../../storage/rows/batch.ts'
import type { PinnedTable } from '../../../storage/scan/pinned-table.ts'
import { openScan } from '../../../storage/scan/scan.ts'
import type { ScanRequest } from '../../../storage/scan/scan-request.ts'

/** All batches and counts, as plain values. */
export async function readBatches(pinned: PinnedTable, request: ScanRequest): Promise<unknown> {
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

/** Rows up to the end of each batch, and its position. */
export async function batchEnds(
  pinned: PinnedTable,
  request: ScanRequest,
): Promise<{ rows: number; position: string }[]> {
  const scan = await openScan(pinned, request)
  const ends: { rows: number; position: string }[] = []
  let rows = 0
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
    rows += batch.rows
    ends.push({ rows, position: batch.position })
    batch.release()
  }
  await scan.close()
  return ends
}

function snapshot({ length, nullCount, validity, empty, offsets, values, children }: Vector): unknown {
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
