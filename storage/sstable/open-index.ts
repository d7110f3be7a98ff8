// The one place that knows which index a format has.

import type { Partitioner } from '../ring/partitioner.ts'
import { BigIndex } from './big-index.ts'
import { BtiIndex } from './bti-index.ts'
import type { IndexCounters, PartitionIndex } from './index.ts'
import type { SSTableData } from './sstable.ts'

/** Opens nothing and reads nothing yet. Holds some pages of the index files while it is in use. */
export function openIndex(sstable: SSTableData, partitioner: Partitioner, counters: IndexCounters): PartitionIndex {
  return sstable.version.format === 'bti'
    ? new BtiIndex(sstable, partitioner, counters)
    : new BigIndex(sstable, partitioner, counters)
}
