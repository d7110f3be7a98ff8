// One interface over the indexes of both formats: Summary.db, Index.db (big) and Partitions.db, Rows.db (bti). It finds
// places in Data.db; what lies there is for the reader of Data.db to check against the key it looks for.

import type { Position } from '../ring/position.ts'
import type { DeletionTime } from './deletion-time.ts'

/** What looking things up has cost; a plain record that callers keep and print. */
export interface IndexCounters {
  summary: { bytesRead: number }
  /** Index.db, or Partitions.db. */
  index: { bytesRead: number }
  /** The promoted parts of Index.db, or Rows.db. */
  rowIndex: { bytesRead: number }
  filter: { bytesRead: number }
  /** CompressionInfo.db or CRC.db: where chunks lie, and their checksums. */
  chunkIndex: { bytesRead: number }
  filterChecks: number
  /** Keys that the filter kept from being looked up. */
  filterRejections: number
  /** Entries of a wide partition's index that were decoded: IndexInfo in big, payloads in bti. */
  blocksDecoded: number
  /** Summaries sampled from Index.db because Summary.db could not be used. */
  summariesRebuilt: number
}

export function newIndexCounters(): IndexCounters {
  return {
    summary: { bytesRead: 0 },
    index: { bytesRead: 0 },
    rowIndex: { bytesRead: 0 },
    filter: { bytesRead: 0 },
    chunkIndex: { bytesRead: 0 },
    filterChecks: 0,
    filterRejections: 0,
    blocksDecoded: 0,
    summariesRebuilt: 0,
  }
}

/** A partition as an index knows it. */
export interface PartitionEntry {
  /** Offset in the uncompressed Data.db. */
  readonly dataOffset: number
  /** big, and wide partitions in bti; else null: bti keeps only what separates a key from its neighbours. */
  readonly key: Uint8Array | null
  /**
   * False in bti where the index cannot tell whether this partition is the one looked for (`find`) or still lies before
   * the position (`seek`): the key in Data.db decides.
   */
  readonly certain: boolean
  /** Partitions before this one, estimated. */
  readonly rank: number
  /** It has an index of its own (`rowIndex`). */
  readonly wide: boolean
  /** For `rowIndex`: where that index is. */
  readonly rowIndexAt: number
  readonly rowIndexSize: number
}

/** A place between partitions, with how much lies before it. */
export interface PartitionBoundary {
  /** Before the partition at `dataOffset`; a token wherever the partitioner has them. */
  readonly position: Position
  readonly dataOffset: number
  /** Partitions before it, estimated. */
  readonly rank: number
  readonly entry: PartitionEntry
}

export interface PartitionIndex {
  /** Partitions in the SSTable, as far as the format tells (bti: exact). */
  partitionCount(): Promise<number>
  /** The first partition that does not lie wholly before the position; null when all do. */
  seek(position: Position): Promise<PartitionEntry | null>
  /** The partition with this key, by the bloom filter and the index; null when it is certain that there is none. */
  find(key: Uint8Array): Promise<PartitionEntry | null>
  /**
   * A data offset at or behind which nothing lies before the position: where reading a range that ends there can stop. As
   * small as the index can tell.
   */
  endOffset(position: Position): Promise<number>
  /** The partition that the data offset lies in; null for an offset before the first. */
  atOffset(dataOffset: number): Promise<PartitionEntry | null>
  /** The partition behind this one. */
  after(entry: PartitionEntry): Promise<PartitionEntry | null>
  /**
   * Boundaries strictly within [from, to) of Data.db, about `count` or up to twice as many: no two neighbouring ones farther apart
   * than `count` at equal distances would be, unless a single partition lies between them.
   */
  boundaries(from: number, to: number, count: number): Promise<PartitionBoundary[]>
  /** The index within a wide partition; null where there is none, or its order of clusterings is not known. */
  rowIndex(entry: PartitionEntry): Promise<RowIndex | null>
}

/** A place between clusterings, as in a position: before or behind all that begins with the values. */
export interface ClusteringPlace {
  readonly clustering: readonly (Uint8Array | null)[]
  readonly after: boolean
}

/** A run of rows and markers in a wide partition, about column_index_size (16 or 64 KiB) long. */
export interface IndexBlock {
  /** Offsets in the uncompressed Data.db. The last block ends at the partition's end flag or behind it. */
  readonly start: number
  readonly end: number
  /** The range deletion open at its start; null: none. */
  readonly open: DeletionTime | null
  /**
   * A place between it and the block before. Exact in big; in bti made of what separates the two, which for a few types
   * (blobs in DESC order) can come out a row off. null: the first block, or one whose separator tells no clustering.
   */
  readonly place: ClusteringPlace | null
}

/** Where a block begins. */
export type IndexCut = Pick<IndexBlock, 'start' | 'place'>

export interface RowIndex {
  readonly blockCount: number
  /** Offset in Data.db of the partition, and of its first row or marker. */
  readonly partitionStart: number
  /** null: the index does not tell (bti). */
  readonly firstRow: number | null
  readonly deletion: DeletionTime | null
  /** The block in which the first row or marker behind the place can be; null: none is. */
  seek(place: ClusteringPlace): Promise<IndexBlock | null>
  /** The block that the data offset lies in: the first for one before it, the last for one behind. */
  atOffset(dataOffset: number): Promise<IndexBlock>
  /** About `count` blocks, or up to twice as many, that begin at about equal distances of bytes, without the first. */
  cuts(count: number): Promise<IndexCut[]>
}
