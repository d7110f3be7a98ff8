// How much a server lets exports hold of the machine it runs on.

import { readFileSync } from 'node:fs'

export interface ExportLimits {
  exports: number
  /** Of Data.db on disk, over all exports: what compaction deletes meanwhile, the disk keeps. */
  pinnedBytes: number
  /** Files held open by exports. */
  descriptors: number
  /** Over all exports. */
  splits: number
  /** An export ends at this age, whoever reads it. */
  ageSeconds: number
  /** An export that says nothing lasts this long without a renewal. */
  ttlSeconds: number
  /** Bytes of a split where nothing is said. */
  targetBytes: number
}

export const DEFAULT_EXPORT_LIMITS: ExportLimits = {
  exports: 100,
  pinnedBytes: Number.MAX_SAFE_INTEGER,
  descriptors: Math.floor(descriptorLimit() / 2),
  splits: 100_000,
  ageSeconds: 24 * 3600,
  ttlSeconds: 3600,
  targetBytes: 256 << 20,
}

/** Files that this process may have open. */
function descriptorLimit(): number {
  try {
    const line = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    if (line !== null) return Number(line[1])
  } catch {
    // Not Linux.
  }
  return 4096
}
