// What a scan is asked for, and what it tells while it runs. The server and the CLI fill in a ScanRequest and pull batches.

import type { Allowance } from '../bytes/allowance.ts'
import type { WindowOptions } from '../bytes/window.ts'
import type { BatchSchema } from '../rows/batch.ts'
import type { IndexCounters } from '../sstable/index.ts'

export interface ScanRequest {
  /** `(start, end]` as text in the partitioner's own notation; undefined: the ring's minimum or maximum. */
  start?: string
  end?: string
  /** Comma list of CQL selectors; undefined: all columns in SELECT * order. */
  columns?: string
  /** A CQL WHERE body. */
  where?: string
  /** Partition keys and statics only, one row per partition. */
  distinct?: boolean
  /** Stop after this many rows. */
  limit?: number
  /** Start right behind this position (Batch.position of an earlier scan of the same pinned table). */
  after?: string
  /** Start behind / stop at these positions: a split cut inside a partition. */
  from?: string
  to?: string
  /** Epoch seconds at which TTLs are judged. */
  now: number
  /** A batch ends at whichever of the two comes first. */
  batchRows?: number
  batchBytes?: number
  decimal?: { kind: 'text' } | { kind: 'decimal128' | 'decimal256'; scale: number }
  duration?: 'interval' | 'struct' | 'text'
  /** Only rows whose newest write or deletion lies in [since, until), microseconds. */
  since?: bigint
  until?: bigint
  /** Deletions in force as rows, in place of live rows. */
  tombstones?: boolean
  /** Rows are counted and no column is filled, whatever `columns` says. */
  countOnly?: boolean
  /** Counts tombstones too (ScanStats.tombstones); slower where the SSTables can hold any. */
  countTombstones?: boolean
  /** Of the window over each Data.db; the memory of windowBytes and of three batches of batchBytes is the caller's to count. */
  window?: WindowOptions
  /** What the scan takes beyond that, for large values and rows, it takes from here, or ends with VALUE_TOO_LARGE. */
  memory?: Allowance
  /** Columns lie in SharedArrayBuffers: the scan runs in a worker. */
  sharedColumns?: boolean
  /** Tests: decode every row with the plain decoder. */
  plainDecoder?: boolean
  /** Checked between windows: an aborted scan ends with CANCELLED. */
  signal?: AbortSignal
}

/** Counters of one scan; plain numbers, updated while it runs. Bytes are those read from disk if not said otherwise. */
export interface ScanStats {
  /** Bytes of Data.db (compressed form), and bytes they inflate to. */
  dataBytesRead: number
  dataBytesInflated: number
  /** Uncompressed bytes of Data.db gone through: values stepped over are in it, what an index led past is not. */
  dataBytesCovered: number
  /** CompressionInfo.db or CRC.db: where chunks lie, and their checksums. */
  chunkIndexBytesRead: number
  /** Of all index components: the sum of the four below. */
  indexBytesRead: number
  /** Summary.db */
  summaryBytesRead: number
  /** Index.db or Partitions.db */
  partitionIndexBytesRead: number
  /** The promoted parts of Index.db, or Rows.db */
  rowIndexBytesRead: number
  /** Filter.db */
  filterBytesRead: number
  chunksInflated: number
  /** Entries of wide partitions' indexes. */
  indexBlocksDecoded: number
  filterChecks: number
  /** Keys that a bloom filter kept from being looked up. */
  filterRejections: number
  /** SSTables of the table; of them left out by their statistics, and read in Data.db. */
  sstables: number
  sstablesPruned: number
  sstablesRead: number
  partitionsVisited: number
  /** Partitions with at least one row emitted. */
  partitionsEmitted: number
  rowsVisited: number
  rowsEmitted: number
  batches: number
  /** Of what was gone through, in each SSTable by itself; only where a scan is asked to count them. */
  tombstones: number
  /** Cells whose local deletion time was beyond what their version can hold (the year 2038 overflow). */
  overflowedDeletionTimes: number
  /** Zero-length values of types other than text, ascii and blob that were emitted (null in Arrow). */
  emptyValues: number
  /** Bytes of Data.db this scan will read at most, for progress. */
  dataBytesTotal: number
}

export function newScanStats(): ScanStats {
  return {
    dataBytesRead: 0,
    dataBytesInflated: 0,
    dataBytesCovered: 0,
    chunkIndexBytesRead: 0,
    indexBytesRead: 0,
    summaryBytesRead: 0,
    partitionIndexBytesRead: 0,
    rowIndexBytesRead: 0,
    filterBytesRead: 0,
    chunksInflated: 0,
    indexBlocksDecoded: 0,
    filterChecks: 0,
    filterRejections: 0,
    sstables: 0,
    sstablesPruned: 0,
    sstablesRead: 0,
    partitionsVisited: 0,
    partitionsEmitted: 0,
    rowsVisited: 0,
    rowsEmitted: 0,
    batches: 0,
    tombstones: 0,
    overflowedDeletionTimes: 0,
    emptyValues: 0,
    dataBytesTotal: 0,
  }
}

/** Takes over what the lookups of all indexes have cost so far. */
export function takeIndexCounters(stats: ScanStats, counters: IndexCounters): void {
  stats.summaryBytesRead = counters.summary.bytesRead
  stats.partitionIndexBytesRead = counters.index.bytesRead
  stats.rowIndexBytesRead = counters.rowIndex.bytesRead
  stats.filterBytesRead = counters.filter.bytesRead
  stats.chunkIndexBytesRead = counters.chunkIndex.bytesRead
  stats.indexBytesRead =
    stats.summaryBytesRead + stats.partitionIndexBytesRead + stats.rowIndexBytesRead + stats.filterBytesRead
  stats.indexBlocksDecoded = counters.blocksDecoded
  stats.filterChecks = counters.filterChecks
  stats.filterRejections = counters.filterRejections
}

/** A scan in progress: pull batches until undefined. */
export interface Scan {
  readonly schema: BatchSchema
  readonly stats: ScanStats
  /** The next batch, or undefined at the end. One call at a time. */
  next(): Promise<import('../rows/batch.ts').Batch | undefined>
  /** Ends the scan early or after its end; frees buffers. Safe to call twice. */
  close(): Promise<void>
}
