// One partition out of the SSTables that hold it, row by row in clustering order (Cassandra: UnfilteredRowIterators.merge,
// RangeTombstoneMarker.Merger). Synchronous and resumable: it stops when a source needs bytes or when a batch is full.

import type { ClusteringOrder } from '../rows/clustering.ts'
import { NEED, type PartitionSource } from '../rows/partition-source.ts'
import { RowReconciler } from '../rows/reconcile.ts'
import type { RowWriter } from '../rows/row-writer.ts'
import { RUN_BATCH_FULL } from '../rows/run-state.ts'
import type { TableLayout } from '../rows/table-layout.ts'
import {
  compareTimestamps,
  KIND_END,
  KIND_MARKER,
  NO_DELETION_TIME,
  NO_TIMESTAMP_HI,
  NO_TIMESTAMP_LO,
  type Unfiltered,
} from '../rows/unfiltered.ts'
import type { TimeWindow } from './time-window.ts'

/** What step() says. */
export const PARTITION_DONE = 0
/** `waiting` needs bytes: call its more(), then step() again. */
export const WAITING = 1
/** The writer's batch is full; `lastClustering` is that of its last row. Call step() again after taking the batch. */
export const BATCH_FULL = 2
/** The row limit is reached. */
export const LIMIT_REACHED = 3

const CONTINUE = 4

const MUST_STEP = 0
const AT_UNFILTERED = 1
const AT_END = 2

// Where a row stands to the slices.
const IN_SLICE = 0
const OUTSIDE = 1
const BEHIND_SLICES = 2

/** A run of clusterings: from `start` to `end`, bounds whose kind says on which side of equal rows they stand. */
export interface ClusteringSlice {
  /** undefined: from the first. */
  start: Unfiltered | undefined
  /** undefined: to the last. */
  end: Unfiltered | undefined
}

/** What of a partition is wanted. */
export interface PartitionSlices {
  /** Ascending, disjoint. */
  slices: readonly ClusteringSlice[]
  /** This slice of the partition is its beginning: it tells of a partition with static content alone. */
  beginsPartition: boolean
}

export interface MergeOptions {
  /** Epoch seconds at which TTLs are judged. */
  now: number
  limit: number
  /** Only rows whose newest write, or deletion of a part of them, lies in it. */
  window?: TimeWindow
  /** Static columns are among the output: a row is then as new as the partition's static row, if that is newer. */
  showsStatics?: boolean
}

export interface MergeCounters {
  partitionsVisited: number
  rowsVisited: number
  rowsEmitted: number
}

export class PartitionMerger {
  waiting: PartitionSource | undefined
  /** Clustering of the last row written; undefined when it was the row of a partition with static content alone. */
  lastClustering: Unfiltered | undefined
  #order: ClusteringOrder
  #regular: RowReconciler
  #statics: RowReconciler
  #counters: MergeCounters
  #limit: number
  #window: TimeWindow | undefined
  #showsStatics: boolean
  #staticCompact: boolean
  #sources: PartitionSource[] = []
  #state = new Uint8Array(8)
  // Range deletion open in each source, as far as the merge has come.
  #openHi = new Int32Array(8)
  #openLo = new Int32Array(8)
  #openLdt = new Uint32Array(8)
  #partitionHi = 0
  #partitionLo = 0
  #partitionLdt = 0
  // The strongest of the partition deletion and the open range deletions.
  #activeHi = 0
  #activeLo = 0
  #activeLdt = 0
  #group = new Int32Array(8)
  #hasStatics = false
  #anyRow = false
  #slices: PartitionSlices | undefined
  #slice = 0

  constructor(layout: TableLayout, order: ClusteringOrder, counters: MergeCounters, options: MergeOptions) {
    this.#order = order
    const strict = layout.table.view?.requiresLiveness ?? false
    this.#regular = new RowReconciler(layout.regulars, options.now, strict)
    this.#statics = new RowReconciler(layout.statics, options.now, false)
    this.#counters = counters
    this.#limit = options.limit
    this.#window = options.window
    this.#showsStatics = options.showsStatics ?? false
    this.#staticCompact = layout.table.compact === 'static'
  }

  /** Starts on the partition that all these sources stand at, behind header and static row; oldest SSTable first. */
  begin(sources: PartitionSource[], slices?: PartitionSlices): void {
    this.#sources = sources
    this.#slices = slices
    this.#slice = 0
    const n = sources.length
    if (this.#state.length < n) {
      this.#state = new Uint8Array(2 * n)
      this.#openHi = new Int32Array(2 * n)
      this.#openLo = new Int32Array(2 * n)
      this.#openLdt = new Uint32Array(2 * n)
      this.#group = new Int32Array(2 * n)
    }
    this.#partitionHi = NO_TIMESTAMP_HI
    this.#partitionLo = NO_TIMESTAMP_LO
    this.#partitionLdt = NO_DELETION_TIME
    this.#anyRow = slices !== undefined && !slices.beginsPartition
    this.#statics.begin()
    for (let i = 0; i < n; i++) {
      const source = sources[i]
      this.#state[i] = MUST_STEP
      this.#openHi[i] = source.openHi
      this.#openLo[i] = source.openLo
      this.#openLdt[i] = source.openLdt
      const c = compareTimestamps(source.deletionHi, source.deletionLo, this.#partitionHi, this.#partitionLo)
      if (c > 0 || (c === 0 && source.deletionLdt > this.#partitionLdt)) {
        this.#partitionHi = source.deletionHi
        this.#partitionLo = source.deletionLo
        this.#partitionLdt = source.deletionLdt
      }
      if (source.layout.hasStatics) this.#statics.add(source.staticRow)
    }
    this.#hasStatics = this.#statics.count > 0
    if (this.#hasStatics) this.#statics.resolve(this.#partitionHi, this.#partitionLo, this.#partitionLdt)
    this.#activate()
  }

  step(writer: RowWriter): number {
    const sources = this.#sources
    const n = sources.length
    const state = this.#state
    writer.statics = this.#hasStatics ? this.#statics : undefined
    for (;;) {
      if (n === 1 && state[0] === MUST_STEP && this.#isPlain(sources[0])) {
        const status = this.#runRows(writer, sources[0])
        if (status !== CONTINUE) return status
      }
      let first = -1
      let grouped = 0
      for (let i = 0; i < n; i++) {
        if (state[i] === MUST_STEP) {
          if (sources[i].tryNext() === NEED) {
            this.waiting = sources[i]
            return WAITING
          }
          state[i] = sources[i].current.kind === KIND_END ? AT_END : AT_UNFILTERED
        }
        if (state[i] !== AT_UNFILTERED) continue
        const c = first < 0 ? -1 : this.#order.compare(sources[i].current, sources[first].current)
        if (c < 0) {
          first = i
          grouped = 0
        }
        if (c <= 0) this.#group[grouped++] = i
      }
      if (first < 0) return this.#end(writer)
      if (sources[first].current.kind === KIND_MARKER) {
        this.#passMarkers(grouped)
        continue
      }
      const standing =
        this.#slices === undefined ? IN_SLICE : this.#standing(this.#slices.slices, sources[first].current)
      if (standing === BEHIND_SLICES && (this.#anyRow || !this.#hasStatics || !this.#statics.isLive))
        return PARTITION_DONE
      const written = this.#row(writer, grouped, standing === IN_SLICE)
      for (let g = 0; g < grouped; g++) state[this.#group[g]] = MUST_STEP
      if (written) {
        if (writer.total >= this.#limit) return LIMIT_REACHED
        if (writer.isFull) return BATCH_FULL
      }
    }
  }

  /** No deletion is in force, and all rows are wanted. */
  #isPlain(source: PartitionSource): boolean {
    return (
      source.run !== undefined &&
      this.#slices === undefined &&
      this.#activeHi === NO_TIMESTAMP_HI &&
      this.#activeLo === NO_TIMESTAMP_LO &&
      !source.isOpen
    )
  }

  /** A run of ordinary rows straight into the columns, over partition ends too where the scan allows it. */
  #runRows(writer: RowWriter, source: PartitionSource): number {
    const { state } = source.run!
    const reason = source.decodeRun(Math.min(writer.maxRows - writer.rows, this.#limit - writer.total))
    if (state.rows > 0) {
      writer.addRun(state.rows)
      this.#counters.rowsVisited += state.rows
      this.#counters.rowsEmitted += state.rows
      this.#anyRow = true
      this.lastClustering = source.previous
    }
    if (state.partitions > 0) {
      this.#counters.partitionsVisited += state.partitions
      if (state.wholeKeyLength >= 0) writer.beginPartition(source)
    }
    if (writer.total >= this.#limit) return LIMIT_REACHED
    if (reason === RUN_BATCH_FULL) return BATCH_FULL
    if (!source.atPartitionStart) return CONTINUE
    this.#state[0] = AT_END
    return this.#end(writer)
  }

  #row(writer: RowWriter, grouped: number, wanted: boolean): boolean {
    const regular = this.#regular
    this.#counters.rowsVisited++
    // Outside of what is wanted a row still tells that the partition is not static content alone.
    if (!wanted && this.#anyRow) return false
    regular.begin()
    for (let g = 0; g < grouped; g++) regular.add(this.#sources[this.#group[g]].current)
    regular.resolve(this.#activeHi, this.#activeLo, this.#activeLdt)
    if (!regular.isLive) return false
    // Of clusterings that compare equal with other bytes (decimal 1.0 and 1.00) the newest SSTable's is shown.
    const clustering = this.#sources[this.#group[grouped - 1]].current
    this.#anyRow = true
    if (!wanted || (this.#window !== undefined && !this.#isInWindow(this.#window, regular))) return false
    this.lastClustering = clustering
    writer.write(clustering, regular)
    this.#counters.rowsEmitted++
    return true
  }

  /** Whether the newest of what makes up the row as it is shown lies in the window. */
  #isInWindow(window: TimeWindow, regular: RowReconciler): boolean {
    const { newestHi, newestLo } = this.#statics
    const isStaticNewer =
      this.#showsStatics &&
      this.#hasStatics &&
      compareTimestamps(newestHi, newestLo, regular.newestHi, regular.newestLo) > 0
    return isStaticNewer ? window.has(newestHi, newestLo) : window.has(regular.newestHi, regular.newestLo)
  }

  #standing(slices: readonly ClusteringSlice[], row: Unfiltered): number {
    while (this.#slice < slices.length) {
      const { start, end } = slices[this.#slice]
      if (end !== undefined && this.#order.compare(row, end) > 0) {
        this.#slice++
        continue
      }
      return start !== undefined && this.#order.compare(row, start) < 0 ? OUTSIDE : IN_SLICE
    }
    return BEHIND_SLICES
  }

  /** Markers of several sources at one point: all take effect before the next row is looked at. */
  #passMarkers(grouped: number): void {
    for (let g = 0; g < grouped; g++) {
      const i = this.#group[g]
      const marker = this.#sources[i].current
      if (marker.kind !== KIND_MARKER) continue
      this.#openHi[i] = this.#sources[i].openHi
      this.#openLo[i] = this.#sources[i].openLo
      this.#openLdt[i] = this.#sources[i].openLdt
      this.#state[i] = MUST_STEP
    }
    this.#activate()
  }

  #activate(): void {
    let hi = this.#partitionHi
    let lo = this.#partitionLo
    let ldt = this.#partitionLdt
    for (let i = 0; i < this.#sources.length; i++) {
      const c = compareTimestamps(this.#openHi[i], this.#openLo[i], hi, lo)
      if (c > 0 || (c === 0 && this.#openLdt[i] > ldt)) {
        hi = this.#openHi[i]
        lo = this.#openLo[i]
        ldt = this.#openLdt[i]
      }
    }
    this.#activeHi = hi
    this.#activeLo = lo
    this.#activeLdt = ldt
  }

  #end(writer: RowWriter): number {
    const isStaticRow = this.#hasStatics && this.#statics.isLive && (!this.#anyRow || this.#staticCompact)
    if (isStaticRow && (this.#window?.has(this.#statics.newestHi, this.#statics.newestLo) ?? true)) {
      this.lastClustering = undefined
      this.#anyRow = true
      this.#hasStatics = false
      writer.statics = this.#statics
      writer.write(undefined, undefined)
      this.#counters.rowsEmitted++
      if (writer.total >= this.#limit) return LIMIT_REACHED
      if (writer.isFull) return BATCH_FULL
    }
    return PARTITION_DONE
  }
}
