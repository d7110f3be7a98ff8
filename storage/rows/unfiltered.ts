// One row or marker as decoded: flat arrays of offsets into `bytes`, timestamps as two 32-bit halves, no object per cell.
// (Cassandra: db/rows/Unfiltered.) It is filled again for every row; values stay valid until the source moves on.
//
// Cells lie in the order of their slots (see table-layout.ts), the cells of a complex column in path order, and a complex
// deletion stands before them as an entry of its own (flag COMPLEX_DELETION).

/** Timestamp halves of "no deletion" and "no timestamp": Long.MIN_VALUE. */
export const NO_TIMESTAMP_HI = -0x80000000
export const NO_TIMESTAMP_LO = 0

/** Local deletion time of what is neither deleted nor expiring; unsigned 32-bit in every version. */
export const NO_DELETION_TIME = 0xffffffff
/** What 5.0 makes of a local deletion time that overflowed (Cell.INVALID_DELETION_TIME as unsigned): never expired. */
export const OVERFLOWED_DELETION_TIME = 0xfffffffe
/** TTL of a view's expired liveness (LivenessInfo.EXPIRED_LIVENESS_TTL): never live. */
export const EXPIRED_LIVENESS_TTL = 0x7fffffff

export const KIND_END = 0
export const KIND_ROW = 1
export const KIND_MARKER = 2

/** Bound kinds by ordinal (ClusteringPrefix.Kind). */
export const EXCL_END = 0
export const INCL_START = 1
export const EXCL_END_INCL_START = 2
export const STATIC_CLUSTERING = 3
export const CLUSTERING = 4
export const INCL_END_EXCL_START = 5
export const INCL_END = 6
export const EXCL_START = 7

/** Cell entry flags; the first three as on disk (Cell.Serializer). */
export const CELL_DELETED = 0x01
export const CELL_EXPIRING = 0x02
export const CELL_EMPTY = 0x04
export const COMPLEX_DELETION = 0x80

export class Unfiltered {
  kind = KIND_END
  bytes: Uint8Array = EMPTY_BYTES
  view: DataView = EMPTY_VIEW

  // Clustering: kind and values; length -1 is null, 0 empty.
  boundKind = CLUSTERING
  clusteringCount = 0
  clusteringOffset = new Int32Array(8)
  clusteringLength = new Int32Array(8)

  // Row liveness; timestamp MIN when the row has none.
  liveHi = NO_TIMESTAMP_HI
  liveLo = NO_TIMESTAMP_LO
  liveTtl = 0
  liveLdt = NO_DELETION_TIME

  // Row deletion, or of a marker: the deletion that closes.
  delHi = NO_TIMESTAMP_HI
  delLo = NO_TIMESTAMP_LO
  delLdt = NO_DELETION_TIME
  shadowable = false

  // Of a marker: the deletion that opens.
  openHi = NO_TIMESTAMP_HI
  openLo = NO_TIMESTAMP_LO
  openLdt = NO_DELETION_TIME

  // Cells.
  cells = 0
  slot = new Int32Array(64)
  flags = new Uint8Array(64)
  tsHi = new Int32Array(64)
  tsLo = new Int32Array(64)
  ldt = new Uint32Array(64)
  ttl = new Int32Array(64)
  offset = new Int32Array(64)
  length = new Int32Array(64)
  pathOffset = new Int32Array(64)
  pathLength = new Int32Array(64)

  /** Makes room for one more cell and returns its index. */
  addCell(): number {
    const at = this.cells++
    if (at === this.slot.length) this.#grow(2 * at)
    return at
  }

  clearRow(): void {
    this.liveHi = this.delHi = NO_TIMESTAMP_HI
    this.liveLo = this.delLo = NO_TIMESTAMP_LO
    this.liveTtl = 0
    this.liveLdt = this.delLdt = NO_DELETION_TIME
    this.shadowable = false
    this.cells = 0
  }

  reserveClustering(count: number): void {
    if (this.clusteringOffset.length < count) {
      this.clusteringOffset = new Int32Array(2 * count)
      this.clusteringLength = new Int32Array(2 * count)
    }
    this.clusteringCount = count
  }

  #grow(size: number): void {
    this.slot = grown(this.slot, new Int32Array(size))
    this.flags = grown(this.flags, new Uint8Array(size))
    this.tsHi = grown(this.tsHi, new Int32Array(size))
    this.tsLo = grown(this.tsLo, new Int32Array(size))
    this.ldt = grown(this.ldt, new Uint32Array(size))
    this.ttl = grown(this.ttl, new Int32Array(size))
    this.offset = grown(this.offset, new Int32Array(size))
    this.length = grown(this.length, new Int32Array(size))
    this.pathOffset = grown(this.pathOffset, new Int32Array(size))
    this.pathLength = grown(this.pathLength, new Int32Array(size))
  }
}

const EMPTY_BYTES = new Uint8Array(0)
const EMPTY_VIEW = new DataView(EMPTY_BYTES.buffer)

function grown<T extends { set(from: T): void }>(from: T, to: T): T {
  to.set(from)
  return to
}

/** Compares two timestamps given as halves: high signed, low unsigned. */
export function compareTimestamps(aHi: number, aLo: number, bHi: number, bLo: number): number {
  if (aHi !== bHi) return aHi < bHi ? -1 : 1
  if (aLo === bLo) return 0
  return aLo >>> 0 < bLo >>> 0 ? -1 : 1
}

/** True when a deletion at `del` covers a write at `ts` (DeletionTime.deletes). */
export function covers(delHi: number, delLo: number, tsHi: number, tsLo: number): boolean {
  return tsHi < delHi || (tsHi === delHi && tsLo >>> 0 <= delLo >>> 0)
}

/** The timestamp as one number, for cold code and messages. */
export function timestampOf(hi: number, lo: number): bigint {
  return (BigInt(hi) << 32n) | BigInt(lo >>> 0)
}
