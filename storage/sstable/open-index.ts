// The one place that knows which index a format has.

import type { Partitioner } from '../ring/partitioner.ts'
import { BigIndex } from './big-index.ts'
import { BtiIndex } from './bti-index.ts'
import type { IndexCounters, PartitionIndex } from './index.ts'
import type { SSTableData } from './sstable.ts'

/**
 * Opens nothing and reads nothing yet. Holds some pages of the index files while it is in use. `inThread`: short reads are made in this
 * thread (PagedFileOptions).
 */
export function openIndex(
  sstable: SSTableData,
  partitioner: Partitioner,
  counters: IndexCounters,
  inThread = false,
): PartitionIndex {
  return sstable.version.format === 'bti'
    ? new BtiIndex(sstable, partitioner, counters, inThread)
    : new BigIndex(sstable, partitioner, counters, inThread)
}
