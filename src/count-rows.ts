// Counting without columns: what GET .../count and `sluice count` show.

import type { ScanRequest, ScanStats } from '../storage/scan/scan-request.ts'
import type { PinnedSource } from './source.ts'

export interface RowCount {
  /** Live rows at `now`. */
  rows: number
  /** Partitions with such a row. */
  partitions: number
  /** Deletions and expired values gone through, in each SSTable by itself. */
  tombstones: number
  /** Uncompressed bytes of Data.db gone through, over all SSTables. */
  bytes: number
  /** Epoch seconds. */
  now: number
}

/** @throws SluiceError as a scan */
export async function countRows(
  pinned: PinnedSource,
  request: ScanRequest,
): Promise<{ count: RowCount; stats: ScanStats }> {
  const scan = await pinned.scan({ ...request, countOnly: true, countTombstones: true })
  try {
    let rows = 0
    for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
      rows += batch.rows
      batch.release()
    }
    const { partitionsEmitted, tombstones, dataBytesCovered } = scan.stats
    const count = { rows, partitions: partitionsEmitted, tombstones, bytes: dataBytesCovered, now: request.now }
    return { count, stats: scan.stats }
  } finally {
    await scan.close()
  }
}
