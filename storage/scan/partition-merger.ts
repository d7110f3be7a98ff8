// One partition out of the SSTables that hold it, row by row in clustering order (Cassandra: UnfilteredRowIterators.merge,
// RangeTombstoneMarker.Merger). Synchronous and resumable: it stops when a source needs bytes or when a batch is full.

import type { ClusteringOrder } from '../rows/clustering.ts'
import { NEED, type PartitionSource } from '../rows/partition-source.ts'
import { RowReconciler } from '../rows/reconcile.ts'
import type { RowWriter } from '../rows/row-writer.ts'
import { RUN_BATCH_FULL } from '../rows/run-state.ts'
import type { TableLayout } from '../rows/table-layout.ts'
import { compareTimestamps, KIND_END, KIND_MARKER, type Unfiltered } from '../rows/unfiltered.ts'
import { OpenDeletions } from './open-deletions.ts'
import type { RowFilter } from './predicate/filter.ts'
import type { ScanRowAccess } from './row-access.ts'
import { BEHIND_SLICES, IN_SLICE, type PartitionSlices, SliceWalk } from './slice-walk.ts'
import type { TimeWindow } from './time-window.ts'
import { TombstoneCounter } from './tombstone-counter.ts'

/** What step() says. */
export const PARTITION_DONE = 0
/**
 * `waiting` needs bytes: bring them, then step() again. Where `seekBound` is given, all before it is not wanted: move the source there
 * if its index can tell where, tell sought(), and step() again.
 */
export const WAITING = 1
/** The writer's batch is full; `lastClustering` is that of its last row. Call step() again after taking the batch. */
export const BATCH_FULL = 2
/** The row limit is reached. */
export const LIMIT_REACHED = 3

/** One more row or marker of several SSTables is done with, and `pausesAfterRow` is set. Call step() again. */
export const ROW_DONE = 4

const CONTINUE = 5

const MUST_STEP = 0
const AT_UNFILTERED = 1
const AT_END = 2

export interface MergeCounters {
  partitionsVisited: number
  partitionsEmitted: number
  rowsVisited: number
  rowsEmitted: number
  tombstones: number
}

export interface MergeOptions {
  /** Epoch seconds at which TTLs are judged. */
  now: number
  /** Rows over all partitions. */
  limit: number
  /** Tests on top of slices; `access` shows it the row at hand. */
  filter: RowFilter | undefined
  access: ScanRowAccess | undefined
  /** A predicate asks for rows: a partition with only static content gives none. */
  restrictsRows: boolean
  /** Only rows whose newest write lies in it; `showsStatics`: the static row's writes are the row's too. */
  window: TimeWindow | undefined
  showsStatics: boolean
  /** One row per partition, of its key and static columns alone. */
  distinct: boolean
  countTombstones: boolean
}

export class PartitionMerger {
  waiting: PartitionSource | undefined
  /** step() comes back after every row of several SSTables. */
  pausesAfterRow = false
  seekBound: Unfiltered | undefined
  /** Clustering of the last row written; undefined when it was the row of a partition with static content alone. */
  lastClustering: Unfiltered | undefined
  #order: ClusteringOrder
  #regular: RowReconciler
  #statics: RowReconciler
  #counters: MergeCounters
  #limit: number
  #options: MergeOptions
  #rowFilter: RowFilter | undefined
  #tombstones: TombstoneCounter | undefined
  #window: TimeWindow | undefined
  #showsStatics: boolean
  #staticCompact: boolean
  #sources: PartitionSource[] = []
  #state = new Uint8Array(8)
  #deletions = new OpenDeletions()
  #group = new Int32Array(8)
  #hasStatics = false
  #anyRow = false
  #walk: SliceWalk
  /** For which slice a source was moved last, plus 1. */
  #sought = new Int32Array(8)
  #waitingAt = 0
  /** Nothing more of the partition is wanted. */
  #passedOver = false
  /** A row of the partition was written. */
  #emitted = false

  constructor(layout: TableLayout, order: ClusteringOrder, counters: MergeCounters, options: MergeOptions) {
    this.#order = order
    this.#options = options
    this.#rowFilter = options.filter?.hasRowTests ? options.filter : undefined
    this.#walk = new SliceWalk(order)
    if (options.countTombstones) this.#tombstones = new TombstoneCounter(counters, options.now)
    const strict = layout.table.view?.requiresLiveness ?? false
    this.#regular = new RowReconciler(layout.regulars, options.now, strict)
    this.#statics = new RowReconciler(layout.statics, options.now, false)
    this.#counters = counters
    this.#limit = options.limit
    this.#window = options.window
    this.#showsStatics = options.showsStatics
    this.#staticCompact = layout.table.compact === 'static'
  }

  /** Starts on the partition that all these sources stand at, behind header and static row; oldest SSTable first. */
  begin(sources: PartitionSource[], slices?: PartitionSlices): void {
    this.#sources = sources
    this.#walk.begin(slices?.slices)
    this.#emitted = false
    const n = sources.length
    if (this.#state.length < n) {
      this.#state = new Uint8Array(2 * n)
      this.#group = new Int32Array(2 * n)
      this.#sought = new Int32Array(2 * n)
    }
    this.#deletions.begin(sources)
    const begins = slices === undefined || slices.beginsPartition
    this.#anyRow = !begins || this.#options.restrictsRows
    this.#statics.begin()
    for (let i = 0; i < n; i++) {
      const source = sources[i]
      this.#state[i] = MUST_STEP
      this.#sought[i] = 0
      if (source.layout.hasStatics) this.#statics.add(source.staticRow)
      if (begins) this.#tombstones?.partition(source)
    }
    this.#hasStatics = this.#statics.count > 0
    if (this.#hasStatics) {
      const { partitionHi, partitionLo, partitionLdt } = this.#deletions
      this.#statics.resolve(partitionHi, partitionLo, partitionLdt)
    }
    // What a scan that began before this place has told of the partition is all there is to tell in a row per partition.
    this.#passedOver = (this.#options.distinct && !begins) || !this.#matchesPartition()
  }

  /**
   * Starts in the midst of the partition that all these sources stand in, behind rows that another merge has gone through; `anyRow`: live
   * ones were among them, the last of which stood at `last`.
   */
  resume(sources: PartitionSource[], anyRow: boolean, last: PartitionSource | undefined): void {
    this.begin(sources)
    this.#anyRow = anyRow
    this.#emitted = anyRow
    this.lastClustering = last?.previous
  }

  /** Some live row of the partition was passed. */
  get hasAnyRow(): boolean {
    return this.#anyRow
  }

  /**
   * The sources that are not at the partition's end, each brought before what it has to say next, for another merge to go on from there;
   * then resume(). undefined: a deletion is in force, or a source cannot be brought there.
   */
  suspend(): PartitionSource[] | undefined {
    if (this.#deletions.isAnyActive) return undefined
    if (this.#passedOver || this.#walk.slices !== undefined || this.#hasStatics) return undefined
    const state = this.#state
    const sources = this.#sources
    for (let i = 0; i < sources.length; i++) {
      const source = sources[i]
      if (state[i] === AT_END) continue
      if (source.isOpen || source.isInsideRow) return undefined
      if (state[i] === AT_UNFILTERED && !source.canStepBack) return undefined
    }
    const standing: PartitionSource[] = []
    for (let i = 0; i < sources.length; i++) {
      if (state[i] === AT_END) continue
      if (state[i] === AT_UNFILTERED) sources[i].stepBack()
      standing.push(sources[i])
    }
    return standing
  }

  /** The source in `waiting` was moved, if it could be; it has none of the rows behind `seekBound` if not `found`. */
  sought(found: boolean): void {
    const i = this.#waitingAt
    this.#sought[i] = this.#walk.at + 1
    if (found) this.#deletions.take(i)
    else {
      this.#state[i] = AT_END
      this.#deletions.close(i)
    }
    this.#deletions.activate()
  }

  step(writer: RowWriter): number {
    const sources = this.#sources
    const n = sources.length
    const state = this.#state
    if (this.#passedOver) return PARTITION_DONE
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
            this.#waitingAt = i
            this.seekBound = this.#seekBound(i)
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
        if (this.#tombstones !== undefined) this.#countMarkers(grouped)
        this.#passMarkers(grouped)
        if (this.pausesAfterRow) return ROW_DONE
        continue
      }
      const standing = this.#walk.standing(sources[first].current)
      if (standing === BEHIND_SLICES && !this.#looksFurther) return PARTITION_DONE
      const written = this.#row(writer, grouped, standing === IN_SLICE)
      for (let g = 0; g < grouped; g++) state[this.#group[g]] = MUST_STEP
      if (written) {
        if (writer.total >= this.#limit) return LIMIT_REACHED
        if (this.#options.distinct) this.#passedOver = true
        if (writer.isFull) return BATCH_FULL
        if (this.#passedOver) return PARTITION_DONE
      }
      if (this.pausesAfterRow && n > 1) return ROW_DONE
    }
  }

  #matchesPartition(): boolean {
    const { filter, access } = this.#options
    if (filter === undefined || access === undefined) return true
    access.beginPartition(this.#sources[0], this.#hasStatics ? this.#statics : undefined)
    return !filter.hasPartitionTests || filter.matchesPartition(access)
  }

  /** Where the source that needs bytes may go on: nothing is wanted of it before. */
  #seekBound(i: number): Unfiltered | undefined {
    const { start, at } = this.#walk
    if (start === undefined || this.#sought[i] > at) return undefined
    const source = this.#sources[i]
    return source.hasPrevious && this.#order.compare(source.previous, start) >= 0 ? undefined : start
  }

  /** No deletion is in force, and all rows are wanted. */
  #isPlain(source: PartitionSource): boolean {
    return (
      source.run !== undefined &&
      this.#walk.slices === undefined &&
      this.#rowFilter === undefined &&
      this.#tombstones === undefined &&
      !this.#options.distinct &&
      !this.#deletions.isAnyActive &&
      !source.isOpen &&
      !source.isInsideRow
    )
  }

  /** A run of ordinary rows straight into the columns, over partition ends too where the scan allows it. */
  #runRows(writer: RowWriter, source: PartitionSource): number {
    const { state } = source.run!
    state.emitted = this.#emitted
    const reason = source.decodeRun(Math.min(writer.roomRows, this.#limit - writer.total))
    if (state.rows > 0) {
      writer.addRun(state.rows)
      this.#anyRow = true
      this.lastClustering = source.previous
    }
    this.#counters.rowsVisited += state.rows + state.deadRows
    this.#counters.rowsEmitted += state.rows
    this.#counters.partitionsVisited += state.partitions
    this.#counters.partitionsEmitted += state.emittedPartitions
    this.#emitted = state.emitted
    if (state.partitions > 0 && state.wholeKeyLength >= 0) writer.beginPartition(source)
    if (writer.total >= this.#limit) return LIMIT_REACHED
    if (reason === RUN_BATCH_FULL && writer.isFull) return BATCH_FULL
    if (!source.atPartitionStart) return CONTINUE
    this.#state[0] = AT_END
    return this.#end(writer)
  }

  /**
   * A slice that begins a partition has to look for a live row behind its end: such a row is the partition's own where a partition is
   * shown by one, and otherwise tells that static content is not shown alone.
   */
  get #looksFurther(): boolean {
    if (this.#options.distinct) return true
    return !this.#anyRow && this.#hasStatics && this.#statics.isLive
  }

  #row(writer: RowWriter, grouped: number, wanted: boolean): boolean {
    const regular = this.#regular
    this.#counters.rowsVisited++
    // Outside of what is wanted a row still tells that the partition is not static content alone.
    if (!wanted && this.#anyRow && !this.#options.distinct) return false
    regular.begin()
    for (let g = 0; g < grouped; g++) regular.add(this.#sources[this.#group[g]].current)
    const { activeHi, activeLo, activeLdt } = this.#deletions
    regular.resolve(activeHi, activeLo, activeLdt)
    if (wanted && this.#tombstones !== undefined) {
      for (let g = 0; g < grouped; g++) this.#tombstones.row(this.#sources[this.#group[g]].current)
    }
    if (!regular.isLive) return false
    // Of clusterings that compare equal with other bytes (decimal 1.0 and 1.00) the newest SSTable's is shown.
    const clustering = this.#sources[this.#group[grouped - 1]].current
    this.#anyRow = true
    if (this.#window !== undefined && !this.#isInWindow(this.#window, regular)) return false
    // Of a partition that is shown by one row, any row will do.
    if (this.#options.distinct) return this.#writePartition(writer)
    if (!wanted) return false
    if (this.#rowFilter !== undefined) {
      const { access } = this.#options
      access!.beginRow(clustering, regular)
      if (!this.#rowFilter.matchesRow(access!)) return false
    }
    this.lastClustering = clustering
    writer.write(clustering, regular)
    this.#count()
    return true
  }

  #count(): void {
    this.#counters.rowsEmitted++
    if (!this.#emitted) this.#counters.partitionsEmitted++
    this.#emitted = true
  }

  /** The row that stands for a partition. */
  #writePartition(writer: RowWriter): true {
    this.lastClustering = undefined
    this.#anyRow = true
    writer.write(undefined, undefined)
    this.#count()
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

  #countMarkers(grouped: number): void {
    for (let g = 0; g < grouped; g++) {
      const { current } = this.#sources[this.#group[g]]
      if (current.kind === KIND_MARKER) this.#tombstones!.marker(current)
    }
  }

  /** Markers of several sources at one point: all take effect before the next row is looked at. */
  #passMarkers(grouped: number): void {
    for (let g = 0; g < grouped; g++) {
      const i = this.#group[g]
      const marker = this.#sources[i].current
      if (marker.kind !== KIND_MARKER) continue
      this.#deletions.take(i)
      this.#state[i] = MUST_STEP
    }
    this.#deletions.activate()
  }

  #end(writer: RowWriter): number {
    const isStaticRow = this.#hasStatics && this.#statics.isLive && (!this.#anyRow || this.#staticCompact)
    if (isStaticRow && this.#matchesStatics()) {
      this.#hasStatics = false
      writer.statics = this.#statics
      this.#writePartition(writer)
      if (writer.total >= this.#limit) return LIMIT_REACHED
      if (writer.isFull) return BATCH_FULL
    }
    return PARTITION_DONE
  }

  #matchesStatics(): boolean {
    if (!(this.#window?.has(this.#statics.newestHi, this.#statics.newestLo) ?? true)) return false
    // In a static compact table the columns that CQL shows as regular are static ones.
    return this.#rowFilter === undefined || !this.#staticCompact || this.#rowFilter.matchesRow(this.#options.access!)
  }
}
