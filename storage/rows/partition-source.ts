// One SSTable as a stream of partitions and, inside each, of rows and markers (Cassandra: SSTableIdentityIterator). Every
// step is synchronous and restartable: it moves on only when all bytes it needs are in the window, else it says how many it
// needs and is called again after more().

import { readUvint, vintSize } from '../bytes/vint.ts'
import type { DataWindow } from '../bytes/window.ts'
import type { Partitioner } from '../ring/partitioner.ts'
import { countedPartitions } from '../sstable/statistics.ts'
import { BIG_ROW_BYTES, BigRowReader } from './big-row.ts'
import type { ClusteringOrder } from './clustering.ts'
import { ClusteringMemory } from './clustering-memory.ts'
import type { Lane } from './lane.ts'
import { PartitionState, viewOver } from './partition-state.ts'
import { type DecodeCounters, END_OF_PARTITION, EXTENSION, IS_MARKER, IS_STATIC, RowDecoder } from './row-decoder.ts'
import type { RunDecoder } from './run-decoder.ts'
import { ClusteringOrderError, type RunState } from './run-state.ts'
import type { FileLayout } from './table-layout.ts'
import {
  CLUSTERING,
  KIND_END,
  KIND_ROW,
  NO_DELETION_TIME,
  OVERFLOWED_DELETION_TIME,
  STATIC_CLUSTERING,
  Unfiltered,
} from './unfiltered.ts'

/** What a step says. */
export const READY = 0
/** Call more(), then the step again. */
export const NEED = 1
/** No partition follows. */
export const EXHAUSTED = 2

const BETWEEN = 0 // before a partition's header
const STATIC = 1 // before its static row
const ROWS = 2 // before an unfiltered

export class PartitionSource extends PartitionState {
  readonly decoder: RowDecoder
  /** The static row, in a buffer of its own; without cells when there is none. */
  readonly staticRow = new Unfiltered()
  /** Decodes runs of ordinary rows straight into columns, where the table's shape allows it. */
  run: { decode: RunDecoder; state: RunState } | undefined
  /** The unfiltered last stepped to. */
  readonly current = new Unfiltered()
  /** Partitions at or beyond this uncompressed offset are not read. */
  stopOffset: number
  /** Rows larger than this are read value by value, those not wanted unread; bytes. */
  bigRowBytes = BIG_ROW_BYTES

  #order: ClusteringOrder
  #state = BETWEEN
  #need = 0
  #big: { size: number; flags: number; extended: number; isStatic: boolean } | undefined
  #bigReader: BigRowReader | undefined
  #maxBytes: number
  #previous = new ClusteringMemory()
  /** Where `current` begins in the window; -1: it is not there any more. */
  #currentAt = -1
  #staticBytes = new Uint8Array(0)
  /** Partitions begun, as long as none was jumped over; then -1. */
  #begun = 0

  constructor(
    window: DataWindow,
    layout: FileLayout,
    partitioner: Partitioner,
    order: ClusteringOrder,
    counters: DecodeCounters,
    maxBytes: number,
  ) {
    super(window, layout, partitioner)
    this.decoder = new RowDecoder(layout, counters)
    this.#order = order
    this.#maxBytes = maxBytes
    this.stopOffset = window.dataLength
  }

  /** Moves to the partition at an uncompressed offset; the next step is tryPartition. */
  seekPartition(offset: number): void {
    this.window.seek(offset)
    this.#state = BETWEEN
    this.#begun = -1
    this.forgetKey()
    this.#big = undefined
  }

  /**
   * Within the current partition, moves to the unfiltered at an uncompressed offset (an index block), before which the given
   * range deletion stands open.
   */
  seekRow(offset: number, openHi: number, openLo: number, openLdt: number, isOpen: boolean): void {
    this.window.seek(offset)
    this.#previous.clear()
    this.#big = undefined
    this.openHi = openHi
    this.openLo = openLo
    this.openLdt = openLdt
    this.isOpen = isOpen
  }

  /** Reads key, deletion and static row of the next partition. The one before must have been read or skipped to its end. */
  tryPartition(): number {
    if (this.#state === BETWEEN) {
      const status = this.#header()
      if (status !== READY) return status
      this.#state = this.layout.hasStatics ? STATIC : ROWS
      this.staticRow.clearRow()
    }
    if (this.#state === STATIC) {
      if (this.#unfiltered(this.staticRow, true) !== READY) return NEED
      this.#state = ROWS
    }
    return READY
  }

  /** Steps to the next row, marker or the end of the partition (`current.kind`). */
  tryNext(): number {
    const status = this.#unfiltered(this.current, false)
    if (status === READY && this.current.kind === KIND_END) {
      this.#state = BETWEEN
      if (this.isOpen) throw this.corrupt('a range tombstone is open at the end of its partition')
    }
    return status
  }

  /**
   * Steps over what is left of the current partition by row sizes, without decoding. A partition whose static row is still to come
   * belongs to the tryPartition that waits for its bytes, and is left alone.
   */
  trySkipPartition(): number {
    const { window } = this
    if (this.#state === ROWS && this.#big !== undefined) {
      window.skip(this.#big.size)
      this.#big = undefined
    }
    while (this.#state === ROWS) {
      const { bytes, pos, end } = window
      if (pos >= end) return this.#ask(1)
      const flags = bytes[pos]
      if ((flags & END_OF_PARTITION) !== 0) {
        window.pos = pos + 1
        this.#state = BETWEEN
        this.isOpen = false
        break
      }
      if (!this.#prefix(this.current, false)) return this.#askUnknown()
      const size = this.#size()
      if (size < 0) return this.#askUnknown()
      window.pos = this.decoder.p + size
    }
    return READY
  }

  /** Brings what the last step asked for. */
  async more(): Promise<void> {
    const big = this.#big
    if (big === undefined) {
      await this.window.fill(this.#need)
      return
    }
    // A row that does not fit the window: `decoder` stands behind its sizes, whose bytes the reader walks.
    const { layout } = this
    await this.#bigRows().read(big.isStatic ? layout.statics : layout.regulars, big.size, big.flags, big.extended)
  }

  /** Some unfiltered of the partition was passed, and its clustering is known. */
  get hasPrevious(): boolean {
    return !this.#previous.isEmpty
  }

  /** A row too large for the window was begun: tryNext gives it. */
  get isInsideRow(): boolean {
    return this.#big !== undefined
  }

  /** The row last stepped to can be stepped to again. */
  get canStepBack(): boolean {
    return this.#currentAt >= 0 && this.current.kind === KIND_ROW
  }

  /** Before the row last stepped to; of its order to the one before it nothing is known any more. */
  stepBack(): void {
    this.window.pos = this.#currentAt
    this.#previous.clear()
  }

  /** Clustering of the unfiltered last passed. */
  get previous(): Unfiltered {
    return this.#previous.unfiltered
  }

  /** Runs the run decoder from where the source stands, inside a partition; returns why it ended. */
  decodeRun(maxRows: number): number {
    const { decode, state: s } = this.run!
    const { window } = this
    s.builders = s.writer.builders
    s.maxRows = maxRows
    s.inside = true
    s.keyBytes = this.key
    s.keyView = this.keyView
    s.writer.copyKeyParts(s.keyOffset, s.keyLength)
    this.previousTo(s)
    let reason: number
    try {
      // What lies behind the stop is not wanted, also where it is in the window.
      const end = Math.min(window.end, this.stopOffset - window.base)
      reason = decode(s, window.bytes, window.view, window.pos, end)
    } catch (error) {
      if (error instanceof ClusteringOrderError) throw this.corrupt(error.message)
      throw error
    }
    if (s.rows > 0 || s.deadRows > 0 || s.partitions > 0) {
      if (s.wholeKeyLength >= 0) this.#adoptPartition(s)
      if (this.#begun >= 0) this.#begun += s.partitions
      if (s.hasPrevious) {
        this.#previous.keepRow(s.previousBytes, s.previousOffset, s.previousLength, this.layout.clusteringCount)
      } else if (s.rows > 0 || s.deadRows > 0) this.#previous.clear()
    }
    window.pos = s.pos
    this.#state = s.inside ? ROWS : BETWEEN
    return reason
  }

  /** The clustering passed last into the state of a generated decoder. */
  previousTo(s: RunState): void {
    const previous = this.#previous.unfiltered
    s.hasPrevious = !this.#previous.isEmpty
    s.previousBytes = previous.bytes
    s.previousView = previous.view
    if (!s.hasPrevious) return
    if (previous.boundKind !== CLUSTERING) s.hasPrevious = false
    for (let i = 0; i < previous.clusteringCount; i++) {
      // Null and empty parts: not for its comparison.
      if (previous.clusteringLength[i] <= 0) s.hasPrevious = false
      s.previousOffset[i] = previous.clusteringOffset[i]
      s.previousLength[i] = previous.clusteringLength[i]
    }
  }

  /** Goes on from where a lane that entered from here has come. */
  resume(lane: Lane): void {
    const { state } = lane
    if (lane.begun > 0) {
      this.takeKey(state.keyBytes, lane.keyOffset, lane.keyWhole)
      this.partitionOffset = this.window.base + lane.partitionPos
      this.clearDeletion()
      this.#previous.clear()
      if (this.#begun >= 0) this.#begun += lane.begun
    }
    if (lane.hasPassed) {
      this.#previous.keepRow(
        state.previousBytes,
        state.previousOffset,
        state.previousLength,
        this.layout.clusteringCount,
      )
    }
    this.window.pos = lane.pos
    this.#state = lane.inside ? ROWS : BETWEEN
  }

  /** The partition that a run began last becomes the current one. */
  #adoptPartition(s: RunState): void {
    this.takeKey(this.window.bytes, s.wholeKeyOffset, s.wholeKeyLength)
    this.partitionOffset = this.window.base + s.partitionPos
    this.clearDeletion()
    this.#previous.clear()
  }

  #bigRows(): BigRowReader {
    this.#bigReader ??= new BigRowReader(this.window, this.#maxBytes)
    return this.#bigReader
  }

  get atPartitionStart(): boolean {
    return this.#state === BETWEEN
  }

  #header(): number {
    const { window } = this
    if (window.offset >= this.stopOffset) {
      if (this.stopOffset === window.dataLength) this.#checkEnd()
      return EXHAUSTED
    }
    const { bytes, view, pos, end } = window
    if (end - pos < 2) return this.#ask(2)
    const keyLength = view.getUint16(pos)
    let p = pos + 2 + keyLength
    if (p >= end) return this.#ask(p + 1 - pos)
    const short = this.layout.unsignedLdt && (bytes[p] & 0x80) !== 0
    const deletionLength = short ? 1 : 12
    if (p + deletionLength > end) return this.#ask(p + deletionLength - pos)
    this.takeKey(bytes, pos + 2, keyLength)
    if (this.#begun >= 0) this.#begun++
    this.partitionOffset = window.offset
    if (this.partitionOffset === 0) this.#checkKey('first', this.layout.sstable.statistics.firstKey)
    if (short) {
      if (bytes[p] !== 0x80) throw this.corrupt(`partition deletion flags 0x${bytes[p].toString(16)}`)
      this.clearDeletion()
    } else if (this.layout.unsignedLdt) {
      this.deletionHi = view.getInt32(p)
      this.deletionLo = view.getInt32(p + 4)
      this.deletionLdt = view.getUint32(p + 8)
      if (this.deletionLdt >= OVERFLOWED_DELETION_TIME) throw this.corrupt('a partition deletion without a time')
    } else {
      const ldt = view.getInt32(p)
      this.deletionHi = view.getInt32(p + 4)
      this.deletionLo = view.getInt32(p + 8)
      this.deletionLdt = ldt === 0x7fffffff ? NO_DELETION_TIME : ldt
      // Unlike an expiry's, a deletion's time cannot have overflowed: it is damage (CASSANDRA-14467).
      if (ldt < 0) throw this.corrupt(`a partition deletion with the local deletion time ${ldt}`)
    }
    p += deletionLength
    window.pos = p
    this.closeRange()
    this.#previous.clear()
    return READY
  }

  /**
   * At the end of Data.db: all partitions that Statistics.db counts were there. No checksum tells that chunks are missing at the end,
   * or that Statistics.db, which holds the base of all timestamps, is that of another SSTable.
   */
  #checkEnd(): void {
    const { statistics } = this.layout.sstable
    if (this.#begun !== 0) this.#checkKey('last', statistics.lastKey)
    const counted = countedPartitions(statistics)
    if (this.#begun < 0 || counted === 0 || counted === this.#begun) return
    throw this.corrupt(`${this.#begun} partitions where Statistics.db counts ${counted}`)
  }

  #checkKey(which: string, key: Uint8Array | null): void {
    if (key === null || Buffer.compare(key, this.key.subarray(0, this.keyLength)) === 0) return
    throw this.corrupt(`the ${which} key is not that of Statistics.db, ${Buffer.from(key).toString('hex')}`)
  }

  /** Reads flags, clustering or bound of the unfiltered at the window's position into `u`; decoder.p behind them. */
  #prefix(u: Unfiltered, isStatic: boolean): boolean {
    const { window, decoder } = this
    const { bytes, view, pos, end } = window
    const flags = bytes[pos]
    u.bytes = bytes
    u.view = view
    let p = pos + 1
    if ((flags & IS_MARKER) !== 0) {
      if (isStatic) throw this.corrupt('a marker in place of the static row')
      if (p + 3 > end) return false
      const kind = bytes[p]
      const count = view.getUint16(p + 1)
      if (kind > 7 || kind === CLUSTERING || kind === STATIC_CLUSTERING) throw this.corrupt(`bound kind ${kind}`)
      if (count > this.layout.clusteringCount) throw this.corrupt(`a bound of ${count} values`)
      u.boundKind = kind
      decoder.p = p + 3
      return decoder.clustering(u, bytes, end, count)
    }
    if ((flags & EXTENSION) !== 0) {
      if (p >= end) return false
      const extended = bytes[p++]
      if (((extended & IS_STATIC) !== 0) !== isStatic) {
        throw this.corrupt(isStatic ? 'no static row where one must be' : 'a static row among the rows')
      }
    } else if (isStatic) {
      throw this.corrupt('no static row where one must be')
    }
    u.boundKind = isStatic ? STATIC_CLUSTERING : CLUSTERING
    decoder.p = p
    if (isStatic) {
      u.clusteringCount = 0
      return true
    }
    return decoder.clustering(u, bytes, end, this.layout.clusteringCount)
  }

  /** Reads the size field at decoder.p; the bytes that follow it, or -1 when it is not all there. */
  #size(): number {
    const { bytes, end } = this.window
    const p = this.decoder.p
    if (p >= end || p + vintSize(bytes[p]) > end) return -1
    const size = readUvint(bytes, p)
    this.decoder.p = p + vintSize(bytes[p])
    if (this.window.base + this.decoder.p + size > this.window.dataLength) {
      throw this.corrupt(`a row of ${size} bytes runs over the end of the data`)
    }
    return size
  }

  #unfiltered(u: Unfiltered, isStatic: boolean): number {
    if (this.#big !== undefined) return this.#decodeBig(u)
    const { window, decoder } = this
    const { bytes, view, pos, end } = window
    if (pos >= end) return this.#ask(1)
    const flags = bytes[pos]
    this.#currentAt = pos
    if ((flags & END_OF_PARTITION) !== 0) {
      if (isStatic) throw this.corrupt('no static row where one must be')
      u.kind = KIND_END
      window.pos = pos + 1
      return READY
    }
    if (!this.#prefix(u, isStatic)) return this.#askUnknown()
    const size = this.#size()
    if (size < 0) return this.#askUnknown()
    const bodyStart = decoder.p
    const bodyEnd = bodyStart + size
    if (bodyEnd > end || isStatic) {
      if (size > this.bigRowBytes && (flags & IS_MARKER) === 0) return this.#startBig(u, flags, size, isStatic)
      if (bodyEnd > end) return this.#ask(bodyEnd - pos)
    }
    decoder.p = bodyStart + vintSize(bytes[bodyStart]) // the previous unfiltered's size, of no use
    if ((flags & IS_MARKER) !== 0) {
      decoder.marker(u, bytes, view, bodyEnd, u.boundKind)
      this.#checkOrder(u)
      this.track(u)
    } else if (isStatic) {
      this.#decodeStatic(u, bytes, bodyEnd, flags)
    } else {
      const extended = (flags & EXTENSION) !== 0 ? bytes[pos + 1] : 0
      decoder.row(u, bytes, view, bodyEnd, flags, extended)
      this.#checkOrder(u)
    }
    window.pos = bodyEnd
    return READY
  }

  /** The static row outlives the window's bytes, so it is decoded from a copy. */
  #decodeStatic(u: Unfiltered, bytes: Uint8Array, bodyEnd: number, flags: number): void {
    const length = bodyEnd - this.decoder.p
    if (this.#staticBytes.length < length) this.#staticBytes = new Uint8Array(Math.max(length, 4096))
    this.#staticBytes.set(bytes.subarray(this.decoder.p, bodyEnd))
    this.decoder.p = 0
    const extended = bytes[this.window.pos + 1]
    this.decoder.row(u, this.#staticBytes, viewOver(this.#staticBytes), length, flags, extended)
  }

  #startBig(u: Unfiltered, flags: number, size: number, isStatic: boolean): number {
    const { window, decoder } = this
    if (!isStatic) this.#bigRows().keepClustering(u)
    const previousSize = vintSize(window.bytes[decoder.p])
    if (decoder.p + previousSize > window.end) return this.#ask(decoder.p + previousSize - window.pos)
    const extended = (flags & EXTENSION) !== 0 ? window.bytes[window.pos + 1] : 0
    this.#big = { size: size - previousSize, flags, extended, isStatic }
    window.pos = decoder.p + previousSize
    return NEED
  }

  #decodeBig(u: Unfiltered): number {
    const { flags, extended, isStatic } = this.#big!
    const reader = this.#bigReader!
    this.#big = undefined
    const { length } = reader
    this.#currentAt = -1
    let image: Uint8Array = reader.bytes
    if (isStatic) {
      if (this.#staticBytes.length < length) this.#staticBytes = new Uint8Array(length)
      image = this.#staticBytes
      image.set(reader.bytes.subarray(0, length))
    } else {
      image = reader.withClustering(u)
    }
    this.decoder.p = 0
    this.decoder.row(u, image, viewOver(image), length, flags, extended)
    if (!isStatic) this.#checkOrder(u)
    return READY
  }

  /** Refuses a clustering at or before the one before it; keeps a copy of this one. */
  #checkOrder(u: Unfiltered): void {
    if (!this.#previous.isEmpty) {
      const c = this.#order.compare(this.#previous.unfiltered, u)
      // An end and a start may stand at one point; two rows may not.
      if (c > 0) throw this.corrupt('clusterings out of order')
      if (c === 0 && u.kind === KIND_ROW) throw this.corrupt('a clustering is repeated')
    }
    this.#previous.keep(u)
  }

  #ask(bytes: number): number {
    this.#need = bytes
    return NEED
  }

  /** More than there is. */
  #askUnknown(): number {
    const available = Math.max(0, this.window.available)
    const left = this.window.dataLength - this.window.offset
    this.#need = Math.max(available + 1, Math.min(left, 2 * available + 64))
    return NEED
  }
}
