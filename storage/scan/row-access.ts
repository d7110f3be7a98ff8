// The row at hand as a predicate's filter reads it: values where they lie, in the key, the clustering, or the winning cells of a
// reconciled row. Nothing is copied or allocated per row.

import { splitKey } from '../rows/key-parts.ts'
import type { PartitionSource } from '../rows/partition-source.ts'
import type { RowReconciler } from '../rows/reconcile.ts'
import { slotOf, type TableLayout } from '../rows/table-layout.ts'
import type { Unfiltered } from '../rows/unfiltered.ts'
import type { ColumnSchema } from '../schema/table.ts'
import type { RowAccess } from './predicate/filter.ts'

const KEY = 0
const CLUSTERING = 1
const STATIC = 2
const REGULAR = 3

const NOTHING: Uint8Array = new Uint8Array(0)
const NO_VIEW: DataView = new DataView(NOTHING.buffer)

export class ScanRowAccess implements RowAccess {
  bytes: Uint8Array = NOTHING
  view = NO_VIEW
  offset = 0
  length = 0
  /** Where each of the filter's columns is found, and at which index or slot. */
  readonly #place: Uint8Array
  readonly #index: Int32Array
  #key = NOTHING
  #keyView = NO_VIEW
  #keyOffset: Int32Array
  #keyLength: Int32Array
  #statics: RowReconciler | undefined
  #regular: RowReconciler | undefined
  #clustering: Unfiltered | undefined
  // Live cells of the multi-cell column counted last.
  #cells = new Int32Array(16)

  constructor(columns: readonly ColumnSchema[], layout: TableLayout) {
    const keyParts = layout.table.partitionKey.length
    this.#keyOffset = new Int32Array(keyParts)
    this.#keyLength = new Int32Array(keyParts)
    this.#place = new Uint8Array(columns.length)
    this.#index = new Int32Array(columns.length)
    columns.forEach((column, i) => {
      const { kind } = column
      if (kind === 'partition_key' || kind === 'clustering') {
        this.#place[i] = kind === 'clustering' ? CLUSTERING : KEY
        this.#index[i] = column.position
        return
      }
      const isStatic = layout.statics.slots.some((s) => s.column === column)
      this.#place[i] = isStatic ? STATIC : REGULAR
      this.#index[i] = slotOf(isStatic ? layout.statics : layout.regulars, column)
    })
  }

  beginPartition(source: PartitionSource, statics: RowReconciler | undefined): void {
    this.#key = source.key
    this.#keyView = source.keyView
    this.#statics = statics
    this.#regular = undefined
    this.#clustering = undefined
    splitKey(source, this.#keyOffset, this.#keyLength)
  }

  beginRow(clustering: Unfiltered, regular: RowReconciler): void {
    this.#clustering = clustering
    this.#regular = regular
  }

  value(slot: number): boolean {
    const index = this.#index[slot]
    switch (this.#place[slot]) {
      case KEY:
        this.bytes = this.#key
        this.view = this.#keyView
        this.offset = this.#keyOffset[index]
        this.length = this.#keyLength[index]
        return true
      case CLUSTERING: {
        const row = this.#clustering
        if (row === undefined || row.clusteringLength[index] < 0) return false
        this.bytes = row.bytes
        this.view = row.view
        this.offset = row.clusteringOffset[index]
        this.length = row.clusteringLength[index]
        return true
      }
      default: {
        const row = this.#rowOf(slot)
        if (row === undefined || !row.hasValue(index)) return false
        this.#point(row.versionOf(index), row.cellOf(index))
        return true
      }
    }
  }

  cells(slot: number): number {
    const row = this.#rowOf(slot)
    if (row === undefined) return 0
    const index = this.#index[slot]
    const first = row.firstEntry(index)
    const end = first + row.entries(index)
    let live = 0
    for (let i = first; i < end; i++) {
      if (!row.isLiveCell(row.versions[row.listVersion[i]], row.listCell[i])) continue
      if (live === this.#cells.length) {
        const larger = new Int32Array(2 * live)
        larger.set(this.#cells)
        this.#cells = larger
      }
      this.#cells[live++] = i
    }
    return live
  }

  cellPath(slot: number, cell: number): void {
    const row = this.#rowOf(slot)!
    const entry = this.#cells[cell]
    const version = row.versions[row.listVersion[entry]]
    const at = row.listCell[entry]
    this.bytes = version.bytes
    this.view = version.view
    this.offset = version.pathOffset[at]
    this.length = version.pathLength[at]
  }

  cellValue(slot: number, cell: number): void {
    const row = this.#rowOf(slot)!
    const entry = this.#cells[cell]
    this.#point(row.versions[row.listVersion[entry]], row.listCell[entry])
  }

  #rowOf(slot: number): RowReconciler | undefined {
    return this.#place[slot] === STATIC ? this.#statics : this.#regular
  }

  #point(version: Unfiltered, cell: number): void {
    this.bytes = version.bytes
    this.view = version.view
    this.offset = version.offset[cell]
    this.length = version.length[cell]
  }
}
