// Statistics.db (o.a.c.io.sstable.metadata.MetadataSerializer, StatsMetadata, o.a.c.db.SerializationHeader.Serializer): a
// table of contents, then VALIDATION, COMPACTION (cardinality sketch, skipped), STATS and HEADER, checksummed from na on.

import { crc32 } from '../bytes/crc32.ts'
import { Cursor } from '../bytes/cursor.ts'
import { SluiceError } from '../errors.ts'
import { type ClusteringPrefix, fixedValueLength, readBound } from './clustering-values.ts'
import type { VersionTraits } from './versions.ts'

/** A column as this file holds it: dropped ones too, with the type it had when the file was written. */
export interface HeaderColumn {
  /** `nameBytes` as text; not always UTF-8 in compact tables, so compare the bytes. */
  readonly name: string
  readonly nameBytes: Uint8Array
  /** Marshal class, such as `org.apache.cassandra.db.marshal.Int32Type`. */
  readonly type: string
}

export interface SerializationHeader {
  /** Base of timestamp deltas, microseconds. */
  readonly minTimestamp: bigint
  /** Base of local-deletion-time deltas, seconds; signed 32-bit before oa, unsigned from oa. */
  readonly minLocalDeletionTime: number
  /** Base of TTL deltas, seconds. */
  readonly minTtl: number
  /** Marshal class of the partition key. */
  readonly keyType: string
  readonly clusteringTypes: readonly string[]
  /** In the order of cells in rows: as listed, which some writers do not keep; sort before use. */
  readonly statics: readonly HeaderColumn[]
  readonly regulars: readonly HeaderColumn[]
}

/** Pairs (bound, count) as written; the first bound stands twice. */
export interface EstimatedHistogram {
  readonly bounds: BigInt64Array
  readonly counts: BigInt64Array
}

/** What the clusterings of rows and markers span (not static rows nor partition deletions). */
export interface CoveredClusterings {
  readonly start: ClusteringPrefix
  readonly end: ClusteringPrefix
  /** From oa, the types the values were written with. */
  readonly types: readonly string[] | null
}

export interface Statistics {
  /** Simple class name: `Murmur3Partitioner`. */
  readonly partitioner: string
  readonly bloomFilterFpChance: number
  /** Microseconds; both MIN_LONG or MAX_LONG are possible in SSTables without timestamps. */
  readonly minTimestamp: bigint
  readonly maxTimestamp: bigint
  /** Seconds; Infinity where nothing is deleted or expires. `max` is Infinity as soon as one cell is live for good. */
  readonly minLocalDeletionTime: number
  readonly maxLocalDeletionTime: number
  /** Seconds, 0 = none. */
  readonly minTtl: number
  readonly maxTtl: number
  /** Compressed to uncompressed size; -1 in uncompressed SSTables. */
  readonly compressionRatio: number
  readonly partitionSizes: EstimatedHistogram
  readonly cellsPerPartition: EstimatedHistogram
  /** Local deletion time in seconds, count. */
  readonly tombstoneHistogram: readonly (readonly [number, number])[]
  readonly level: number
  /** Milliseconds since the epoch, 0 = unrepaired. */
  readonly repairedAt: bigint
  /** null: not recorded, or recorded by a version that got it wrong (before md); then it covers everything. */
  readonly covered: CoveredClusterings | null
  readonly hasLegacyCounterShards: boolean
  readonly totalColumnsSet: bigint
  readonly totalRows: bigint
  /** UUIDs in hex. */
  readonly pendingRepair: string | null
  readonly isTransient: boolean
  readonly originatingHostId: string | null
  /** True where unknown. */
  readonly hasPartitionLevelDeletions: boolean
  readonly firstKey: Uint8Array | null
  readonly lastKey: Uint8Array | null
  readonly tokenSpaceCoverage: number | null
  /** Written by a 4.0 that was not yet released: no isTransient, and Filter.db in the layout of 3.x. */
  readonly preReleaseNa: boolean
  readonly header: SerializationHeader
}

type Stats = Omit<Statistics, 'partitioner' | 'bloomFilterFpChance' | 'header'>

/** More than any real file: a table of 100,000 columns has a header of about 10 MB. */
export const MAX_STATISTICS_BYTES = 64 * 1024 * 1024

const VALIDATION = 0
const STATS = 2
const HEADER = 3
const TYPE_NAMES = ['VALIDATION', 'COMPACTION', 'STATS', 'HEADER']

// Bases of the header's minima (o.a.c.db.rows.EncodingStats): 2015-09-22T00:00:00Z.
const MIN_LONG = -0x8000000000000000n
const TIMESTAMP_EPOCH = 1442880000000000n
const DELETION_TIME_EPOCH = 1442880000n

/** Parses a whole Statistics.db. CHECKSUM_MISMATCH, CORRUPT_SSTABLE. */
export function parseStatistics(bytes: Uint8Array, version: VersionTraits, file: string): Statistics {
  const extents = readContents(bytes, version, file)
  const part = (type: number) => {
    const extent = extents.get(type)
    if (extent === undefined) {
      throw new SluiceError('CORRUPT_SSTABLE', { file, reason: `no ${TYPE_NAMES[type]} component` })
    }
    return new Cursor(bytes.subarray(extent.start, extent.end), file, extent.start)
  }
  const validation = part(VALIDATION)
  const partitioner = validation.utf()
  const bloomFilterFpChance = validation.f64()
  const header = readHeader(part(HEADER), version)
  const stats = readStats(part(STATS), version)
  // The base of timestamps is at or below all of them; before na no checksum holds them together. Of local deletion times that is
  // not so: compaction dates the tombstone it makes of an expired cell back by its TTL, and its delta below 0 wraps around.
  const { minTimestamp } = header
  if (stats.minTimestamp !== MIN_LONG && minTimestamp > stats.minTimestamp) {
    const reason = `the header begins at timestamp ${minTimestamp}, STATS at ${stats.minTimestamp}`
    throw new SluiceError('CORRUPT_SSTABLE', { file, reason })
  }
  return {
    partitioner: partitioner.slice(partitioner.lastIndexOf('.') + 1),
    bloomFilterFpChance,
    ...stats,
    header,
  }
}

/** The histogram of partition sizes has each partition in one of its buckets. 0: some other writer keeps none. */
export function countedPartitions(statistics: Statistics): number {
  let count = 0n
  for (const n of statistics.partitionSizes.counts) count += n
  return Number(count)
}

interface Extent {
  start: number
  end: number
}

/** Where each component lies, without its checksum, which is verified. */
function readContents(bytes: Uint8Array, version: VersionTraits, file: string): Map<number, Extent> {
  const cursor = new Cursor(bytes, file)
  const count = cursor.checkCount(cursor.u32(), 8, 'component')
  if (version.metadataChecksum) verify(cursor, bytes.subarray(0, 4), 0, 'of the component count')
  const entriesAt = cursor.pos
  const entries: { type: number; offset: number }[] = []
  for (let i = 0; i < count; i++) entries.push({ type: cursor.u32(), offset: cursor.u32() })
  if (version.metadataChecksum) {
    const entryBytes = bytes.subarray(entriesAt, cursor.pos)
    verify(cursor, entryBytes, crc32(bytes.subarray(0, 4)), 'of the table of contents')
  }
  // ScyllaDB lists them in another order than they lie, so an extent ends at the next larger offset.
  const ends = [...entries.map((entry) => entry.offset), bytes.length].sort((a, b) => a - b)
  const extents = new Map<number, Extent>()
  for (const { type, offset } of entries) {
    if (offset < cursor.pos || offset > bytes.length) throw cursor.corrupt(`component offset ${offset}`, entriesAt)
    if (type >= TYPE_NAMES.length) throw cursor.corrupt(`component type ${type}`, entriesAt)
    if (extents.has(type)) throw cursor.corrupt(`two ${TYPE_NAMES[type]} components`, entriesAt)
    let end = ends.find((candidate) => candidate > offset) ?? offset
    if (version.metadataChecksum) {
      if (end - offset < 4) throw cursor.corrupt(`${TYPE_NAMES[type]} is too short`, offset)
      end -= 4
      const stored = new Cursor(bytes.subarray(end, end + 4), file, end)
      verify(stored, bytes.subarray(offset, end), 0, `of ${TYPE_NAMES[type]}`)
    }
    extents.set(type, { start: offset, end })
  }
  return extents
}

function verify(cursor: Cursor, bytes: Uint8Array, before: number, what: string): void {
  const offset = cursor.offset
  const stored = cursor.u32()
  if (crc32(bytes, before) !== stored) {
    throw new SluiceError('CHECKSUM_MISMATCH', { file: cursor.file, offset, reason: `the CRC32 ${what} differs` })
  }
}

function readStats(cursor: Cursor, version: VersionTraits): Stats {
  const partitionSizes = readHistogram(cursor)
  const cellsPerPartition = readHistogram(cursor)
  skipCommitLogPosition(cursor)
  const minTimestamp = cursor.i64()
  const maxTimestamp = cursor.i64()
  const minLocalDeletionTime = readDeletionTime(cursor, version)
  const maxLocalDeletionTime = readDeletionTime(cursor, version)
  const minTtl = cursor.i32()
  const maxTtl = cursor.i32()
  const compressionRatio = cursor.f64()
  const tombstoneHistogram = readTombstoneHistogram(cursor, version)
  const level = cursor.i32()
  const repairedAt = cursor.i64()
  const legacy = version.legacyMinMax ? readLegacyMinMax(cursor) : null
  let covered = version.accurateMinMax ? legacy : null
  if (version.coveredSlice && !version.legacyMinMax) covered = readCovered(cursor)
  const hasLegacyCounterShards = cursor.bool()
  const totalColumnsSet = cursor.i64()
  const totalRows = cursor.i64()
  if (version.commitLogLowerBound) skipCommitLogPosition(cursor)
  if (version.commitLogIntervals) cursor.skip(24 * cursor.checkCount(cursor.u32(), 24, 'commit-log interval'))
  const pendingRepair = version.pendingRepair && cursor.bool() ? hex(cursor.take(16)) : null
  const preReleaseNa = version.isTransient && !version.originatingHostId && cursor.remaining === 0
  const isTransient = version.isTransient && !preReleaseNa && cursor.bool()
  const originatingHostId = version.originatingHostId && cursor.bool() ? hex(cursor.take(16)) : null
  // Where there is no flag, only an SSTable without any deletion is known to have none of partitions.
  const hasPartitionLevelDeletions = version.partitionDeletionFlag
    ? cursor.bool()
    : minLocalDeletionTime !== Number.POSITIVE_INFINITY
  if (version.coveredSlice && version.legacyMinMax) covered = readCovered(cursor)
  const firstKey = version.keyRange ? cursor.uvintBytes().slice() : null
  const lastKey = version.keyRange ? cursor.uvintBytes().slice() : null
  const tokenSpaceCoverage = version.tokenSpaceCoverage ? cursor.f64() : null
  // A rest may follow: from oa Cassandra reserves 16 bytes a histogram bin and fills 12.
  return {
    minTimestamp,
    maxTimestamp,
    minLocalDeletionTime,
    maxLocalDeletionTime,
    minTtl,
    maxTtl,
    compressionRatio,
    partitionSizes,
    cellsPerPartition,
    tombstoneHistogram,
    level,
    repairedAt,
    covered,
    hasLegacyCounterShards,
    totalColumnsSet,
    totalRows,
    pendingRepair,
    isTransient,
    originatingHostId,
    hasPartitionLevelDeletions,
    firstKey,
    lastKey,
    tokenSpaceCoverage,
    preReleaseNa,
  }
}

function readHistogram(cursor: Cursor): EstimatedHistogram {
  const n = cursor.checkCount(cursor.u32(), 16, 'histogram')
  const bounds = new BigInt64Array(n)
  const counts = new BigInt64Array(n)
  for (let i = 0; i < n; i++) {
    bounds[i] = cursor.i64()
    counts[i] = cursor.i64()
  }
  return { bounds, counts }
}

function readTombstoneHistogram(cursor: Cursor, version: VersionTraits): [number, number][] {
  cursor.skip(4) // the largest number of bins
  const n = cursor.checkCount(cursor.u32(), version.unsignedDeletionTime ? 12 : 16, 'tombstone histogram')
  const bins: [number, number][] = []
  for (let i = 0; i < n; i++) {
    if (version.unsignedDeletionTime) bins.push([Number(cursor.i64()), cursor.i32()])
    else bins.push([cursor.f64(), Number(cursor.i64())])
  }
  return bins
}

function readDeletionTime(cursor: Cursor, version: VersionTraits): number {
  const value = version.unsignedDeletionTime ? cursor.u32() : cursor.i32()
  const none = version.unsignedDeletionTime ? 0xffffffff : 0x7fffffff
  return value === none ? Number.POSITIVE_INFINITY : value
}

function skipCommitLogPosition(cursor: Cursor): void {
  cursor.skip(12) // i64 segment, i32 position
}

function readLegacyMinMax(cursor: Cursor): CoveredClusterings {
  const read = () => {
    const n = cursor.checkCount(cursor.u32(), 2, 'min/max clustering')
    const values: Uint8Array[] = []
    for (let i = 0; i < n; i++) values.push(cursor.u16Bytes().slice())
    return values
  }
  return { start: { kind: 1, values: read() }, end: { kind: 6, values: read() }, types: null }
}

function readCovered(cursor: Cursor): CoveredClusterings {
  const n = cursor.checkCount(cursor.uvint(), 1, 'clustering type')
  const types: string[] = []
  for (let i = 0; i < n; i++) types.push(cursor.uvintText())
  const lengths = types.map(fixedValueLength)
  const copy = ({ kind, values }: ClusteringPrefix) => ({ kind, values: values.map((v) => v?.slice() ?? null) })
  const start = copy(readBound(cursor, lengths))
  const end = copy(readBound(cursor, lengths))
  return { start, end, types }
}

function readHeader(cursor: Cursor, version: VersionTraits): SerializationHeader {
  // All three are wrapping differences: modulo 2^64 and 2^32.
  const minTimestamp = BigInt.asIntN(64, cursor.uvintBig() + TIMESTAMP_EPOCH)
  const deletionTime = cursor.uvintBig() + DELETION_TIME_EPOCH
  const minLocalDeletionTime = Number(
    version.unsignedDeletionTime ? BigInt.asUintN(32, deletionTime) : BigInt.asIntN(32, deletionTime),
  )
  const minTtl = Number(BigInt.asIntN(32, cursor.uvintBig()))
  const keyType = cursor.uvintText()
  const n = cursor.checkCount(cursor.uvint(), 1, 'clustering type')
  const clusteringTypes: string[] = []
  for (let i = 0; i < n; i++) clusteringTypes.push(cursor.uvintText())
  const statics = readColumns(cursor)
  const regulars = readColumns(cursor)
  return { minTimestamp, minLocalDeletionTime, minTtl, keyType, clusteringTypes, statics, regulars }
}

const lenient = new TextDecoder('utf-8', { ignoreBOM: true })

function readColumns(cursor: Cursor): HeaderColumn[] {
  const n = cursor.checkCount(cursor.uvint(), 2, 'column')
  const columns: HeaderColumn[] = []
  for (let i = 0; i < n; i++) {
    const nameBytes = cursor.uvintBytes().slice()
    columns.push({ name: lenient.decode(nameBytes), nameBytes, type: cursor.uvintText() })
  }
  return columns
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
