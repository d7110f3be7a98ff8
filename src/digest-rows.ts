// Content digests of rows: what GET .../digest and `sluice digest` show. Equal digests: equal rows, whatever files they come from.

import { digestScan } from '../storage/scan/digest.ts'
import type { ScanRequest } from '../storage/scan/scan-request.ts'
import type { PinnedSource } from './source.ts'
import type { TableSplit } from './split-table.ts'

export interface PartDigest {
  /** XXH3-128 in hex; see storage/scan/digest.ts for what is hashed. */
  digest: string
  rows: number
  /** Values that an Arrow stream does not tell from null: with some, the digest of an Arrow stream is another. */
  empty_values: number
}

export type SplitDigest = PartDigest & Omit<TableSplit, 'bytes' | 'partitions'>

/** @throws SluiceError as a scan */
export async function digestRows(pinned: PinnedSource, request: ScanRequest): Promise<PartDigest> {
  // Decimals and durations are hashed exactly, in whatever form rows show them.
  const scan = await pinned.scan({ ...request, decimal: undefined, duration: undefined })
  try {
    const { digest, rows, emptyValues } = await digestScan(scan)
    return { digest, rows, empty_values: emptyValues }
  } finally {
    await scan.close()
  }
}

/** One digest for each of about `count` splits, which depend on the SSTables: to compare, ask both sides for the same `from` and `to`. */
export async function digestSplits(pinned: PinnedSource, request: ScanRequest, count: number): Promise<SplitDigest[]> {
  const { start, end, where } = request
  const digests: SplitDigest[] = []
  for (const { bytes: _, partitions: __, ...split } of await pinned.splits({ start, end, where, count })) {
    const part = { ...request, from: split.from ?? undefined, to: split.to ?? undefined }
    digests.push({ ...split, ...(await digestRows(pinned, part)) })
  }
  return digests
}
