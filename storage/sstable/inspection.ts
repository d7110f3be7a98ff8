// What an SSTable says of itself, as sstablemetadata shows it, for every version that is read: plain data for JSON. And its largest
// partitions, from its index. Of Data.db only the keys of those are read that the index does not hold.

import { DataWindow, DEFAULT_WINDOW } from '../bytes/window.ts'
import { type Partitioner, partitionerByName, tokenOf } from '../ring/partitioner.ts'
import { formatCqlType } from '../schema/cql-type-text.ts'
import { parseMarshalType } from '../schema/marshal.ts'
import { BigIndex } from './big-index.ts'
import { BtiIndex } from './bti-index.ts'
import type { ClusteringPrefix } from './clustering-values.ts'
import { dataChunks } from './data-chunks.ts'
import { newIndexCounters } from './index.ts'
import type { SSTable } from './sstable.ts'
import type { EstimatedHistogram, HeaderColumn } from './statistics.ts'

export interface PartitionSize {
  /** Hex. */
  key: string
  token: string | null
  /** Uncompressed bytes in Data.db. */
  bytes: number
}

/** Numbers beyond 2^53 as decimal text. Times: microseconds for write times, seconds for deletion times; null where nothing expires. */
export type Inspection = Awaited<ReturnType<typeof inspectSSTable>>

export async function inspectSSTable(sstable: SSTable, largest: number) {
  const { statistics, descriptor, version, compression } = sstable
  const { header, covered } = statistics
  const partitioner = partitionerByName(statistics.partitioner, parseMarshalType(header.keyType).type)
  const walked = await walkPartitions(sstable, partitioner, largest)
  const seconds = (value: number) => (Number.isFinite(value) ? value : null)
  return {
    file: sstable.file,
    id: descriptor.id,
    version: descriptor.version,
    format: version.format,
    components: [...sstable.components].sort(),
    bytes: sstable.dataFileLength,
    data_bytes: sstable.dataLength,
    compression: compression && {
      codec: compression.codec,
      options: Object.fromEntries(compression.options),
      chunk_length: compression.chunkLength,
      max_compressed_length: Number.isFinite(compression.maxCompressedLength) ? compression.maxCompressedLength : null,
      chunks: compression.chunkCount,
      ratio: statistics.compressionRatio,
    },
    partitioner: statistics.partitioner,
    bloom_filter_fp_chance: statistics.bloomFilterFpChance,
    min_timestamp: String(statistics.minTimestamp),
    max_timestamp: String(statistics.maxTimestamp),
    min_local_deletion_time: seconds(statistics.minLocalDeletionTime),
    max_local_deletion_time: seconds(statistics.maxLocalDeletionTime),
    min_ttl: statistics.minTtl,
    max_ttl: statistics.maxTtl,
    level: statistics.level,
    repaired_at: String(statistics.repairedAt),
    pending_repair: statistics.pendingRepair,
    transient: statistics.isTransient,
    originating_host_id: statistics.originatingHostId,
    has_legacy_counter_shards: statistics.hasLegacyCounterShards,
    has_partition_level_deletions: statistics.hasPartitionLevelDeletions,
    first_key: walked.first,
    last_key: walked.last,
    token_space_coverage: statistics.tokenSpaceCoverage,
    covered_clusterings: covered && { start: boundText(covered.start), end: boundText(covered.end) },
    partitions: walked.partitions,
    rows: String(statistics.totalRows),
    cells: String(statistics.totalColumnsSet),
    partition_bytes: histogram(statistics.partitionSizes),
    partition_cells: histogram(statistics.cellsPerPartition),
    tombstone_drop_times: statistics.tombstoneHistogram.map(([time, count]) => ({ time, count })),
    header: {
      min_timestamp: String(header.minTimestamp),
      min_local_deletion_time: header.minLocalDeletionTime,
      min_ttl: header.minTtl,
      key_type: header.keyType,
      clustering_types: header.clusteringTypes,
      static_columns: header.statics.map(columnOf),
      regular_columns: header.regulars.map(columnOf),
    },
    largest_partitions: walked.largest,
  }
}

function columnOf({ name, type }: HeaderColumn) {
  return { name, type, cql_type: formatCqlType(parseMarshalType(type).type) }
}

const INCLUSIVE = new Set([1, 4, 6])

/** Values in hex, null for null. */
function boundText({ kind, values }: ClusteringPrefix) {
  return { inclusive: INCLUSIVE.has(kind), values: values.map((v) => v && Buffer.from(v).toString('hex')) }
}

/** Percentiles by the upper ends of buckets, as EstimatedHistogram.percentile; a bucket holds what is above the bound before. */
function histogram({ bounds, counts }: EstimatedHistogram) {
  const total = counts.reduce((sum, count) => sum + count, 0n)
  // Pair i holds the lower bound of the bucket that count i is of; the first bound stands twice.
  const upper = (i: number) => String(bounds[Math.min(i + 1, bounds.length - 1)])
  const percentile = (share: number) => {
    let sum = 0n
    const goal = BigInt(Math.ceil(share * Number(total)))
    for (let i = 0; i < counts.length; i++) {
      sum += counts[i]
      if (sum >= goal && sum > 0n) return upper(i)
    }
    return null
  }
  const buckets = [...counts.entries()]
    .filter(([, count]) => count > 0n)
    .map(([i, count]) => ({ up_to: upper(i), count: String(count) }))
  if (total === 0n) return { percentiles: null, buckets }
  return {
    percentiles: {
      p50: percentile(0.5),
      p75: percentile(0.75),
      p95: percentile(0.95),
      p98: percentile(0.98),
      p99: percentile(0.99),
      max: percentile(1),
    },
    buckets,
  }
}

interface Sized {
  offset: number
  bytes: number
  key: Uint8Array | null
}

async function walkPartitions(sstable: SSTable, partitioner: Partitioner, largest: number) {
  const kept: Sized[] = []
  let partitions = 0
  let open: Sized | undefined
  const close = (end: number) => {
    if (open === undefined) return
    open.bytes = end - open.offset
    if (kept.length < largest || open.bytes > kept[kept.length - 1].bytes) {
      // A big SSTable's scanner moves on over its bytes: the key was copied when it came.
      kept.push(open)
      kept.sort((a, b) => b.bytes - a.bytes)
      if (kept.length > largest) kept.pop()
    }
  }
  let first: Uint8Array | null = null
  let last: Uint8Array | null = null
  if (sstable.version.format === 'bti') {
    const index = new BtiIndex(sstable, partitioner, newIndexCounters())
    const bounds = await index.bounds()
    first = bounds.firstKey
    last = bounds.lastKey
    for await (const { dataOffset, key } of index.entries()) {
      close(dataOffset)
      partitions++
      open = { offset: dataOffset, bytes: 0, key }
    }
  } else {
    const scanner = new BigIndex(sstable, partitioner, newIndexCounters()).scanner()
    while (await scanner.next()) {
      close(scanner.dataOffset)
      partitions++
      last = scanner.key()
      first ??= last
      open = { offset: scanner.dataOffset, bytes: 0, key: last }
    }
  }
  close(sstable.dataLength)
  const result: PartitionSize[] = []
  for (const { offset, bytes, key } of kept) {
    result.push({ ...keyText(partitioner, key ?? (await keyAt(sstable, offset))), bytes })
  }
  return {
    partitions,
    first: first && keyText(partitioner, first),
    last: last && keyText(partitioner, last),
    largest: result,
  }
}

function keyText(partitioner: Partitioner, key: Uint8Array): { key: string; token: string | null } {
  const { words } = tokenOf(partitioner, key)
  return { key: Buffer.from(key).toString('hex'), token: partitioner.formatToken(words, 0, key) }
}

/** The key of the partition at an offset of Data.db. */
async function keyAt(sstable: SSTable, offset: number): Promise<Uint8Array> {
  const counters = { dataBytesRead: 0, dataBytesInflated: 0, chunksInflated: 0 }
  const window = new DataWindow(dataChunks(sstable), DEFAULT_WINDOW, counters)
  window.seek(offset)
  await window.setStop(offset)
  try {
    await window.fill(2)
    const length = window.view.getUint16(window.pos)
    await window.fill(2 + length)
    return window.bytes.slice(window.pos + 2, window.pos + 2 + length)
  } finally {
    await window.close()
  }
}
