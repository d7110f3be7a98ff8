// What a run decoder (run-decoder.ts) and its caller tell each other, and the parts of its work that are the same for every
// table: cells that are not plain, and complex columns.

import { readUvint, readUvintHi, readUvintLo, vintSize } from '../bytes/vint.ts'
import type { ColumnBuilder } from './column-builder.ts'
import type { RowWriter } from './row-writer.ts'
import type { FileLayout } from './table-layout.ts'
import { NO_TIMESTAMP_HI, NO_TIMESTAMP_LO, OVERFLOWED_DELETION_TIME } from './unfiltered.ts'

/** Why a run ended. */
export const RUN_NEEDS_BYTES = 0
/** At `pos` stands something the run decoder does not read. */
export const RUN_UNUSUAL = 1
export const RUN_BATCH_FULL = 2
/** The next partition's token is at or beyond the limit. */
export const RUN_AT_LIMIT = 3

/** Clusterings at or before the one before them. */
export class ClusteringOrderError extends Error {}

export class RunState {
  readonly layout: FileLayout
  readonly now: number
  writer: RowWriter
  builders: ColumnBuilder[] = []
  // --- in and out
  /** Inside a partition, before an unfiltered; else between partitions. */
  inside = false
  // Key of the partition, one entry per key column, in keyBytes.
  keyBytes: Uint8Array = EMPTY
  keyView: DataView = EMPTY_VIEW
  keyOffset: Int32Array
  keyLength: Int32Array
  // Clustering of the row before, to check the order; none at a partition's beginning.
  hasPrevious = false
  previousBytes: Uint8Array = EMPTY
  previousView: DataView = EMPTY_VIEW
  previousOffset: Int32Array
  previousLength: Int32Array
  // --- in
  /** May go on over the end of a partition into the next. */
  crossing = false
  /** Partitions at or beyond this token are left alone; checked when hasLimit. */
  hasLimit = false
  readonly limit = new Int32Array(4)
  readonly token = new Int32Array(4)
  /** Rows that may be written at most. */
  maxRows = 0
  // --- in and out
  /** A row of the partition at hand was written. */
  emitted = false
  // --- out
  pos = 0
  /** Rows written. */
  rows = 0
  /** Rows passed that are not alive. */
  deadRows = 0
  /** Partitions begun, and those of which the first row was written. */
  partitions = 0
  emittedPartitions = 0
  /** The whole key of the partition begun last, in the window's bytes; length -1: none was begun. */
  wholeKeyOffset = 0
  wholeKeyLength = -1
  partitionPos = 0
  // --- of the row at hand
  /** Where its body begins (in its sizes' place, with the liveness) and ends, and its flags. */
  at = 0
  rowEnd = 0
  flags = 0
  clusteringOffset: Int32Array
  clusteringLength: Int32Array
  /** It must hide all that was written up to otherHi, otherLo: its collections too must be whole new ones. */
  dominates = false
  otherHi = 0
  otherLo = 0
  /** The cell is not alive at `now`. */
  dead = false
  /** The row's liveness has a TTL that is over at `now`; of its cells those that share it are dead. */
  expired = false
  /** Of a complex column: one of its cells is alive. */
  anyLive = false
  liveHi = 0
  liveLo = 0

  constructor(layout: FileLayout, writer: RowWriter, now: number, keyParts: number) {
    this.layout = layout
    this.writer = writer
    this.now = now
    this.keyOffset = new Int32Array(keyParts)
    this.keyLength = new Int32Array(keyParts)
    this.previousOffset = new Int32Array(Math.max(1, layout.clusteringCount))
    this.previousLength = new Int32Array(Math.max(1, layout.clusteringCount))
    this.clusteringOffset = new Int32Array(Math.max(1, layout.clusteringCount))
    this.clusteringLength = new Int32Array(Math.max(1, layout.clusteringCount))
  }
}

const EMPTY = new Uint8Array(0)
const EMPTY_VIEW = new DataView(EMPTY.buffer)

const ALL_COLUMNS = 0x20

const DELETED = 0x01
const EXPIRING = 0x02
const EMPTY_VALUE = 0x04
const ROW_TIMESTAMP = 0x08
const ROW_TTL = 0x10

/**
 * Reads what follows a cell's flags up to its path or value, for cells that are not plain (0x08). Sets `dead`. Returns the position
 * behind, or -1 for what the run decoder leaves alone.
 */
export function cellMeta(s: RunState, bytes: Uint8Array, at: number, flags: number): number {
  let p = at
  if (flags > 0x1f) return -1
  if ((flags & ROW_TIMESTAMP) === 0) p += vintSize(bytes[p])
  s.dead = (flags & DELETED) !== 0
  if ((flags & ROW_TTL) !== 0) {
    if ((flags & EXPIRING) !== 0 && s.expired) s.dead = true
  } else if ((flags & (DELETED | EXPIRING)) !== 0) {
    const ldt = (readUvintLo(bytes, p) + s.layout.minLdt) | 0
    // An overflowed time: the plain decoder counts it.
    if (!s.layout.unsignedLdt && ldt < 0) return -1
    p += vintSize(bytes[p])
    if ((flags & EXPIRING) !== 0) {
      if ((s.layout.unsignedLdt ? ldt >>> 0 : ldt) <= s.now) s.dead = true
      p += vintSize(bytes[p])
    }
  }
  return p
}

/**
 * The row's TTL and local deletion time at `p`: 1: it ends behind `now`; 0: it is over; -1: for the plain decoder, which counts
 * overflowed times and knows the expired liveness of views. Sets `expired`.
 */
export function rowExpiry(s: RunState, bytes: Uint8Array, at: number): number {
  const ttl = (readUvintLo(bytes, at) + s.layout.minTtl) | 0
  const p = at + vintSize(bytes[at])
  const ldt = (readUvintLo(bytes, p) + s.layout.minLdt) | 0
  if (ttl <= 0 || ttl === 0x7fffffff) return -1
  if (!s.layout.unsignedLdt && ldt < 0) return -1
  // What expires does so its TTL after it was written, so after 1970.
  if ((s.layout.unsignedLdt ? ldt >>> 0 : ldt) < ttl) return -1
  s.expired = (s.layout.unsignedLdt ? ldt >>> 0 : ldt) <= s.now
  return s.expired ? 0 : 1
}

/** Whether the liveness at `liveness` is newer than the deletion of the same row at `p`, and the deletion a sound one. */
export function isOutlived(s: RunState, bytes: Uint8Array, p: number, liveness: number): boolean {
  rowTimestamp(s, bytes, p)
  const hi = s.liveHi
  const lo = s.liveLo
  rowTimestamp(s, bytes, liveness)
  if (hi > s.liveHi || (hi === s.liveHi && lo >>> 0 >= s.liveLo >>> 0)) return false
  return isSoundDeletion(s, bytes, p + vintSize(bytes[p]))
}

/** Whether the row that begins with a deletion at `at` is nothing else: no cell. Its timestamp goes to liveHi, liveLo. */
export function isTombstone(s: RunState, bytes: Uint8Array, at: number, end: number, flags: number): boolean {
  rowTimestamp(s, bytes, at)
  // Live after all (CASSANDRA-21333).
  if (s.liveHi === NO_TIMESTAMP_HI && s.liveLo === NO_TIMESTAMP_LO) return false
  let p = at + vintSize(bytes[at])
  if (!isSoundDeletion(s, bytes, p)) return false
  p += vintSize(bytes[p])
  // All columns of an SSTable that has none, or all of them missing.
  return (flags & ALL_COLUMNS) !== 0 ? p === end : p + vintSize(bytes[p]) === end
}

/** A local deletion time that a deletion can have: one that overflowed is damage. */
function isSoundDeletion(s: RunState, bytes: Uint8Array, p: number): boolean {
  const ldt = (readUvintLo(bytes, p) + s.layout.minLdt) | 0
  return s.layout.unsignedLdt ? ldt >>> 0 < OVERFLOWED_DELETION_TIME : ldt >= 0
}

/** Halves of the timestamp at `p`, into liveHi, liveLo. */
export function rowTimestamp(s: RunState, bytes: Uint8Array, p: number): void {
  const lo = (readUvintLo(bytes, p) >>> 0) + (s.layout.minTimestampLo >>> 0)
  s.liveLo = lo | 0
  s.liveHi = (readUvintHi(bytes, p) + s.layout.minTimestampHi + (lo > 0xffffffff ? 1 : 0)) | 0
}

/**
 * Walks the cells of a complex column from its deletion (if `hasDeletion`) or cell count on. Returns the position behind, or -1
 * where a deletion might cover a cell. `strict`: a deletion lies right below the row's timestamp. Sets `anyLive`.
 */
export function walkComplex(
  s: RunState,
  bytes: Uint8Array,
  at: number,
  end: number,
  hasDeletion: boolean,
  strict: boolean,
): number {
  let p = at
  let covered = strict
  let hides = !s.dominates
  s.anyLive = false
  if (hasDeletion) {
    const lo = (readUvintLo(bytes, p) >>> 0) + (s.layout.minTimestampLo >>> 0)
    const hi = (readUvintHi(bytes, p) + s.layout.minTimestampHi + (lo > 0xffffffff ? 1 : 0)) | 0
    p += vintSize(bytes[p])
    p += vintSize(bytes[p])
    if (hi !== NO_TIMESTAMP_HI || (lo | 0) !== NO_TIMESTAMP_LO) {
      // As an INSERT of a whole collection writes it: a deletion right before the row's own timestamp.
      if (hi > s.liveHi || (hi === s.liveHi && (lo | 0) >>> 0 >= s.liveLo >>> 0)) return -1
      covered = true
      hides ||= hi > s.otherHi || (hi === s.otherHi && (lo | 0) >>> 0 >= s.otherLo >>> 0)
    }
  }
  if (!hides) return -1
  const count = readUvint(bytes, p)
  p += vintSize(bytes[p])
  for (let i = 0; i < count; i++) {
    if (p >= end) return -1
    const flags = bytes[p++]
    if (covered && (flags & ROW_TIMESTAMP) === 0) return -1
    if (flags !== ROW_TIMESTAMP) {
      p = cellMeta(s, bytes, p, flags)
      if (p < 0) return -1
      if (!s.dead) s.anyLive = true
    } else s.anyLive = true
    p += vintSize(bytes[p]) + readUvint(bytes, p)
    if ((flags & EMPTY_VALUE) === 0) p += vintSize(bytes[p]) + readUvint(bytes, p)
  }
  return p
}

/** Appends the column that walkComplex() found readable. Returns the bytes of its live cells, as RowWriter counts them. */
export function emitComplex(
  s: RunState,
  builder: ColumnBuilder,
  bytes: Uint8Array,
  view: DataView,
  at: number,
  hasDeletion: boolean,
): number {
  let p = at
  let size = 0
  if (hasDeletion) {
    p += vintSize(bytes[p])
    p += vintSize(bytes[p])
  }
  const count = readUvint(bytes, p)
  p += vintSize(bytes[p])
  builder.beginCells()
  for (let i = 0; i < count; i++) {
    const flags = bytes[p++]
    s.dead = false
    if (flags !== ROW_TIMESTAMP) p = cellMeta(s, bytes, p, flags)
    const pathLength = readUvint(bytes, p)
    const path = p + vintSize(bytes[p])
    p = path + pathLength
    let length = 0
    let value = p
    if ((flags & EMPTY_VALUE) === 0) {
      length = readUvint(bytes, p)
      value = p + vintSize(bytes[p])
      p = value + length
    }
    if (s.dead) continue
    builder.appendCell(bytes, view, path, pathLength, bytes, view, value, length)
    size += pathLength + length + 4
  }
  builder.endCells()
  return size
}
