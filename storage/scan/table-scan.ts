// A scan at work: pulls partitions out of the sources in ring order, merges each, fills batches. Asynchronous only where a
// window needs bytes or an index is asked; everything between is one synchronous run.

import { isSluiceError, SluiceError } from '../errors.ts'
import type { Partitioner } from '../ring/partitioner.ts'
import { behindPartition, encodePosition, keyPosition } from '../ring/position.ts'
import { type Batch, type BatchSchema, countEmptyValues } from '../rows/batch.ts'
import { EXHAUSTED, NEED, type PartitionSource } from '../rows/partition-source.ts'
import type { RowWriter } from '../rows/row-writer.ts'
import { ClusteringOrderError } from '../rows/run-state.ts'
import { CLUSTERING, type Unfiltered } from '../rows/unfiltered.ts'
import type { IndexCounters } from '../sstable/index.ts'
import { LANES_APART, LANES_BEFORE, LANES_FULL, LANES_INSIDE, LANES_LIMIT, type LaneMerge } from './lane-merge.ts'
import { BATCH_FULL, LIMIT_REACHED, PARTITION_DONE, ROW_DONE, WAITING } from './partition-merger.ts'
import type { ScanBounds } from './scan-bounds.ts'
import { type Scan, type ScanStats, takeIndexCounters } from './scan-request.ts'
import { type PartitionSlices, valuesOf } from './slice-walk.ts'
import { SourceHeap } from './source-heap.ts'
import type { SourceRoute } from './source-route.ts'

/** Fills batches. */
export interface ScanWriter {
  /** Rows of the batch at hand. */
  readonly rows: number
  beginPartition(source: PartitionSource): void
  finish(position: string): Batch
  /** Nothing more will be written. */
  close(): void
}

/** Makes rows of one partition after the other; PartitionMerger says how its methods are called. */
export interface ScanMerger<Writer> {
  readonly waiting: PartitionSource | undefined
  readonly seekBound: Unfiltered | undefined
  /** The row that the last one written stands at, or a bound; undefined: the end of its partition. */
  readonly lastClustering: Unfiltered | undefined
  begin(sources: PartitionSource[], slices: PartitionSlices | undefined): void
  // Of those that another merge may take turns with.
  resume?(sources: PartitionSource[], anyRow: boolean, last: PartitionSource | undefined): void
  suspend?(): PartitionSource[] | undefined
  pausesAfterRow?: boolean
  readonly hasAnyRow?: boolean
  sought(found: boolean): void
  step(writer: Writer): number
}

export interface TableScanParts<Writer extends ScanWriter> {
  schema: BatchSchema
  stats: ScanStats
  /** Oldest SSTable first. */
  routes: SourceRoute[]
  indexCounters: IndexCounters
  partitioner: Partitioner
  merger: ScanMerger<Writer>
  /** The quick merge of these sources; undefined: not for this scan. */
  quickMerge?(sources: readonly PartitionSource[]): LaneMerge | undefined
  /** Only partitions that one of these holds are looked at; undefined: all. */
  proposers: ReadonlySet<PartitionSource> | undefined
  writer: Writer
  bounds: ScanBounds
  /** Runs of rows may go on over partition ends. */
  canCross: boolean
  limit: number
  /** Names the table in positions. */
  scope: string
  signal: AbortSignal | undefined
  onClose: () => Promise<void>
}

/** Rows that the quick merge must get through to be worth its turn. */
const FEW_ROWS = 8
const MOST_PATIENCE = 64

// What run() comes back with.
const PENDING = 0
const FULL = 1
const DONE = 2
const LIMITED = 3

export class TableScan<Writer extends ScanWriter = RowWriter> implements Scan {
  readonly schema: BatchSchema
  readonly stats: ScanStats
  #parts: TableScanParts<Writer>
  #heap: SourceHeap | undefined
  readonly #routes = new Map<PartitionSource, SourceRoute>()
  /** Sources that must step to their next partition before the heap is whole. */
  readonly #moving: PartitionSource[] = []
  /** Those of them that are to go on to their next stretch. */
  readonly #leaving = new Set<PartitionSource>()
  #group: PartitionSource[] = []
  /** Key of the partition looked at last, where its source has gone on. */
  #lastKey: Uint8Array | undefined
  #inPartition = false
  /** undefined: not asked for yet, null: there is none. */
  #quick: LaneMerge | null | undefined
  /** The next partition is not for the quick merge. */
  #isHeld = false
  /** So many rows are left to the other merge before the quick one is tried again in the midst of a partition, */
  #rowsHeld = 0
  /** which doubles each time that it comes to nothing. */
  #patience = 1
  /** What run() waits for, and of which source. */
  #pending: (() => Promise<void>) | undefined
  #waiting: PartitionSource | undefined
  #done = false
  #closed = false
  #busy = false

  constructor(parts: TableScanParts<Writer>) {
    this.#parts = parts
    this.schema = parts.schema
    this.stats = parts.stats
    if (parts.limit === 0) this.#done = true
  }

  async next(): Promise<Batch | undefined> {
    if (this.#busy) throw new SluiceError('INTERNAL', { reason: 'next() while another next() is under way' })
    this.#busy = true
    try {
      return await this.#next()
    } catch (error) {
      this.#done = true
      throw this.#located(error)
    } finally {
      this.#busy = false
      if (this.#closed) await this.#free()
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#done = true
    if (!this.#busy) await this.#free()
  }

  async #free(): Promise<void> {
    const { routes, writer, onClose } = this.#parts
    if (this.#freed) return
    this.#freed = true
    await Promise.all(routes.map((route) => route.close()))
    writer.close()
    await onClose()
  }

  #freed = false

  #checkCancelled(): void {
    if (this.#parts.signal?.aborted || this.#closed) throw new SluiceError('CANCELLED')
  }

  /** Takes every SSTable to what it may hold of what is asked for; one that holds nothing stays untouched. */
  async #begin(): Promise<SourceHeap> {
    for (const route of this.#parts.routes) {
      this.#checkCancelled()
      if (!(await route.nextStretch())) continue
      this.#routes.set(route.source, route)
      this.#moving.push(route.source)
    }
    takeIndexCounters(this.stats, this.#parts.indexCounters)
    return new SourceHeap(this.#parts.partitioner, this.#moving)
  }

  async #next(): Promise<Batch | undefined> {
    while (!this.#done) {
      this.#heap ??= await this.#begin()
      this.#checkCancelled()
      const outcome = this.#run()
      if (outcome === PENDING) {
        await this.#pending!()
        takeIndexCounters(this.stats, this.#parts.indexCounters)
      } else {
        if (outcome !== FULL) this.#done = true
        if (this.#parts.writer.rows > 0) return this.#batch(outcome === DONE)
      }
    }
    return undefined
  }

  #batch(last: boolean): Batch {
    const batch = this.#parts.writer.finish(this.#position(last))
    this.stats.batches++
    for (const column of batch.columns) this.stats.emptyValues += countEmptyValues(column)
    return batch
  }

  /** Behind the last row written; at the end of the scan behind the last partition looked at, which may have had no row. */
  #position(last: boolean): string {
    const { merger, partitioner, scope } = this.#parts
    const source = this.#group[0]
    const key = this.#lastKey ?? source.key.slice(0, source.keyLength)
    if (last) return encodePosition(partitioner, scope, behindPartition(partitioner, key))
    const row = merger.lastClustering
    if (row === undefined) return encodePosition(partitioner, scope, behindPartition(partitioner, key))
    const after = row.boundKind >= CLUSTERING
    return encodePosition(partitioner, scope, keyPosition(partitioner, key, valuesOf(row), after))
  }

  /** Works until bytes or an index are needed, a batch is full, or the end. */
  #run(): number {
    const { merger, writer } = this.#parts
    for (;;) {
      if (this.#inPartition) {
        this.#waiting = undefined
        const status = this.#goOnQuickly() ?? merger.step(writer)
        if (status === ROW_DONE) continue
        if (status === WAITING) {
          this.#waitFor(merger.waiting!, merger.seekBound)
          return PENDING
        }
        if (status === BATCH_FULL) return FULL
        if (status === LIMIT_REACHED) return LIMITED
        this.#inPartition = false
        this.#moveGroup()
      }
      if (!this.#advance()) return PENDING
      if (this.#canMergeQuickly) {
        const status = this.#mergeQuickly()
        if (status !== PENDING) return status
      } else if (!this.#choose()) return DONE
    }
  }

  #waitFor(source: PartitionSource, bound: Unfiltered | undefined): void {
    const { merger } = this.#parts
    const route = this.#routes.get(source)!
    this.#waiting = source
    this.#pending = bound === undefined ? () => route.more() : async () => merger.sought(await route.seekRow(bound))
  }

  /** The group is done with its partition. */
  #moveGroup(): void {
    for (const source of this.#group) {
      this.#moving.push(source)
      if (this.#routes.get(source)!.isLast) this.#leaving.add(source)
    }
  }

  /** Brings every source in #moving to its next partition and into the heap. False: #pending must be done first. */
  #advance(): boolean {
    const moving = this.#moving
    while (moving.length > 0) {
      const source = moving[moving.length - 1]
      const route = this.#routes.get(source)!
      this.#waiting = source
      if (this.#leaving.has(source)) {
        this.#pending = () => this.#leave(route)
        return false
      }
      if (source.trySkipPartition() === NEED) {
        this.#pending = route.shouldSkip ? () => route.skipPartition() : () => route.more()
        return false
      }
      const status = source.tryPartition()
      if (status === NEED) {
        this.#pending = () => route.more()
        return false
      }
      if (status === EXHAUSTED) {
        route.check()
        this.#leaving.add(source)
      } else if (route.accepts()) {
        moving.pop()
        this.#heap!.push(source)
      } else if (route.isLast) {
        this.#leaving.add(source)
      }
    }
    return true
  }

  /** Takes a source to its next stretch; one that has none is done. */
  async #leave(route: SourceRoute): Promise<void> {
    const { source } = route
    // What it comes to may turn out not to be wanted.
    if (source === this.#group[0]) this.#lastKey ??= source.key.slice(0, source.keyLength)
    if (!(await route.nextStretch())) this.#moving.pop()
    this.#leaving.delete(source)
  }

  get #canMergeQuickly(): boolean {
    const heap = this.#heap!
    if (this.#quick === null || this.#isHeld || heap.size < 2) return false
    this.#quick ??= this.#parts.quickMerge?.([...this.#routes.keys()]) ?? null
    if (this.#quick === null) return false
    const { bounds } = this.#parts
    return heap.sources.every((s) => this.#routes.get(s)!.exact && bounds.slices(s) === undefined)
  }

  /** Goes through partitions side by side as far as that can. FULL and LIMITED as run() says them, else PENDING. */
  #mergeQuickly(): number {
    const { merger, writer } = this.#parts
    const merge = this.#quick!
    const heap = this.#heap!
    const sources = heap.sources
    heap.clear()
    this.#lastKey = undefined
    let left: number
    try {
      left = merge.run(sources)
    } catch (error) {
      throw this.#leaveFailed(merge, error)
    }
    const isInside = left === LANES_INSIDE || left === LANES_FULL || left === LANES_LIMIT
    this.#group = isInside ? merge.group.map((lane) => lane.source) : []
    const lanes = merge.leave()
    for (const lane of lanes) {
      if (isInside && merge.group.includes(lane)) continue
      if (lane.inside) heap.push(lane.source)
      else this.#moving.push(lane.source)
    }
    this.#isHeld = left === LANES_BEFORE
    if (!isInside) {
      // What was looked at last: one of those that are done with it.
      const done = lanes.find((lane) => !lane.inside)
      if (done !== undefined) this.#group = [done.source]
      return PENDING
    }
    const [head] = this.#group
    writer.beginPartition(head)
    merger.resume!(this.#group, merge.emitted, merge.last?.source)
    merger.pausesAfterRow = true
    this.#rowsHeld = 1
    this.#allowCrossing(head)
    this.#inPartition = true
    if (left === LANES_FULL) return FULL
    return left === LANES_LIMIT ? LIMITED : PENDING
  }

  /** Lets the quick merge go on in a partition that it left. The status as step() gives it, undefined: it is not its turn. */
  #goOnQuickly(): number | undefined {
    const { merger } = this.#parts
    if (!merger.pausesAfterRow || this.#group.length < 2 || this.#rowsHeld-- > 0) return undefined
    const sources = merger.suspend?.()
    if (sources === undefined || sources.length < 2) {
      if (sources !== undefined) merger.resume!(sources, merger.hasAnyRow!, undefined)
      this.#rowsHeld = this.#patience
      return undefined
    }
    const merge = this.#quick!
    const anyRow = merger.hasAnyRow!
    let left: number
    try {
      left = merge.runInside(sources, anyRow)
    } catch (error) {
      throw this.#leaveFailed(merge, error)
    }
    this.#patience = merge.rows >= FEW_ROWS ? 1 : Math.min(2 * this.#patience, MOST_PATIENCE)
    this.#rowsHeld = this.#patience
    const lanes = merge.leave()
    if (left === LANES_APART) return PARTITION_DONE
    const standing = lanes.filter((lane) => lane.inside).map(({ source }) => source)
    merger.resume!(standing, anyRow || merge.emitted, merge.last?.source)
    if (left === LANES_FULL) return BATCH_FULL
    return left === LANES_LIMIT ? LIMIT_REACHED : ROW_DONE
  }

  /** The sources stand where the merge had come to when the error came; the error as it is to be told. */
  #leaveFailed(merge: LaneMerge, error: unknown): unknown {
    const source = merge.at?.source ?? this.#group[0]
    merge.at?.leave()
    this.#group = [source]
    this.#waiting = source
    return error instanceof ClusteringOrderError ? source.corrupt(error.message) : error
  }

  /** Takes the smallest partition out of the heap; false when nothing is left. */
  #choose(): boolean {
    const { merger, writer, bounds, proposers } = this.#parts
    const heap = this.#heap!
    const head = heap.peek()
    if (head === undefined) return false
    heap.popGroup(this.#group)
    this.#lastKey = undefined
    if (proposers !== undefined && !this.#group.some((source) => proposers.has(source))) {
      this.#moveGroup()
      return true
    }
    this.stats.partitionsVisited++
    this.#isHeld = false
    if (this.#quick) {
      merger.pausesAfterRow = this.#group.length > 1 && this.#group.every((s) => this.#routes.get(s)!.exact)
      this.#rowsHeld = this.#patience
    }
    writer.beginPartition(head)
    this.#allowCrossing(head)
    merger.begin(this.#group, bounds.slices(head))
    this.#inPartition = true
    return true
  }

  /**
   * A source that stands alone may run on over partition ends, up to where another source's partition or the end of its stretch
   * comes.
   */
  #allowCrossing(source: PartitionSource): void {
    const { partitioner, canCross } = this.#parts
    const state = source.run?.state
    if (state === undefined) return
    const next = this.#heap!.peek()
    // A source on its way to its next partition could come in between.
    const alone = this.#group.length === 1 && this.#moving.length === 0 && this.#routes.get(source)!.exact
    state.crossing = canCross && alone && !source.layout.hasStatics && partitioner.words === 2
    state.hasLimit = next !== undefined
    if (next !== undefined) state.limit.set(next.token)
  }

  /** Adds where the scan stood to an error that came out of reading. */
  #located(error: unknown): unknown {
    // The one that was on its way, or asked for bytes; of those that are merged it may be any.
    const sources = this.#waiting === undefined ? this.#group : [this.#waiting]
    if (sources.length === 0) return error
    const [source] = sources
    const file = sources.map((s) => s.layout.sstable.file).join(' or ')
    if (isSluiceError(error)) {
      if (error.code !== 'CORRUPT_SSTABLE' && error.code !== 'INVALID_UTF8' && error.code !== 'VALUE_OUT_OF_RANGE') {
        return error
      }
      if (error.fields.partition !== undefined || source.keyLength === 0) return error
      const named = sources.find((s) => s.layout.sstable.file === error.fields.file) ?? source
      return error.with({
        file: error.fields.file ?? file,
        offset: error.fields.offset ?? named.window.offset,
        partition: source.keyHex(),
      })
    }
    if (error instanceof RangeError) {
      // A DataView read beyond its buffer: lengths in the file were not what they said.
      const fields = { file, offset: source.window.offset, partition: source.keyHex(), reason: error.message }
      return new SluiceError('CORRUPT_SSTABLE', fields, error)
    }
    return error
  }
}
