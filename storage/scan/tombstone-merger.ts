// The deletions of one partition that are in force over all SSTables that hold it: those that a major compaction would leave
// (Cassandra: UnfilteredRowIterators.merge, RangeTombstoneMarker.Merger, Row.Merger, with nothing purged). One that an equally
// wide or wider deletion covers, at its timestamp or later, is not; nor is a cell's or an element's that was written again since.
// Ranges that overlap are cut where another becomes the strongest. Whether anything is left to delete does not matter.
//
// Order: the partition's deletion and those of static content, then by clustering; a range where it ends.

import type { ClusteringOrder } from '../rows/clustering.ts'
import { ClusteringMemory } from '../rows/clustering-memory.ts'
import type { ColumnBuilder } from '../rows/column-builder.ts'
import { createBuilder } from '../rows/columns/create-builder.ts'
import { fieldOf } from '../rows/columns/field.ts'
import { literalText, uuidText } from '../rows/columns/literal-text.ts'
import { NEED, type PartitionSource } from '../rows/partition-source.ts'
import { RowReconciler } from '../rows/reconcile.ts'
import type { Slot, TableLayout } from '../rows/table-layout.ts'
import {
  CELL_DELETED,
  compareTimestamps,
  EXPIRED_LIVENESS_TTL,
  KIND_END,
  KIND_MARKER,
  NO_TIMESTAMP_HI,
  NO_TIMESTAMP_LO,
  type Unfiltered,
} from '../rows/unfiltered.ts'
import { OpenDeletions } from './open-deletions.ts'
import { BATCH_FULL, LIMIT_REACHED, type MergeCounters, PARTITION_DONE, WAITING } from './partition-merger.ts'
import type { PartitionSlices, RowSlice } from './slice-walk.ts'
import type { ElementPath, TombstoneWriter } from './tombstone-writer.ts'

const MUST_STEP = 0
const AT_UNFILTERED = 1
const AT_END = 2

export interface TombstoneOptions {
  /** Epoch seconds at which TTLs are judged. */
  now: number
  limit: number
  /** Names of the columns whose cells and collections are told of; undefined: all. */
  columns: ReadonlySet<string> | undefined
}

export class TombstoneMerger {
  waiting: PartitionSource | undefined
  /** A range may have begun anywhere before: nothing is jumped over. */
  readonly seekBound = undefined
  /** Where the deletion written last ends: a row or a bound; undefined: with its partition. */
  lastClustering: Unfiltered | undefined
  #order: ClusteringOrder
  #regular: RowReconciler
  #statics: RowReconciler
  #counters: MergeCounters
  #options: TombstoneOptions
  #regularColumns: Told[]
  #staticColumns: Told[]
  /** Rows and ranges of a static compact table are not CQL's: its columns are its static ones. */
  #hidesRows: boolean
  #deletions = new OpenDeletions()
  #sources: PartitionSource[] = []
  #state = new Uint8Array(8)
  #group = new Int32Array(8)
  /** What stands, or ends, behind its start and not behind its end is wanted. */
  #slice: RowSlice | undefined
  #atHead = false
  #atEnd = false
  /** Something of the partition was written. */
  #emitted = false
  // The range deletion in force at this place, and where it began.
  #rangeStart = new ClusteringMemory()
  #inRange = false
  #rangeHi = 0
  #rangeLo = 0
  #rangeLdt = 0

  constructor(layout: TableLayout, order: ClusteringOrder, counters: MergeCounters, options: TombstoneOptions) {
    this.#order = order
    const strict = layout.table.view?.requiresLiveness ?? false
    this.#regular = new RowReconciler(layout.regulars, options.now, strict)
    this.#statics = new RowReconciler(layout.statics, options.now, false)
    this.#regularColumns = toldColumns(layout.regulars.slots, options.columns)
    this.#staticColumns = toldColumns(layout.statics.slots, options.columns)
    this.#counters = counters
    this.#options = options
    this.#hidesRows = layout.table.compact === 'static'
  }

  /** Starts on the partition that all these sources stand at, behind header and static row; oldest SSTable first. */
  begin(sources: PartitionSource[], slices: PartitionSlices | undefined): void {
    this.#sources = sources
    // Positions alone cut partitions here: into one slice.
    this.#slice = slices?.slices[0]
    const n = sources.length
    if (this.#state.length < n) {
      this.#state = new Uint8Array(2 * n)
      this.#group = new Int32Array(2 * n)
    }
    this.#state.fill(MUST_STEP, 0, n)
    this.#deletions.begin(sources)
    this.#statics.begin()
    for (const source of sources) if (source.layout.hasStatics) this.#statics.add(source.staticRow)
    if (this.#statics.count > 0) {
      const { partitionHi, partitionLo, partitionLdt } = this.#deletions
      this.#statics.resolve(partitionHi, partitionLo, partitionLdt)
    }
    this.#inRange = false
    this.#emitted = false
    this.#atHead = slices?.beginsPartition ?? true
    this.#atEnd = slices?.slices.length === 0
  }

  sought(): void {}

  step(writer: TombstoneWriter): number {
    // What stands at the partition's head goes out with what follows: no position lies between them.
    if (this.#atHead) this.#head(writer)
    this.#atHead = false
    while (!this.#atEnd) {
      const grouped = this.#next()
      if (grouped < 0) return WAITING
      const before = writer.total
      if (grouped === 0) {
        this.#atEnd = true
        this.lastClustering = undefined
      } else {
        const newest = this.#sources[this.#group[grouped - 1]].current
        const end = this.#slice?.end
        // With what ends behind the slice it is over; its batch may still be filled by other partitions.
        if (end !== undefined && this.#order.compare(newest, end) > 0) return PARTITION_DONE
        this.lastClustering = newest
        if (newest.kind === KIND_MARKER) this.#markers(writer, grouped, newest)
        else this.#row(writer, grouped, newest)
      }
      this.#count(writer.total - before)
      if (writer.total >= this.#options.limit) return LIMIT_REACHED
      if (writer.isFull) return BATCH_FULL
    }
    return PARTITION_DONE
  }

  /** Brings the sources that stand at the next place together in #group; how many, 0 at the end, -1: `waiting` needs bytes. */
  #next(): number {
    const sources = this.#sources
    const state = this.#state
    let first = -1
    let grouped = 0
    for (let i = 0; i < sources.length; i++) {
      if (state[i] === MUST_STEP) {
        if (sources[i].tryNext() === NEED) {
          this.waiting = sources[i]
          return -1
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
    for (let g = 0; g < grouped; g++) state[this.#group[g]] = MUST_STEP
    return grouped
  }

  #head(writer: TombstoneWriter): void {
    const before = writer.total
    const { partitionHi, partitionLo, partitionLdt } = this.#deletions
    if (partitionHi !== NO_TIMESTAMP_HI || partitionLo !== NO_TIMESTAMP_LO) {
      writer.write('partition', undefined, undefined, undefined, undefined, partitionHi, partitionLo, partitionLdt, 0)
    }
    if (this.#statics.count > 0) {
      this.#cells(writer, this.#statics, this.#staticColumns, undefined)
    }
    this.#count(writer.total - before)
  }

  #count(written: number): void {
    this.#counters.rowsEmitted += written
    if (written > 0 && !this.#emitted) this.#counters.partitionsEmitted++
    this.#emitted ||= written > 0
  }

  /** Whether what ends at this place belongs to the slice. */
  #isWanted(place: Unfiltered): boolean {
    const start = this.#slice?.start
    return !this.#hidesRows && (start === undefined || this.#order.compare(place, start) > 0)
  }

  #markers(writer: TombstoneWriter, grouped: number, place: Unfiltered): void {
    const deletions = this.#deletions
    for (let g = 0; g < grouped; g++) deletions.take(this.#group[g])
    deletions.activate()
    const { activeHi, activeLo, activeLdt, isRangeActive } = deletions
    const goesOn =
      isRangeActive && activeHi === this.#rangeHi && activeLo === this.#rangeLo && activeLdt === this.#rangeLdt
    if (this.#inRange && goesOn) return
    if (this.#inRange && this.#isWanted(place)) {
      const start = this.#rangeStart.unfiltered
      writer.write('range', start, place, undefined, undefined, this.#rangeHi, this.#rangeLo, this.#rangeLdt, 0)
    }
    this.#inRange = isRangeActive
    if (!isRangeActive) return
    this.#rangeStart.keep(place)
    this.#rangeHi = activeHi
    this.#rangeLo = activeLo
    this.#rangeLdt = activeLdt
  }

  #row(writer: TombstoneWriter, grouped: number, place: Unfiltered): void {
    this.#counters.rowsVisited++
    if (!this.#isWanted(place)) return
    const row = this.#regular
    const { activeHi, activeLo, activeLdt } = this.#deletions
    row.begin()
    for (let g = 0; g < grouped; g++) row.add(this.#sources[this.#group[g]].current)
    row.resolve(activeHi, activeLo, activeLdt)
    // Deletions of equal timestamps go by their local deletion times in Cassandra; they delete no more for that.
    if (compareTimestamps(row.delHi, row.delLo, activeHi, activeLo) > 0) {
      writer.write('row', place, place, undefined, undefined, row.delHi, row.delLo, row.delLdt, 0)
    }
    const { liveHi, liveLo, liveTtl, liveLdt } = row
    if (!row.hasLiveness && (liveHi !== NO_TIMESTAMP_HI || liveLo !== NO_TIMESTAMP_LO)) {
      // A view's rows end by such a liveness, whose TTL is none (LivenessInfo.EXPIRED_LIVENESS_TTL).
      const ttl = liveTtl === EXPIRED_LIVENESS_TTL ? 0 : liveTtl
      writer.write('liveness', place, place, undefined, undefined, liveHi, liveLo, liveLdt, ttl)
    }
    this.#cells(writer, row, this.#regularColumns, place)
  }

  #cells(writer: TombstoneWriter, row: RowReconciler, columns: Told[], place: Unfiltered | undefined): void {
    for (const column of columns) {
      const { slot, name } = column
      if (column.path === undefined) {
        if (row.hasCell(slot)) cell(writer, row, place, name, row.versionOf(slot), row.cellOf(slot), undefined)
        continue
      }
      const hi = row.complexDeletionHi(slot)
      const lo = row.complexDeletionLo(slot)
      if (compareTimestamps(hi, lo, row.activeHi, row.activeLo) > 0) {
        writer.write('collection', place, place, name, undefined, hi, lo, row.complexDeletionLdt(slot), 0)
      }
      const first = row.firstEntry(slot)
      const end = first + row.entries(slot)
      for (let i = first; i < end; i++) {
        cell(writer, row, place, name, row.versions[row.listVersion[i]], row.listCell[i], column.path)
      }
    }
  }
}

/** Writes the deletion that a cell is, or has become. */
function cell(
  writer: TombstoneWriter,
  row: RowReconciler,
  place: Unfiltered | undefined,
  column: string,
  version: Unfiltered,
  at: number,
  path: PathText | undefined,
): void {
  if (row.isLiveCell(version, at)) return
  const ttl = (version.flags[at] & CELL_DELETED) !== 0 ? 0 : version.ttl[at]
  const element: ElementPath | undefined = path && { text: path(version, at), version, cell: at }
  writer.write('cell', place, place, column, element, version.tsHi[at], version.tsLo[at], version.ldt[at], ttl)
}

/** A column whose deletions are told of. */
interface Told {
  slot: number
  name: string
  /** Of multi-cell columns. */
  path: PathText | undefined
}

type PathText = (version: Unfiltered, cell: number) => string

/** Columns that CQL does not show, and dropped ones, have nothing to tell. */
function toldColumns(slots: readonly Slot[], names: ReadonlySet<string> | undefined): Told[] {
  return slots.flatMap(({ column, type, complex }, slot) => {
    if (column === undefined || (names !== undefined && !names.has(column.name))) return []
    return [{ slot, name: column.name, path: complex ? pathText(type) : undefined }]
  })
}

/** A list's element goes by the uuid of its place, a UDT's field by its name, all others by their key. */
function pathText(type: Slot['type']): PathText {
  if (type.kind === 'udt') {
    const names = type.fieldNames
    return ({ view, pathOffset }, cell) => names[view.getUint16(pathOffset[cell])] ?? ''
  }
  if (type.kind === 'set' || type.kind === 'map') {
    const builder = createBuilder(fieldOf('', type.kind === 'map' ? type.key : type.element, { duration: 'text' }))
    return (version, cell) => keyText(builder, version, cell)
  }
  return ({ bytes, pathOffset, pathLength }, cell) =>
    uuidText(bytes.subarray(pathOffset[cell], pathOffset[cell] + pathLength[cell]))
}

function keyText(builder: ColumnBuilder, { bytes, view, pathOffset, pathLength }: Unfiltered, cell: number): string {
  builder.append(bytes, view, pathOffset[cell], pathLength[cell])
  const text = literalText(builder.finish(), 0)
  builder.reset()
  return text
}
