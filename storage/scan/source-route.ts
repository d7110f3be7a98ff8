// The way of a scan through one SSTable: where in Data.db to read, by the index, from where to where, and how to get over what is
// not wanted. A scan of everything asks no index. What the index says is checked against the keys found in Data.db: the ends of what
// two neighbouring scans read are one place of one index, so what it misleads one of them to lies outside of what that one wants.

import { SluiceError } from '../errors.ts'
import { type Partitioner, TOKEN_WORDS } from '../ring/partitioner.ts'
import { behindPartition, comparePartitionToPosition, keyPosition, type Position } from '../ring/position.ts'
import type { PartitionSource } from '../rows/partition-source.ts'
import { EXCL_START, NO_DELETION_TIME, NO_TIMESTAMP_HI, NO_TIMESTAMP_LO, type Unfiltered } from '../rows/unfiltered.ts'
import type { PartitionEntry, PartitionIndex, RowIndex } from '../sstable/index.ts'
import type { SSTableData } from '../sstable/sstable.ts'
import type { Reach } from './scan-bounds.ts'
import type { ScanStats } from './scan-request.ts'
import { valuesOf } from './slice-walk.ts'

/** A run of partitions in Data.db. */
interface Stretch {
  start: number
  stop: number
  reach: Reach
  /** The only partition asked for. */
  key: Uint8Array | undefined
  /** Holds one partition; whether that is wanted, and how much of it, shows there. */
  single: boolean
  entry: PartitionEntry | null
}

// Bytes that are stepped over by row sizes before the index is asked for the next partition: it costs about as much.
const WADE_BYTES = 64 * 1024
// In partitions no larger nothing is looked for by index.
const SMALL_PARTITION = 32 * 1024
const MOST_AHEAD = 1 << 20

export interface RouteOptions {
  partitioner: Partitioner
  stats: ScanStats
  /** In ring order. */
  reaches: readonly Reach[]
  /** The only partitions asked for, in ring order; they lie in the reaches. undefined: all. */
  keys: readonly Uint8Array[] | undefined
}

export class SourceRoute {
  readonly sstable: SSTableData
  readonly #make: () => PartitionSource
  #source: PartitionSource | undefined
  readonly #index: PartitionIndex
  readonly #options: RouteOptions
  #stretches: Stretch[] = []
  #stretch: Stretch | undefined
  #next = 0
  /** The partition at hand is the first of its stretch. */
  #fresh = false
  /** Of the partition at hand; null: it has none, undefined: not asked for yet. */
  #rowIndex: RowIndex | null | undefined
  #rowIndexOf = -1
  /** Read-ahead goes up to here, and on in growing steps where reading does. */
  #softStop = 0
  #step = 0
  #skipFrom = -1
  /** Bytes of the stretch that were not gone through. */
  #jumped = 0
  /** Data.db was read. */
  touched = false
  readonly #hasLargePartitions: boolean
  readonly #wade: number

  /** `make` is called where Data.db has to be read: of the SSTables that a key is looked for in, few are. */
  constructor(sstable: SSTableData, make: () => PartitionSource, index: PartitionIndex, options: RouteOptions) {
    this.sstable = sstable
    this.#make = make
    this.#index = index
    this.#options = options
    const { partitionSizes } = sstable.statistics
    const partitions = Number(partitionSizes.counts.reduce((sum, count) => sum + count, 0n))
    this.#hasLargePartitions = partitionSizes.counts.some(
      (count, i) =>
        count > 0n && i + 1 < partitionSizes.bounds.length && partitionSizes.bounds[i + 1] > SMALL_PARTITION,
    )
    this.#wade = sstable.dataLength > WADE_BYTES * Math.max(1, partitions) ? 0 : WADE_BYTES
  }

  get source(): PartitionSource {
    this.#source ??= this.#make()
    return this.#source
  }

  async close(): Promise<void> {
    await this.#source?.window.close()
  }

  /** All partitions up to `source.stopOffset` are wanted, whole. */
  get exact(): boolean {
    return this.#stretch !== undefined && !this.#stretch.single
  }

  /** Moves to the next stretch that may hold something; false: there is none. */
  async nextStretch(): Promise<boolean> {
    this.leave()
    for (;;) {
      const stretch = this.#stretches.shift()
      if (stretch !== undefined) {
        await this.#enter(stretch)
        return true
      }
      if (!(await this.#findStretches())) return false
    }
  }

  /** Done with the stretch at hand. */
  leave(): void {
    const { stats } = this.#options
    if (this.#stretch === undefined) return
    stats.dataBytesCovered += Math.max(0, this.source.window.offset - this.#stretch.start - this.#jumped)
    this.#jumped = 0
    this.#stretch = undefined
  }

  async #findStretches(): Promise<boolean> {
    const { keys, reaches } = this.#options
    if (keys !== undefined) {
      if (this.#next === keys.length) return false
      const key = keys[this.#next++]
      if (this.#isBeyond({ from: this.#before(key), to: behindPartition(this.#options.partitioner, key) })) return true
      const entry = await this.#index.find(key)
      if (entry === null) return true
      const reach = { from: null, to: null }
      const stop = await this.#endOf(entry, key)
      this.#stretches.push({ start: entry.dataOffset, stop, reach, key, single: true, entry })
      return true
    }
    if (this.#next === reaches.length) return false
    const reach = reaches[this.#next++]
    if (reach.from === null && reach.to === null) {
      const stop = this.sstable.dataLength
      this.#stretches.push({ start: 0, stop, reach, key: undefined, single: false, entry: null })
    } else if (!this.#isBeyond(reach)) {
      await this.#findReach(reach)
    }
    return true
  }

  /** Where a partition ends, so that nothing is read ahead behind it; of small ones that is not worth the look. */
  async #endOf(entry: PartitionEntry, key: Uint8Array): Promise<number> {
    const { dataLength } = this.sstable
    if (!entry.wide) return dataLength
    const next = await this.#index.seek(behindPartition(this.#options.partitioner, key))
    return next === null || next.dataOffset <= entry.dataOffset ? dataLength : next.dataOffset
  }

  async #findReach(reach: Reach): Promise<void> {
    const { from, to } = reach
    const { dataLength } = this.sstable
    let start = 0
    let first: PartitionEntry | null = null
    if (from !== null) {
      first = await this.#index.seek(from)
      if (first === null) return
      start = first.dataOffset
    }
    const last = to === null ? null : await this.#index.seek(to)
    const stop = last === null ? dataLength : last.dataOffset
    const part = { reach, key: undefined }
    if (start < stop) this.#stretches.push({ ...part, start, stop, single: false, entry: first })
    if (last === null || to === null) return
    // A partition that the end lies in, or of which the index cannot tell.
    const behind = await this.#index.endOffset(to)
    if (behind > Math.max(start, stop)) {
      this.#stretches.push({ ...part, start: Math.max(start, stop), stop: behind, single: true, entry: last })
    }
  }

  async #enter(stretch: Stretch): Promise<void> {
    const { source } = this
    if (!this.touched) this.#options.stats.sstablesRead++
    this.touched = true
    this.#stretch = stretch
    this.#fresh = true
    this.#rowIndex = undefined
    this.#skipFrom = -1
    // A scan of everything goes by no index, and counts partitions to its end.
    const isWhole = stretch.key === undefined && stretch.reach.from === null && stretch.reach.to === null
    if (!isWhole) source.seekPartition(stretch.start)
    source.stopOffset = stretch.stop
    this.#step = 0
    this.#softStop = stretch.key === undefined ? stretch.stop : stretch.start
    await source.window.setStop(this.#softStop)
  }

  /** Brings what the source's last step asked for. */
  async more(): Promise<void> {
    const { window, stopOffset } = this.source
    if (this.#softStop < stopOffset && window.base + window.end >= this.#softStop) {
      this.#softStop = Math.min(stopOffset, Math.max(window.offset, this.#softStop) + this.#step)
      this.#step = Math.min(MOST_AHEAD, Math.max(32 * 1024, 2 * this.#step))
      await window.setStop(this.#softStop)
    }
    await this.source.more()
  }

  /**
   * Whether the partition that the source has come to is wanted. False: it belongs to what the index could not tell.
   * CORRUPT_SSTABLE where the index told, and wrongly.
   */
  accepts(): boolean {
    const { source } = this
    const stretch = this.#stretch!
    this.#skipFrom = -1
    const { key, entry, reach } = stretch
    const fresh = this.#fresh
    this.#fresh = false
    const found = source.key.subarray(0, source.keyLength)
    if (fresh && entry !== null && entry.key !== null && Buffer.compare(entry.key, found) !== 0) this.#misled()
    if (key !== undefined) {
      if (Buffer.compare(key, found) === 0) return true
      if (entry!.certain) this.#misled()
      return false
    }
    if (fresh && reach.from !== null && this.#compare(reach.from) < 0) {
      if (entry?.certain) this.#misled()
      return false
    }
    if (reach.to !== null && this.#compare(reach.to) > 0) {
      if (!stretch.single) this.#misled()
      return false
    }
    return true
  }

  /** At the end of a stretch: the partition read last must have been one of it, and end where the index says. */
  check(): void {
    const { source } = this
    const stretch = this.#stretch
    if (stretch === undefined || stretch.single) return
    const { to } = stretch.reach
    if (source.window.offset !== stretch.stop) this.#misled()
    if (to !== null && source.partitionOffset >= stretch.start && source.keyLength > 0 && this.#compare(to) > 0) {
      this.#misled()
    }
  }

  /** No other partition of the stretch is wanted. */
  get isLast(): boolean {
    return this.#stretch === undefined || this.#stretch.single
  }

  /**
   * The source asks for bytes to step over the rest of a partition: true when asking the index for the next one is better; then
   * skipPartition().
   */
  get shouldSkip(): boolean {
    const { window } = this.source
    if (!this.#hasLargePartitions) return false
    if (this.#skipFrom < 0) this.#skipFrom = window.base + window.end
    return window.base + window.end - this.#skipFrom >= this.#wade
  }

  /** Moves behind the current partition by the index. */
  async skipPartition(): Promise<void> {
    const { source } = this
    const { partitioner } = this.#options
    const at = source.partitionOffset
    let next = await this.#index.seek(behindPartition(partitioner, source.key.slice(0, source.keyLength)))
    if (next !== null && next.dataOffset <= at) next = await this.#index.after(next)
    const offset = Math.min(next?.dataOffset ?? this.sstable.dataLength, source.stopOffset)
    if (offset <= at) this.#misled()
    this.#jumped += Math.max(0, offset - source.window.offset)
    source.seekPartition(offset)
    this.#skipFrom = -1
    if (this.#stretch !== undefined && offset < source.stopOffset) {
      this.#fresh = true
      this.#stretch = { ...this.#stretch, entry: next }
    }
    this.#step = 0
    this.#softStop = Math.min(offset, source.stopOffset)
    await source.window.setStop(this.#softStop)
  }

  /**
   * Moves within the current partition to the index block in which the first row or marker at or behind a bound can be, unless the
   * source is there already or the partition has no blocks. False: there is no such row.
   */
  async seekRow(bound: Unfiltered): Promise<boolean> {
    const { source } = this
    if (!this.#hasLargePartitions) return true
    const index = await this.#openRowIndex()
    if (index === null) return true
    const block = await index.seek({ clustering: valuesOf(bound), after: bound.boundKind === EXCL_START })
    if (block === null) return false
    if (block.start > source.window.offset) {
      const { open } = block
      this.#jumped += block.start - source.window.offset
      if (open === null) source.seekRow(block.start, NO_TIMESTAMP_HI, NO_TIMESTAMP_LO, NO_DELETION_TIME, false)
      else {
        source.seekRow(block.start, open.timestampHi, open.timestampLo, open.localDeletionTime, true)
      }
    }
    this.#step = 0
    this.#softStop = Math.min(source.stopOffset, block.end)
    await source.window.setStop(this.#softStop)
    return true
  }

  async #openRowIndex(): Promise<RowIndex | null> {
    const { source } = this
    if (this.#rowIndexOf !== source.partitionOffset) this.#rowIndex = undefined
    this.#rowIndexOf = source.partitionOffset
    if (this.#rowIndex !== undefined) return this.#rowIndex
    let entry = this.#stretch?.entry ?? null
    if (entry?.dataOffset !== source.partitionOffset) {
      entry = await this.#index.seek(this.#before(source.key.slice(0, source.keyLength)))
    }
    if (entry?.dataOffset !== source.partitionOffset) this.#misled()
    this.#rowIndex = await this.#index.rowIndex(entry!)
    return this.#rowIndex
  }

  #before(key: Uint8Array): Position {
    return keyPosition(this.#options.partitioner, key, [], false)
  }

  /** The SSTable's statistics tell that the whole reach lies before its first or behind its last key. */
  #isBeyond({ from, to }: Reach): boolean {
    const { firstKey, lastKey } = this.sstable.statistics
    if (firstKey === null || lastKey === null || firstKey.length === 0) return false
    if (from !== null && this.#compareKey(lastKey, from) < 0) return true
    return to !== null && this.#compareKey(firstKey, to) > 0
  }

  #compareKey(key: Uint8Array, position: Position): number {
    const { partitioner } = this.#options
    const words = new Int32Array(TOKEN_WORDS)
    partitioner.token(key, 0, key.length, words, 0)
    return comparePartitionToPosition(partitioner, words, 0, key, 0, key.length, position)
  }

  #compare(position: Position): number {
    const { token, key, keyLength } = this.source
    return comparePartitionToPosition(this.#options.partitioner, token, 0, key, 0, keyLength, position)
  }

  #misled(): never {
    const { source } = this
    const { index, partitions, descriptor } = this.sstable
    throw new SluiceError('CORRUPT_SSTABLE', {
      file: (index ?? partitions)?.file ?? descriptor.prefix,
      partition: source.keyHex(),
      reason: 'the index leads to another partition than it names',
    })
  }
}
