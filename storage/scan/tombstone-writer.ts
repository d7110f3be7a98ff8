// From deletions to columns, see tombstone-schema.ts. Only those whose timestamp lies in the window asked for are written.

import type { Batch, BatchSchema } from '../rows/batch.ts'
import { BuilderSet } from '../rows/builder-set.ts'
import type { ColumnBuilder } from '../rows/column-builder.ts'
import type { Word32Builder, Word64Builder } from '../rows/columns/fixed-builders.ts'
import { splitKey } from '../rows/key-parts.ts'
import type { PartitionSource } from '../rows/partition-source.ts'
import type { BatchLimits } from '../rows/row-writer.ts'
import { CLUSTERING, EXCL_END_INCL_START, type Unfiltered } from '../rows/unfiltered.ts'
import type { TableSchema } from '../schema/table.ts'
import type { TimeWindow } from './time-window.ts'
import { KINDS, type TombstoneKind } from './tombstone-schema.ts'

interface Text {
  bytes: Uint8Array
  view: DataView
}

/** Overhead of a value in the byte count that cuts batches, as in RowWriter. */
const VALUE_OVERHEAD = 4

/** An element of a collection: its key as text, and where its bytes lie. */
export interface ElementPath {
  text: string
  version: Unfiltered
  cell: number
}

export class TombstoneWriter {
  rows = 0
  /** Rows written over all batches. */
  total = 0
  #set: BuilderSet
  #limits: BatchLimits
  #window: TimeWindow | undefined
  #bytes = 0
  #source: PartitionSource | undefined
  #keyOffset: Int32Array
  #keyLength: Int32Array
  #clusterings: number
  #kinds: Record<TombstoneKind, Text>
  #columns = new Map<string, Text>()

  constructor(schema: BatchSchema, table: TableSchema, limits: BatchLimits, window: TimeWindow | undefined) {
    const { shared, memory, bytes, firstRows: rows } = limits
    this.#set = new BuilderSet(schema, { shared, memory, bytes, rows })
    this.#limits = limits
    this.#window = window
    this.#keyOffset = new Int32Array(table.partitionKey.length)
    this.#keyLength = new Int32Array(table.partitionKey.length)
    this.#clusterings = table.clustering.length
    this.#kinds = Object.fromEntries(KINDS.map((kind) => [kind, textOf(kind)])) as Record<TombstoneKind, Text>
  }

  get isFull(): boolean {
    return this.rows >= this.#limits.rows || this.#bytes >= this.#limits.bytes
  }

  beginPartition(source: PartitionSource): void {
    this.#source = source
    splitKey(source, this.#keyOffset, this.#keyLength)
  }

  /**
   * One deletion at `hi`/`lo` (halves of microseconds) and `ldt` (epoch seconds). `start` and `end`: the bounds of a range, or the
   * row twice; undefined for a partition and static content. `ttl`: what has expired, not been deleted; else 0.
   */
  write(
    kind: TombstoneKind,
    start: Unfiltered | undefined,
    end: Unfiltered | undefined,
    column: string | undefined,
    path: ElementPath | undefined,
    hi: number,
    lo: number,
    ldt: number,
    ttl: number,
  ): void {
    if (this.#window !== undefined && !this.#window.has(hi, lo)) return
    const { builders } = this.#set
    let at = 0
    const { key, keyView } = this.#source!
    for (let i = 0; i < this.#keyOffset.length; i++) {
      this.#append(builders[at++], key, keyView, this.#keyOffset[i], this.#keyLength[i])
    }
    this.#text(builders[at++], this.#kinds[kind])
    for (let i = 0; i < this.#clusterings; i++) this.#clustering(builders[at++], start, i)
    for (let i = 0; i < this.#clusterings; i++) this.#clustering(builders[at++], end, i)
    // A bound stands before or behind all that begins with its values.
    this.#flag(builders[at++], start && (start.boundKind <= EXCL_END_INCL_START || start.boundKind === CLUSTERING))
    this.#flag(builders[at++], end && end.boundKind >= CLUSTERING)
    if (column === undefined) builders[at++].appendNull()
    else this.#text(builders[at++], this.#name(column))
    if (path === undefined) {
      builders[at++].appendNull()
      builders[at++].appendNull()
    } else {
      const { version, cell } = path
      this.#text(builders[at++], textOf(path.text))
      this.#append(builders[at++], version.bytes, version.view, version.pathOffset[cell], version.pathLength[cell])
    }
    ;(builders[at++] as Word64Builder).appendHalves(hi, lo)
    // What has expired is as if deleted when it was written (Cassandra's BufferCell.tombstone of an expired cell).
    const deleted = ldt - ttl
    ;(builders[at++] as Word64Builder).appendHalves(Math.floor(deleted / 2 ** 32), deleted | 0)
    if (ttl === 0) builders[at].appendNull()
    else (builders[at] as Word32Builder).appendInt(ttl)
    this.#bytes += VALUE_OVERHEAD * builders.length
    this.rows++
    this.total++
  }

  finish(position: string): Batch {
    const batch = this.#set.finish(this.rows, position)
    this.rows = 0
    this.#bytes = 0
    return batch
  }

  close(): void {
    this.#set.close()
  }

  #append(builder: ColumnBuilder, bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    builder.append(bytes, view, offset, length)
    this.#bytes += length
  }

  #text(builder: ColumnBuilder, { bytes, view }: Text): void {
    this.#append(builder, bytes, view, 0, bytes.length)
  }

  #clustering(builder: ColumnBuilder, bound: Unfiltered | undefined, i: number): void {
    if (bound === undefined || i >= bound.clusteringCount || bound.clusteringLength[i] < 0) builder.appendNull()
    else this.#append(builder, bound.bytes, bound.view, bound.clusteringOffset[i], bound.clusteringLength[i])
  }

  #flag(builder: ColumnBuilder, value: boolean | undefined): void {
    if (value === undefined) builder.appendNull()
    else this.#text(builder, value ? TRUE : FALSE)
  }

  #name(column: string): Text {
    let text = this.#columns.get(column)
    if (text === undefined) {
      text = textOf(column)
      this.#columns.set(column, text)
    }
    return text
  }
}

const TRUE = textBytes(Uint8Array.of(1))
const FALSE = textBytes(Uint8Array.of(0))

function textOf(text: string): Text {
  return textBytes(Buffer.from(text, 'utf8'))
}

function textBytes(bytes: Uint8Array): Text {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) }
}
