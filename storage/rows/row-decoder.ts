// The plain decoder of rows and markers (Cassandra: db/rows/UnfilteredSerializer, ClusteringPrefix.Serializer, Cell.Serializer,
// Columns.Serializer). Synchronous over bytes in memory; every decoder specialised on a table is tested against this one.

import { readUvint, readUvintHi, readUvintLo, vintSize } from '../bytes/vint.ts'
import { SluiceError } from '../errors.ts'
import type { FileColumns, FileLayout } from './table-layout.ts'
import {
  CELL_DELETED,
  CELL_EMPTY,
  CELL_EXPIRING,
  CLUSTERING,
  COMPLEX_DELETION,
  EXCL_END_INCL_START,
  EXCL_START,
  EXPIRED_LIVENESS_TTL,
  INCL_END_EXCL_START,
  KIND_MARKER,
  KIND_ROW,
  NO_DELETION_TIME,
  NO_TIMESTAMP_HI,
  NO_TIMESTAMP_LO,
  OVERFLOWED_DELETION_TIME,
  STATIC_CLUSTERING,
  timestampOf,
  type Unfiltered,
} from './unfiltered.ts'

// Flags of an unfiltered.
export const END_OF_PARTITION = 0x01
export const IS_MARKER = 0x02
export const HAS_TIMESTAMP = 0x04
export const HAS_TTL = 0x08
export const HAS_DELETION = 0x10
export const HAS_ALL_COLUMNS = 0x20
export const HAS_COMPLEX_DELETION = 0x40
export const EXTENSION = 0x80
// The extended byte.
export const IS_STATIC = 0x01
export const HAS_SHADOWABLE_DELETION = 0x02
/** ScyllaDB's own: one more deletion (timestamp and local deletion time delta) after the row's. */
export const HAS_SCYLLA_SHADOWABLE_DELETION = 0x80

const CELL_USE_ROW_TIMESTAMP = 0x08
const CELL_USE_ROW_TTL = 0x10
const KNOWN_CELL_FLAGS = 0x1f

/** Longest uvint in bytes; with it a loop can test for room once before several reads. */
export const VINT_MAX = 9

/** Counts what decoding meets and a user should hear of. */
export interface DecodeCounters {
  overflowedDeletionTimes: number
}

/** Decodes the parts of one SSTable's rows. `p` is the cursor that each function moves. */
export class RowDecoder {
  readonly layout: FileLayout
  p = 0
  #counters: DecodeCounters
  // Results of the readers below.
  #hi = 0
  #lo = 0
  #ldt = 0

  constructor(layout: FileLayout, counters: DecodeCounters) {
    this.layout = layout
    this.#counters = counters
  }

  /**
   * Clustering values at `p`. Returns 0, or the least number of bytes from the start of the unfiltered that are needed when
   * `end` comes first. `types` values are read (all for rows, a prefix for bounds).
   */
  clustering(u: Unfiltered, bytes: Uint8Array, end: number, count: number): boolean {
    u.reserveClustering(count)
    const fixed = this.layout.clusteringFixed
    let p = this.p
    let header = 0
    let headerHi = 0
    for (let i = 0; i < count; i++) {
      const at = i & 31
      if (at === 0) {
        if (p >= end || p + vintSize(bytes[p]) > end) return false
        header = readUvintLo(bytes, p)
        headerHi = readUvintHi(bytes, p)
        p += vintSize(bytes[p])
      }
      const bits = at < 16 ? header >>> (2 * at) : headerHi >>> (2 * (at - 16))
      if ((bits & 2) !== 0) {
        u.clusteringOffset[i] = p
        u.clusteringLength[i] = -1
      } else if ((bits & 1) !== 0) {
        u.clusteringOffset[i] = p
        u.clusteringLength[i] = 0
      } else {
        let length = fixed[i]
        if (length < 0) {
          if (p >= end || p + vintSize(bytes[p]) > end) return false
          length = readUvint(bytes, p)
          p += vintSize(bytes[p])
          // Cassandra's clustering values are at most 64 KiB (FBUtilities.MAX_UNSIGNED_SHORT).
          if (length > 0xffff) throw this.corrupt(p, `a clustering value of ${length} bytes`)
        }
        if (p + length > end) return false
        u.clusteringOffset[i] = p
        u.clusteringLength[i] = length
        p += length
      }
    }
    this.p = p
    return true
  }

  /** A row's body from behind its clustering to `end` (exclusive), with sizes already read. */
  row(u: Unfiltered, bytes: Uint8Array, view: DataView, end: number, flags: number, extended: number): void {
    const isStatic = (extended & IS_STATIC) !== 0
    const columns = isStatic ? this.layout.statics : this.layout.regulars
    u.kind = KIND_ROW
    u.boundKind = isStatic ? STATIC_CLUSTERING : CLUSTERING
    u.bytes = bytes
    u.view = view
    u.clearRow()
    if ((flags & HAS_TIMESTAMP) !== 0) {
      this.#timestamp(bytes)
      this.#checkTimestamp()
      u.liveHi = this.#hi
      u.liveLo = this.#lo
      if ((flags & HAS_TTL) !== 0) {
        u.liveTtl = this.#ttl(bytes)
        this.#localDeletionTime(bytes)
        u.liveLdt = this.#ldt
        this.#checkExpiry(u.liveTtl, this.#ldt)
      }
    }
    if ((flags & HAS_DELETION) !== 0) {
      this.#deletion(bytes)
      u.delHi = this.#hi
      u.delLo = this.#lo
      u.delLdt = this.#ldt
      u.shadowable = (extended & HAS_SHADOWABLE_DELETION) !== 0
    }
    if ((extended & HAS_SCYLLA_SHADOWABLE_DELETION) !== 0) this.#scyllaShadowable(u, bytes)
    if ((flags & HAS_ALL_COLUMNS) !== 0) {
      for (let i = 0; i < columns.count; i++) this.#column(u, bytes, end, columns, i, flags)
    } else {
      this.#subset(u, bytes, end, columns, flags)
    }
    if (this.p !== end) throw this.corrupt(this.p, `a row ends at ${this.p - end} bytes from where its size says`)
  }

  /** A marker's body: one deletion of a bound, two of a boundary. */
  marker(u: Unfiltered, bytes: Uint8Array, view: DataView, end: number, boundKind: number): void {
    u.kind = KIND_MARKER
    u.bytes = bytes
    u.view = view
    u.boundKind = boundKind
    u.clearRow()
    u.openHi = NO_TIMESTAMP_HI
    u.openLo = NO_TIMESTAMP_LO
    u.openLdt = NO_DELETION_TIME
    const boundary = boundKind === EXCL_END_INCL_START || boundKind === INCL_END_EXCL_START
    const opens = boundary || isStart(boundKind)
    if (!opens || boundary) {
      this.#deletion(bytes)
      u.delHi = this.#hi
      u.delLo = this.#lo
      u.delLdt = this.#ldt
    }
    if (opens) {
      this.#deletion(bytes)
      u.openHi = this.#hi
      u.openLo = this.#lo
      u.openLdt = this.#ldt
    }
    if (this.p !== end) throw this.corrupt(this.p, `a marker ends at ${this.p - end} bytes from where its size says`)
  }

  corrupt(_at: number, reason: string): SluiceError {
    return new SluiceError('CORRUPT_SSTABLE', { file: this.layout.sstable.file, reason })
  }

  #subset(u: Unfiltered, bytes: Uint8Array, end: number, columns: FileColumns, flags: number): void {
    const count = columns.count
    const first = this.p
    this.p += vintSize(bytes[first])
    if (count < 64) {
      // A bitmap of the columns that are missing.
      const lo = readUvintLo(bytes, first)
      const hi = readUvintHi(bytes, first)
      for (let i = 0; i < count; i++) {
        const bit = i < 32 ? (lo >>> i) & 1 : (hi >>> (i - 32)) & 1
        if (bit === 0) this.#column(u, bytes, end, columns, i, flags)
      }
      return
    }
    const missing = readUvint(bytes, first)
    if (missing > count) throw this.corrupt(first, `${missing} of ${count} columns are missing`)
    const present = count - missing
    if (missing === 0) {
      for (let i = 0; i < count; i++) this.#column(u, bytes, end, columns, i, flags)
      return
    }
    // The indexes come before the cells, so they are read by a cursor of their own.
    const listsPresent = present < count >> 1 // exactly half: the missing ones are listed
    const listed = listsPresent ? present : missing
    let at = this.p
    for (let i = 0; i < listed; i++) this.p += vintSize(bytes[this.p])
    if (this.p > end) throw this.corrupt(first, 'the column subset runs over the row')
    let next = 0
    for (let i = 0; i < listed; i++) {
      const index = readUvint(bytes, at)
      at += vintSize(bytes[at])
      if (index < next || index >= count) throw this.corrupt(at, `column index ${index} in a subset`)
      if (listsPresent) {
        this.#column(u, bytes, end, columns, index, flags)
      } else {
        for (let j = next; j < index; j++) this.#column(u, bytes, end, columns, j, flags)
      }
      next = index + 1
    }
    if (!listsPresent) for (let j = next; j < count; j++) this.#column(u, bytes, end, columns, j, flags)
  }

  #column(u: Unfiltered, bytes: Uint8Array, end: number, columns: FileColumns, index: number, flags: number): void {
    if (columns.complex[index] === 0) {
      this.#cell(u, bytes, end, columns, index, false)
      return
    }
    if ((flags & HAS_COMPLEX_DELETION) !== 0) {
      this.#deletion(bytes)
      // Rows that have 0x40 for one column say "live" for the others: timestamp MIN after wrapping (CASSANDRA-21333).
      if (this.#hi !== NO_TIMESTAMP_HI || this.#lo !== NO_TIMESTAMP_LO) {
        if (columns.dropped[index] === 0 || !this.#isDropped(columns, index)) {
          const at = u.addCell()
          u.slot[at] = columns.slot[index]
          u.flags[at] = COMPLEX_DELETION
          u.tsHi[at] = this.#hi
          u.tsLo[at] = this.#lo
          u.ldt[at] = this.#ldt
        }
      }
    }
    if (this.p >= end) throw this.corrupt(this.p, 'a complex column runs over the row')
    const count = readUvint(bytes, this.p)
    this.p += vintSize(bytes[this.p])
    if (count > end - this.p) throw this.corrupt(this.p, `${count} cells in ${end - this.p} bytes`)
    for (let i = 0; i < count; i++) this.#cell(u, bytes, end, columns, index, true)
  }

  #cell(u: Unfiltered, bytes: Uint8Array, end: number, columns: FileColumns, index: number, complex: boolean): void {
    if (this.p >= end) throw this.corrupt(this.p, 'a cell runs over the row')
    const flags = bytes[this.p++]
    if ((flags & ~KNOWN_CELL_FLAGS) !== 0) throw this.corrupt(this.p, `cell flags 0x${flags.toString(16)}`)
    const at = u.addCell()
    if ((flags & CELL_USE_ROW_TIMESTAMP) !== 0) {
      u.tsHi[at] = u.liveHi
      u.tsLo[at] = u.liveLo
    } else {
      this.#timestamp(bytes)
      this.#checkTimestamp()
      u.tsHi[at] = this.#hi
      u.tsLo[at] = this.#lo
    }
    const expiring = (flags & CELL_EXPIRING) !== 0
    if ((flags & CELL_USE_ROW_TTL) !== 0) {
      u.ldt[at] = u.liveLdt
      u.ttl[at] = expiring ? u.liveTtl : 0
    } else {
      if ((flags & (CELL_DELETED | CELL_EXPIRING)) !== 0) {
        this.#localDeletionTime(bytes)
        u.ldt[at] = this.#ldt
        if (!expiring && this.#ldt === OVERFLOWED_DELETION_TIME) throw this.#invalidDeletion()
      } else {
        u.ldt[at] = NO_DELETION_TIME
      }
      u.ttl[at] = expiring ? this.#ttl(bytes) : 0
      if (expiring) this.#checkExpiry(u.ttl[at], u.ldt[at])
    }
    u.slot[at] = columns.slot[index]
    u.flags[at] = flags & (CELL_DELETED | CELL_EXPIRING | CELL_EMPTY)
    if (complex) {
      const length = this.#length(bytes, end)
      u.pathOffset[at] = this.p
      u.pathLength[at] = length
      this.p += length
    }
    let length = 0
    if ((flags & CELL_EMPTY) === 0) {
      length = complex ? -1 : columns.fixed[index]
      if (length < 0) length = this.#length(bytes, end)
      else if (this.p + length > end) throw this.corrupt(this.p, 'a value runs over the row')
    }
    u.offset[at] = this.p
    u.length[at] = length
    this.p += length
    if (columns.dropped[index] === 1) {
      this.#hi = u.tsHi[at]
      this.#lo = u.tsLo[at]
      if (this.#isDropped(columns, index)) u.cells--
    }
  }

  /** Whether the timestamp in #hi, #lo is at or before the column's drop. */
  #isDropped(columns: FileColumns, index: number): boolean {
    const dropHi = columns.dropHi[index]
    return this.#hi < dropHi || (this.#hi === dropHi && this.#lo >>> 0 <= columns.dropLo[index] >>> 0)
  }

  #length(bytes: Uint8Array, end: number): number {
    if (this.p >= end) throw this.corrupt(this.p, 'a length runs over the row')
    const length = readUvint(bytes, this.p)
    this.p += vintSize(bytes[this.p])
    if (this.p + length > end)
      throw this.corrupt(this.p, `a value of ${length} bytes in a row with ${end - this.p} left`)
    return length
  }

  #timestamp(bytes: Uint8Array): void {
    const p = this.p
    const lo = (readUvintLo(bytes, p) >>> 0) + (this.layout.minTimestampLo >>> 0)
    this.#lo = lo | 0
    this.#hi = (readUvintHi(bytes, p) + this.layout.minTimestampHi + (lo > 0xffffffff ? 1 : 0)) | 0
    this.p = p + vintSize(bytes[p])
  }

  #localDeletionTime(bytes: Uint8Array): void {
    const p = this.p
    this.p = p + vintSize(bytes[p])
    const value = (readUvintLo(bytes, p) + this.layout.minLdt) | 0
    this.#ldt = this.#widen(value)
  }

  /** An on-disk local deletion time in the unsigned form of 5.0, which is used throughout. */
  #widen(value: number): number {
    if (this.layout.unsignedLdt) return value >>> 0
    if (value === 0x7fffffff) return NO_DELETION_TIME
    if (value < 0) {
      this.#counters.overflowedDeletionTimes++
      return OVERFLOWED_DELETION_TIME
    }
    return value
  }

  #ttl(bytes: Uint8Array): number {
    const p = this.p
    this.p = p + vintSize(bytes[p])
    const ttl = (readUvintLo(bytes, p) + this.layout.minTtl) | 0
    if (ttl < 0) throw this.corrupt(p, `a TTL of ${ttl}`)
    return ttl
  }

  /** A deletion, "live" (timestamp MIN_LONG) among them, whose local deletion time says nothing (CASSANDRA-21333). */
  #deletion(bytes: Uint8Array): void {
    this.#timestamp(bytes)
    const p = this.p
    this.p = p + vintSize(bytes[p])
    if (this.#hi === NO_TIMESTAMP_HI && this.#lo === NO_TIMESTAMP_LO) {
      this.#ldt = NO_DELETION_TIME
      return
    }
    this.#checkTimestamp()
    const value = (readUvintLo(bytes, p) + this.layout.minLdt) | 0
    if (this.layout.unsignedLdt ? value >>> 0 >= OVERFLOWED_DELETION_TIME : value < 0) throw this.#invalidDeletion()
    this.#ldt = this.#widen(value)
  }

  /** Statistics.db tells the span of all timestamps; outside of it, it is not the one that belongs to these rows. */
  #checkTimestamp(): void {
    const { firstTimestampHi, firstTimestampLo, lastTimestampHi, lastTimestampLo } = this.layout
    const hi = this.#hi
    if (hi > firstTimestampHi && hi < lastTimestampHi) return
    const lo = this.#lo >>> 0
    const tooEarly = hi < firstTimestampHi || (hi === firstTimestampHi && lo < firstTimestampLo)
    if (tooEarly || hi > lastTimestampHi || (hi === lastTimestampHi && lo > lastTimestampLo)) {
      const reason = `the timestamp ${timestampOf(hi, lo)} is outside of what Statistics.db says`
      throw this.corrupt(this.p, reason)
    }
  }

  /** Deletions are made with the time of the day, so that unlike an expiry theirs cannot have overflowed (CASSANDRA-14467). */
  #invalidDeletion(): SluiceError {
    return this.corrupt(this.p, 'a deletion with an impossible local deletion time')
  }

  /** What expires does so its TTL after it was written, so after 1970 (Cell.decodeLocalDeletionTime). */
  #checkExpiry(ttl: number, ldt: number): void {
    if (ldt < ttl && ttl !== EXPIRED_LIVENESS_TTL)
      throw this.corrupt(this.p, `a TTL of ${ttl} with the local deletion time ${ldt}`)
  }

  #scyllaShadowable(u: Unfiltered, bytes: Uint8Array): void {
    const had = u.delHi !== NO_TIMESTAMP_HI || u.delLo !== NO_TIMESTAMP_LO
    this.#deletion(bytes)
    const newer = this.#hi > u.delHi || (this.#hi === u.delHi && this.#lo >>> 0 > u.delLo >>> 0)
    if (had && !newer) return
    // A shadowable deletion that the liveness outlives is no deletion; an ordinary one beside it stays.
    const outlived = u.liveHi > this.#hi || (u.liveHi === this.#hi && u.liveLo >>> 0 > this.#lo >>> 0)
    if (outlived) return
    u.delHi = this.#hi
    u.delLo = this.#lo
    u.delLdt = this.#ldt
    u.shadowable = !had
  }
}

export function isStart(boundKind: number): boolean {
  return boundKind === 1 || boundKind === EXCL_START
}
