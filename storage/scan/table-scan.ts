// A scan at work: pulls partitions out of the sources in ring order, merges each, fills batches. Asynchronous only where a
// window needs bytes; everything between two fills is one synchronous run.

import { isSluiceError, SluiceError } from '../errors.ts'
import { compareWords, type Partitioner } from '../ring/partitioner.ts'
import { behindPartition, behindRow, encodePosition } from '../ring/position.ts'
import { compareToInterval, type TokenInterval } from '../ring/token-range.ts'
import type { Batch, BatchSchema } from '../rows/batch.ts'
import { EXHAUSTED, NEED, type PartitionSource } from '../rows/partition-source.ts'
import type { RowWriter } from '../rows/row-writer.ts'
import { BATCH_FULL, LIMIT_REACHED, type PartitionMerger, WAITING } from './partition-merger.ts'
import type { ScanBounds } from './scan-bounds.ts'
import type { Scan, ScanStats } from './scan-request.ts'
import { SourceHeap } from './source-heap.ts'

export interface TableScanParts {
  schema: BatchSchema
  stats: ScanStats
  sources: PartitionSource[]
  partitioner: Partitioner
  /** In normal form: ascending, disjoint. */
  intervals: readonly TokenInterval[]
  merger: PartitionMerger
  /** Only partitions that one of these holds are looked at; undefined: all. */
  proposers: ReadonlySet<PartitionSource> | undefined
  writer: RowWriter
  /** Only what lies behind `lower` and before `upper`. */
  bounds: ScanBounds
  limit: number
  /** Names the table in positions. */
  scope: string
  signal: AbortSignal | undefined
  onClose: () => Promise<void>
}

// What run() comes back with.
const NEEDS_BYTES = 0
const FULL = 1
const DONE = 2
const LIMITED = 3

export class TableScan implements Scan {
  readonly schema: BatchSchema
  readonly stats: ScanStats
  #parts: TableScanParts
  #heap: SourceHeap
  /** Sources that must step to their next partition before the heap is whole. */
  #moving: PartitionSource[]
  #group: PartitionSource[] = []
  #interval = 0
  #inPartition = false
  #waiting: PartitionSource | undefined
  #done = false
  #closed = false
  #busy = false

  constructor(parts: TableScanParts) {
    this.#parts = parts
    this.schema = parts.schema
    this.stats = parts.stats
    this.#heap = new SourceHeap(parts.partitioner, parts.sources)
    this.#moving = [...parts.sources]
    if (parts.limit === 0 || parts.intervals.length === 0) this.#done = true
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
    const { sources, onClose } = this.#parts
    if (this.#freed) return
    this.#freed = true
    await Promise.all(sources.map((source) => source.window.close()))
    await onClose()
  }

  #freed = false

  async #next(): Promise<Batch | undefined> {
    while (!this.#done) {
      if (this.#parts.signal?.aborted || this.#closed) throw new SluiceError('CANCELLED')
      const outcome = this.#run()
      if (outcome === NEEDS_BYTES) {
        await this.#waiting!.more()
      } else {
        if (outcome !== FULL) this.#done = true
        if (this.#parts.writer.rows > 0) return this.#batch(outcome === DONE)
      }
    }
    return undefined
  }

  #batch(last: boolean): Batch {
    this.stats.batches++
    return this.#parts.writer.finish(this.#position(last))
  }

  /** Behind the last row written; at the end of the scan behind the last partition looked at, which may have had no row. */
  #position(last: boolean): string {
    const { merger, partitioner, scope } = this.#parts
    const source = this.#group[0]
    const key = source.key.slice(0, source.keyLength)
    if (last) return encodePosition(partitioner, scope, behindPartition(partitioner, key))
    const row = merger.lastClustering
    const clustering: (Uint8Array | null)[] = []
    for (let i = 0; row !== undefined && i < row.clusteringCount; i++) {
      const at = row.clusteringOffset[i]
      clustering.push(row.clusteringLength[i] < 0 ? null : row.bytes.slice(at, at + row.clusteringLength[i]))
    }
    return encodePosition(partitioner, scope, behindRow(partitioner, key, clustering))
  }

  /** Works until bytes are needed, a batch is full, or the end. */
  #run(): number {
    const { merger, writer } = this.#parts
    for (;;) {
      if (this.#inPartition) {
        const status = merger.step(writer)
        if (status === WAITING) {
          this.#waiting = merger.waiting
          return NEEDS_BYTES
        }
        if (status === BATCH_FULL) return FULL
        if (status === LIMIT_REACHED) return LIMITED
        this.#inPartition = false
        this.#moving.push(...this.#group)
      }
      if (!this.#advance()) return NEEDS_BYTES
      if (!this.#choose()) return DONE
    }
  }

  /** Brings every source in #moving to its next partition and into the heap. False: #waiting needs bytes. */
  #advance(): boolean {
    const moving = this.#moving
    while (moving.length > 0) {
      const source = moving[moving.length - 1]
      let status = source.trySkipPartition()
      if (status !== NEED) status = source.tryPartition()
      if (status === NEED) {
        this.#waiting = source
        return false
      }
      moving.pop()
      if (status !== EXHAUSTED) this.#heap.push(source)
    }
    return true
  }

  /** Takes the smallest partition out of the heap; false when nothing is left in range. */
  #choose(): boolean {
    const { partitioner, intervals, merger, writer, bounds, proposers } = this.#parts
    const heap = this.#heap
    for (;;) {
      const head = heap.peek()
      if (head === undefined) return false
      while (this.#interval < intervals.length && this.#standing(partitioner, intervals[this.#interval], head) > 0) {
        this.#interval++
      }
      if (this.#interval === intervals.length) return false
      const place = bounds.place(head)
      if (place > 0) return false
      heap.popGroup(this.#group)
      const isBefore = place < 0 || this.#standing(partitioner, intervals[this.#interval], head) < 0
      if (isBefore || (proposers !== undefined && !this.#group.some((source) => proposers.has(source)))) {
        this.#moving.push(...this.#group)
        this.#inPartition = false
        return true
      }
      this.stats.partitionsVisited++
      writer.beginPartition(head)
      this.#allowCrossing(head)
      merger.begin(this.#group, bounds.slices(head))
      this.#inPartition = true
      return true
    }
  }

  /**
   * A source that stands alone may run on over partition ends, up to where another source's partition or the end of the
   * interval comes.
   */
  #allowCrossing(source: PartitionSource): void {
    const { partitioner, intervals, bounds } = this.#parts
    const state = source.run?.state
    if (state === undefined) return
    const next = this.#heap.peek()
    const end = intervals[this.#interval].end
    const bounded = bounds.lower !== undefined || bounds.upper !== undefined
    state.crossing = this.#group.length === 1 && !source.layout.hasStatics && !bounded && partitioner.words === 2
    state.hasLimit = next !== undefined || end !== null
    if (!state.crossing || !state.hasLimit) return
    if (next === undefined) state.limit.set(end!.words)
    else if (end === null || compareWords(next.token, 0, end.words, 0) < 0) state.limit.set(next.token)
    else state.limit.set(end.words)
  }

  #standing(partitioner: Partitioner, interval: TokenInterval, source: PartitionSource): number {
    return compareToInterval(partitioner, interval, source.token, 0, source.key, 0, source.keyLength)
  }

  /** Adds where the scan stood to an error that came out of reading. */
  #located(error: unknown): unknown {
    const source = this.#parts.merger.waiting ?? this.#waiting ?? this.#group[0]
    if (isSluiceError(error)) {
      if (error.code !== 'CORRUPT_SSTABLE' && error.code !== 'INVALID_UTF8' && error.code !== 'VALUE_OUT_OF_RANGE') {
        return error
      }
      if (error.fields.partition !== undefined || this.#group.length === 0) return error
      const files = this.#group.map((s) => s.layout.sstable.file)
      return error.with({
        file: error.fields.file ?? files.join(' or '),
        offset: this.#group[0].window.offset,
        partition: this.#group[0].keyHex(),
      })
    }
    if (error instanceof RangeError && source !== undefined) {
      // A DataView read beyond its buffer: lengths in the file were not what they said.
      return new SluiceError(
        'CORRUPT_SSTABLE',
        { file: source.layout.sstable.file, offset: source.window.offset, reason: error.message },
        error,
      )
    }
    return error
  }
}
