// From reconciled rows to columns: one builder per output column, fed with value bytes where they lie. Cuts batches by rows and
// bytes alone, so that the same scan gives the same batches whatever the machine does.

import type { Allowance } from '../bytes/allowance.ts'
import type { Partitioner } from '../ring/partitioner.ts'
import type { Batch, BatchSchema, Field } from './batch.ts'
import { BuilderSet, RUN_ROWS, RUN_VALUES } from './builder-set.ts'
import type { ColumnBuilder } from './column-builder.ts'
import type { Word32Builder, Word64Builder } from './columns/fixed-builders.ts'
import type { ListBuilder } from './columns/list-builder.ts'
import { writeCounterTotal } from './counter-context.ts'
import { splitKey } from './key-parts.ts'
import type { PartitionSource } from './partition-source.ts'
import type { RowReconciler } from './reconcile.ts'
import type { Unfiltered } from './unfiltered.ts'

/** Write time in microseconds, or the seconds until an expiring value dies. */
export type TimeKind = 'writetime' | 'ttl'

/** Where an output column takes its values from. Slots are those of the table's static or regular shape. */
export type OutputSource =
  | { kind: 'partition_key'; index: number }
  | { kind: 'clustering'; index: number }
  | CellSource
  | { kind: 'cell_time'; what: TimeKind; isStatic: boolean; slot: number; complex: boolean }
  | { kind: 'row_time'; what: TimeKind }
  | { kind: 'token' }

interface CellSource {
  kind: 'cell'
  isStatic: boolean
  slot: number
  complex: boolean
  counter: boolean
}

export interface OutputColumn {
  field: Field
  source: OutputSource
}

export interface BatchLimits {
  rows: number
  bytes: number
  /** Columns in SharedArrayBuffers, for a reader in another thread. */
  shared?: boolean
  /** Rows that new columns have room for. */
  firstRows?: number
  /** Where columns take their memory from that come to more than BATCHES_COUNTED batches. */
  memory?: Allowance
}

/** A non-negative varint's two's complement (Random's tokens). */
function varintBytes(value: bigint): Uint8Array {
  const hex = value.toString(16)
  const digits = hex.length % 2 === 1 ? `0${hex}` : hex
  return Uint8Array.from(Buffer.from(Number.parseInt(digits.slice(0, 2), 16) >= 0x80 ? `00${digits}` : digits, 'hex'))
}

/** Overhead of a value in the byte count that cuts batches: an offset, or a small fixed-width value. */
const VALUE_OVERHEAD = 4

export class RowWriter {
  readonly schema: BatchSchema
  rows = 0
  /** Rows written over all batches. */
  total = 0
  /** Bytes written to the batch at hand, as they count for its end: values' lengths and VALUE_OVERHEAD each. */
  bytes = 0
  readonly maxBytes: number
  readonly maxRows: number
  /** The static row of the partition at hand, if it has one. */
  statics: RowReconciler | undefined
  #columns: OutputColumn[]
  #set: BuilderSet
  #partitioner: Partitioner
  #keyOffset: Int32Array
  #keyLength: Int32Array
  #keyView: DataView
  #keyBytes: Uint8Array
  #token: Int32Array
  #wholeKeyLength = 0
  #counterBytes = new Uint8Array(8)
  #counterView = new DataView(this.#counterBytes.buffer)

  constructor(
    schema: BatchSchema,
    columns: OutputColumn[],
    limits: BatchLimits,
    keyParts: number,
    partitioner: Partitioner,
  ) {
    this.schema = schema
    this.#columns = columns
    this.maxBytes = limits.bytes
    this.maxRows = limits.rows
    const firstRows = Math.min(limits.firstRows ?? limits.rows, this.roomRows)
    const { shared, memory, bytes } = limits
    this.#set = new BuilderSet(schema, { shared, memory, bytes, rows: firstRows })
    this.#partitioner = partitioner
    this.#keyOffset = new Int32Array(keyParts)
    this.#keyLength = new Int32Array(keyParts)
    this.#keyBytes = new Uint8Array(0)
    this.#keyView = new DataView(this.#keyBytes.buffer)
    this.#token = new Int32Array(4)
  }

  get isFull(): boolean {
    return this.rows >= this.maxRows || this.bytes >= this.maxBytes
  }

  /**
   * Rows that a decoder may make room for and write at once: no more than the batch has left even if all its values are null, and few
   * enough that columns do not hold several times what gets into them.
   */
  get roomRows(): number {
    const columns = Math.max(1, this.#columns.length)
    const byBytes = Math.ceil((this.maxBytes - this.bytes) / (VALUE_OVERHEAD * columns))
    return Math.max(1, Math.min(this.maxRows - this.rows, byBytes, RUN_ROWS, Math.ceil(RUN_VALUES / columns)))
  }

  get builders(): ColumnBuilder[] {
    return this.#set.builders
  }

  /** Takes over the key of the partition whose rows follow. */
  beginPartition(source: Pick<PartitionSource, 'key' | 'keyView' | 'keyLength' | 'token' | 'corrupt'>): void {
    const { key, keyLength } = source
    this.#keyBytes = key
    this.#keyView = source.keyView
    this.#token = source.token
    this.#wholeKeyLength = keyLength
    splitKey(source, this.#keyOffset, this.#keyLength)
  }

  /**
   * Appends one row. `clustering` holds its clustering values, `regular` its cells (both undefined for the row that stands for
   * a partition with static content alone).
   */
  write(clustering: Unfiltered | undefined, regular: RowReconciler | undefined): void {
    const { statics } = this
    const columns = this.#columns
    const { builders } = this.#set
    for (let i = 0; i < columns.length; i++) {
      const source = columns[i].source
      const builder = builders[i]
      this.bytes += VALUE_OVERHEAD
      switch (source.kind) {
        case 'partition_key': {
          const length = this.#keyLength[source.index]
          builder.append(this.#keyBytes, this.#keyView, this.#keyOffset[source.index], length)
          this.bytes += length
          break
        }
        case 'clustering': {
          const length = clustering === undefined ? -1 : clustering.clusteringLength[source.index]
          if (length < 0) {
            builder.appendNull()
          } else {
            builder.append(clustering!.bytes, clustering!.view, clustering!.clusteringOffset[source.index], length)
            this.bytes += length
          }
          break
        }
        case 'cell': {
          const row = source.isStatic ? statics : regular
          this.#cell(builder, source, row)
          break
        }
        case 'cell_time': {
          const row = source.isStatic ? statics : regular
          this.bytes += VALUE_OVERHEAD
          if (row === undefined) builder.appendNull()
          else if (source.complex) this.#cellTimes(builder as ListBuilder, source.what, row, source.slot)
          else if (!row.hasValue(source.slot)) builder.appendNull()
          else this.#cellTime(builder, source.what, row, row.versionOf(source.slot), row.cellOf(source.slot))
          break
        }
        case 'row_time': {
          this.bytes += VALUE_OVERHEAD
          if (regular === undefined || !regular.hasLiveness) builder.appendNull()
          else if (source.what === 'writetime') (builder as Word64Builder).appendHalves(regular.liveHi, regular.liveLo)
          else if (regular.liveTtl === 0) builder.appendNull()
          else (builder as Word32Builder).appendInt(regular.remaining(regular.liveLdt))
          break
        }
        case 'token': {
          this.bytes += VALUE_OVERHEAD
          if (this.#partitioner.words === 2) (builder as Word64Builder).appendHalves(this.#token[0], this.#token[1])
          else this.#otherToken(builder)
        }
      }
    }
    this.rows++
    this.total++
  }

  /** Counts rows that a run decoder has written into the builders. */
  addRun(rows: number): void {
    this.rows += rows
    this.total += rows
  }

  /** Appends one static column, for a run decoder; the bytes it counts for. */
  writeStatic(builder: ColumnBuilder, column: number): number {
    const before = this.bytes
    this.#cell(builder, this.#columns[column].source as CellSource, this.statics)
    const written = this.bytes - before
    this.bytes = before
    return written + VALUE_OVERHEAD
  }

  /** Where the parts of the key at hand lie in its bytes. */
  copyKeyParts(offsets: Int32Array, lengths: Int32Array): void {
    offsets.set(this.#keyOffset)
    lengths.set(this.#keyLength)
  }

  #cell(builder: ColumnBuilder, source: CellSource, row: RowReconciler | undefined): void {
    if (row === undefined) builder.appendNull()
    else if (source.complex) this.#complex(builder, row, source.slot)
    else if (!row.hasValue(source.slot)) builder.appendNull()
    else this.#value(builder, row, source.slot, source.counter)
  }

  #value(builder: ColumnBuilder, row: RowReconciler, slot: number, counter: boolean): void {
    const version = row.versionOf(slot)
    const cell = row.cellOf(slot)
    const length = version.length[cell]
    if (counter) {
      writeCounterTotal(version.bytes, version.offset[cell], length, this.#counterView)
      builder.append(this.#counterBytes, this.#counterView, 0, 8)
      this.bytes += 8
    } else {
      builder.append(version.bytes, version.view, version.offset[cell], length)
      this.bytes += length
    }
  }

  #complex(builder: ColumnBuilder, row: RowReconciler, slot: number): void {
    const entries = row.entries(slot)
    const first = row.firstEntry(slot)
    builder.beginCells()
    for (let i = first; i < first + entries; i++) {
      const version = row.versions[row.listVersion[i]]
      const cell = row.listCell[i]
      if (!row.isLiveCell(version, cell)) continue
      const pathLength = version.pathLength[cell]
      const length = version.length[cell]
      builder.appendCell(
        version.bytes,
        version.view,
        version.pathOffset[cell],
        pathLength,
        version.bytes,
        version.view,
        version.offset[cell],
        length,
      )
      this.bytes += pathLength + length + VALUE_OVERHEAD
    }
    builder.endCells()
  }

  #cellTime(builder: ColumnBuilder, what: TimeKind, row: RowReconciler, version: Unfiltered, cell: number): void {
    if (what === 'writetime') (builder as Word64Builder).appendHalves(version.tsHi[cell], version.tsLo[cell])
    else if (version.ttl[cell] === 0) builder.appendNull()
    else (builder as Word32Builder).appendInt(row.remaining(version.ldt[cell]))
  }

  #cellTimes(builder: ListBuilder, what: TimeKind, row: RowReconciler, slot: number): void {
    const first = row.firstEntry(slot)
    const end = first + row.entries(slot)
    builder.beginCells()
    for (let i = first; i < end; i++) {
      const version = row.versions[row.listVersion[i]]
      if (!row.isLiveCell(version, row.listCell[i])) continue
      this.#cellTime(builder.item, what, row, version, row.listCell[i])
      this.bytes += 8
    }
    builder.endCells()
  }

  #otherToken(builder: ColumnBuilder): void {
    if (this.#partitioner.words === 0) {
      // ByteOrdered: the key itself.
      builder.append(this.#keyBytes, this.#keyView, 0, this.#wholeKeyLength)
      return
    }
    const text = this.#partitioner.formatToken(this.#token, 0, this.#keyBytes)!
    const bytes = varintBytes(BigInt(text))
    builder.append(bytes, new DataView(bytes.buffer), 0, bytes.length)
  }

  /** Hands the rows out and goes on with empty builders, recycled where a batch has been released. */
  finish(position: string): Batch {
    const batch = this.#set.finish(this.rows, position)
    this.rows = 0
    this.bytes = 0
    return batch
  }

  /** The scan is over; its columns are of use to others. */
  close(): void {
    this.#set.close()
  }
}
