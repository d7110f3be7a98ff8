// What all column builders share: the row count and the two bitmaps. Arrow's validity bit is 1 for a value that is there.
// A bitmap is allocated at the first null, with all bits 1, so that a valid value costs nothing: only nulls touch it.
// The buffers are public because generated row decoders write values into them; see each class for how.

import { SluiceError } from '../../errors.ts'
import { formatCqlType } from '../../schema/cql-type-text.ts'
import type { Field, Vector } from '../batch.ts'
import type { ColumnBuilder } from '../column-builder.ts'
import { type BufferOptions, doubled, INITIAL_ROWS } from './buffers.ts'
import { ColumnMemory, LARGE_BYTES } from './column-memory.ts'

export abstract class BaseBuilder implements ColumnBuilder {
  readonly field: Field
  /** The top-level column, for errors: a child's own name is `item` or `key`. */
  readonly column: string
  protected readonly memory: ColumnMemory
  length = 0
  nullCount = 0
  /** Rows that fit in the buffers; at length === capacity call growRows() before writing one. */
  capacity: number
  /** Bit 1 = there; null while no null was appended. Bits at and after `length` are 1. */
  validity: Uint8Array | null = null
  /** Bit 1 = a zero-length value; null while there is none. */
  empty: Uint8Array | null = null
  #spareValidity: Uint8Array | null = null
  #spareEmpty: Uint8Array | null = null

  constructor(field: Field, options: BufferOptions) {
    this.field = field
    this.column = options.column ?? field.name
    this.memory = options.memory ?? new ColumnMemory(false)
    this.capacity = Math.max(1, options.rows ?? INITIAL_ROWS)
  }

  abstract appendNull(): void
  abstract append(bytes: Uint8Array, view: DataView, offset: number, length: number): void
  abstract byteLength(): number
  abstract finish(): Vector

  /** Multi-cell values exist in lists, sets, maps and UDTs alone. */
  beginCells(): void {
    throw new SluiceError('INTERNAL', { column: this.column, reason: `cells of a ${this.field.type.kind}` })
  }

  appendCell(
    _path: Uint8Array,
    _pathView: DataView,
    _pathOffset: number,
    _pathLength: number,
    _value: Uint8Array,
    _valueView: DataView,
    _valueOffset: number,
    _valueLength: number,
  ): void {
    this.beginCells()
  }

  endCells(): void {
    this.beginCells()
  }

  /** A null row with the empty bit: a zero-length value of a type that has no such value of its own. */
  appendEmpty(): void {
    const row = this.length
    this.appendNull()
    this.markEmpty(row)
  }

  reset(): void {
    this.length = 0
    this.nullCount = 0
    this.#spareValidity = this.validity ?? this.#spareValidity
    this.#spareEmpty = this.empty ?? this.#spareEmpty
    this.validity = null
    this.empty = null
  }

  /** After reset(): lets the buffers go that have grown large. */
  shrink(): void {
    if (this.#spareValidity !== null) this.memory.discard(this.#spareValidity)
    if (this.#spareEmpty !== null) this.memory.discard(this.#spareEmpty)
    this.#spareValidity = null
    this.#spareEmpty = null
  }

  /** Makes room for `rows` more rows, for a decoder that writes them itself. */
  reserve(rows: number): void {
    const needed = this.length + rows
    if (needed > this.capacity) this.setCapacity(doubled(this.capacity, needed))
  }

  /** Makes room for more rows; subclasses enlarge their own buffers too. */
  growRows(): void {
    this.setCapacity(doubled(this.capacity, this.length + 1))
  }

  protected setCapacity(rows: number): void {
    this.capacity = rows
    const bytes = (rows + 7) >>> 3
    if (this.validity !== null && this.validity.length < bytes) {
      const used = this.validity.length
      this.validity = this.memory.enlarge(this.validity, used, bytes).fill(0xff, used)
    }
    if (this.empty !== null && this.empty.length < bytes) {
      this.empty = this.memory.enlarge(this.empty, this.empty.length, bytes)
    }
  }

  /** Says that row `row` is null; its value must still be written (as zero) by the caller. */
  protected markNull(row: number): void {
    const validity = this.validity ?? this.#openValidity()
    validity[row >>> 3] &= ~(1 << (row & 7))
    this.nullCount++
  }

  #openValidity(): Uint8Array {
    const bytes = (this.capacity + 7) >>> 3
    const spare = this.#spareValidity
    const validity = spare !== null && spare.length >= bytes ? spare : this.memory.instead(spare, bytes)
    this.#spareValidity = null
    this.validity = validity.fill(0xff)
    return validity
  }

  protected markEmpty(row: number): void {
    let empty = this.empty
    if (empty === null) {
      const bytes = (this.capacity + 7) >>> 3
      const spare = this.#spareEmpty
      empty = spare !== null && spare.length >= bytes ? spare.fill(0) : this.memory.instead(spare, bytes)
      this.#spareEmpty = null
      this.empty = empty
    }
    empty[row >>> 3] |= 1 << (row & 7)
  }

  /** The value's bytes do not make sense for its type. The caller adds where it lies. */
  protected corrupt(reason: string): SluiceError {
    return new SluiceError('CORRUPT_SSTABLE', { column: this.column, type: formatCqlType(this.field.type), reason })
  }

  protected bitmapBytes(): number {
    const bytes = (this.length + 7) >>> 3
    return (this.validity === null ? 0 : bytes) + (this.empty === null ? 0 : bytes)
  }

  protected vector(offsets: Int32Array | null, values: Uint8Array, children: Vector[]): Vector {
    return {
      field: this.field,
      length: this.length,
      nullCount: this.nullCount,
      validity: this.validity === null ? null : cutBits(this.validity, this.length),
      empty: this.empty === null ? null : cutBits(this.empty, this.length),
      offsets,
      values,
      children,
    }
  }
}

/** The bytes of the first n bits, with the unused bits of the last byte cleared. */
function cutBits(bits: Uint8Array, n: number): Uint8Array {
  const bytes = (n + 7) >>> 3
  if ((n & 7) !== 0) bits[bytes - 1] &= (1 << (n & 7)) - 1
  return bits.subarray(0, bytes)
}

/** True where shrink() should let the buffer go. */
export function isLarge(buffer: ArrayBufferView): boolean {
  return buffer.byteLength > LARGE_BYTES
}

export const NO_VALUES = new Uint8Array(0)
