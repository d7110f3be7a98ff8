// A content hash of what a scan gives: XXH3-128 (seed 0) over all rows in the order of the scan, of every column in the order of the
// schema i32 length, -1 for null, and the value's canonical CQL bytes (rows/columns/wire.ts; of clusterings that are decimals without
// trailing zeros). It does not depend on the SSTables, their versions, compaction or the cutting of batches.
// examples/python/sluice_digest.py computes it from an Arrow stream.

import { createXxh3 } from '../bytes/xxh3.ts'
import { type Batch, countEmptyValues } from '../rows/batch.ts'
import { wireBufferOver } from '../rows/columns/wire-buffer.ts'
import { WireRows } from '../rows/columns/wire-rows.ts'
import type { PinnedTable } from './pinned-table.ts'
import { openScan } from './scan.ts'
import type { Scan, ScanRequest, ScanStats } from './scan-request.ts'

/** The hash is fed no less than this at a time: many small updates cost many times the hashing (CASSANDRA-14611). */
const FEED_BYTES = 64 * 1024

export interface RowDigest {
  /** Takes over the rows of a batch, which may be released then. */
  add(batch: Batch): void
  /** 32 hex digits, in XXH3's canonical (big-endian) form. Call once, last. */
  finish(): string
}

export interface TableDigest {
  digest: string
  rows: number
  /** Zero-length values of types other than text, ascii and blob, which Arrow streams do not tell from null. */
  emptyValues: number
}

export async function createRowDigest(): Promise<RowDigest> {
  const hash = await createXxh3()
  // Rows are written where the hash reads them; those that outgrow it get a buffer of their own for once.
  const out = wireBufferOver(hash.input)
  const rows = new WireRows(out)
  const feed = (least: number) => {
    if (out.length < least) return
    hash.update(out.bytes.subarray(0, out.length))
    Object.assign(out, out.bytes === hash.input ? { length: 0 } : wireBufferOver(hash.input))
  }
  return {
    add: (batch) => rows.append(batch.columns, batch.rows, () => feed(FEED_BYTES)),
    finish() {
      feed(1)
      return hash.digest()
    },
  }
}

/**
 * Scans what the request asks for and hashes it. Of the request's forms of decimals and durations nothing is kept: exact ones are
 * hashed. Errors as those of openScan and of its batches.
 */
export async function digestTable(
  pinned: PinnedTable,
  request: ScanRequest,
): Promise<TableDigest & { stats: ScanStats }> {
  const scan = await openScan(pinned, { ...request, decimal: undefined, duration: undefined })
  try {
    return { ...(await digestScan(scan)), stats: scan.stats }
  } finally {
    await scan.close()
  }
}

/** The digest of all that a scan gives; its decimals are text. The caller closes it. */
export async function digestScan(scan: Scan): Promise<TableDigest> {
  const digest = await createRowDigest()
  let rows = 0
  let emptyValues = 0
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
    digest.add(batch)
    rows += batch.rows
    for (const column of batch.columns) emptyValues += countEmptyValues(column)
    batch.release()
  }
  return { digest: digest.finish(), rows, emptyValues }
}
