// Values of a fixed width: tinyint to bigint, float, double, date, time, timestamp, uuid. On disk they are big-endian, in
// Arrow little-endian. Floats are moved as integers, so that every NaN keeps its bits; 64-bit values as two 32-bit halves.
//
// A generated decoder may write row `length` itself: if length === capacity call growRows() (which replaces the arrays),
// store into `words` (or `values`), then add 1 to `length`. Nulls go through appendNull().

import type { Field, Vector } from '../batch.ts'
import { BaseBuilder, isLarge, NO_VALUES } from './base-builder.ts'
import { type BufferOptions, INITIAL_ROWS } from './buffers.ts'

export abstract class FixedBuilder extends BaseBuilder {
  /** Bytes per value. */
  readonly width: number
  values: Uint8Array

  constructor(field: Field, options: BufferOptions, width: number) {
    super(field, options)
    this.width = width
    this.values = this.memory.allocate(this.capacity * width)
  }

  appendNull(): void {
    if (this.length === this.capacity) this.growRows()
    const row = this.length++
    this.markNull(row)
    this.values.fill(0, row * this.width, (row + 1) * this.width)
  }

  protected override setCapacity(rows: number): void {
    super.setCapacity(rows)
    this.values = this.memory.enlarge(this.values, this.length * this.width, rows * this.width)
  }

  byteLength(): number {
    return this.length * this.width + this.bitmapBytes()
  }

  finish(): Vector {
    return this.vector(null, this.values.subarray(0, this.length * this.width), [])
  }

  override shrink(): void {
    super.shrink()
    if (!isLarge(this.values)) return
    this.memory.discard(this.values)
    this.values = NO_VALUES
    this.setCapacity(INITIAL_ROWS)
  }

  /** The out-of-line half of append(): a length that is not the width. */
  protected appendOdd(length: number): void {
    if (length !== 0) throw this.corrupt(`${length} bytes for a value of ${this.width}`)
    this.appendEmpty()
  }
}

/** tinyint */
export class Int8Builder extends FixedBuilder {
  constructor(field: Field, options: BufferOptions) {
    super(field, options, 1)
  }

  override appendNull(): void {
    if (this.length === this.capacity) this.growRows()
    const row = this.length++
    this.markNull(row)
    this.values[row] = 0
  }

  append(bytes: Uint8Array, _view: DataView, offset: number, length: number): void {
    if (length !== 1) {
      this.appendOdd(length)
      return
    }
    if (this.length === this.capacity) this.growRows()
    this.values[this.length++] = bytes[offset]
  }
}

/** smallint */
export class Int16Builder extends FixedBuilder {
  words: Int16Array

  constructor(field: Field, options: BufferOptions) {
    super(field, options, 2)
    this.words = new Int16Array(this.values.buffer)
  }

  override appendNull(): void {
    if (this.length === this.capacity) this.growRows()
    const row = this.length++
    this.markNull(row)
    this.words[row] = 0
  }

  append(_bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    if (length !== 2) {
      this.appendOdd(length)
      return
    }
    if (this.length === this.capacity) this.growRows()
    this.words[this.length++] = view.getInt16(offset)
  }

  protected override setCapacity(rows: number): void {
    super.setCapacity(rows)
    this.words = new Int16Array(this.values.buffer)
  }
}

/** int, float, date. A date on disk is a u32 with 1970-01-01 at 2^31: flipping the top bit gives Arrow's signed days. */
export class Word32Builder extends FixedBuilder {
  words: Int32Array
  /** XOR-ed into each value. */
  readonly flip: number

  constructor(field: Field, options: BufferOptions) {
    super(field, options, 4)
    this.words = new Int32Array(this.values.buffer)
    this.flip = field.layout.kind === 'date32' ? -0x80000000 : 0
  }

  override appendNull(): void {
    if (this.length === this.capacity) this.growRows()
    const row = this.length++
    this.markNull(row)
    this.words[row] = 0
  }

  append(_bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    if (length !== 4) {
      this.appendOdd(length)
      return
    }
    if (this.length === this.capacity) this.growRows()
    this.words[this.length++] = view.getInt32(offset) ^ this.flip
  }

  /** A value computed here, not read (ttl). */
  appendInt(value: number): void {
    if (this.length === this.capacity) this.growRows()
    this.words[this.length++] = value
  }

  /** `count` values without gaps: the body of a vector. */
  appendRun(view: DataView, offset: number, count: number): void {
    while (this.length + count > this.capacity) this.growRows()
    const words = this.words
    const start = this.length
    for (let i = 0; i < count; i++) words[start + i] = view.getInt32(offset + i * 4) ^ this.flip
    this.length = start + count
  }

  protected override setCapacity(rows: number): void {
    super.setCapacity(rows)
    this.words = new Int32Array(this.values.buffer)
  }
}

/** bigint, counter (its sum), double, time, timestamp: words[2 * row] is the low half, words[2 * row + 1] the high one. */
export class Word64Builder extends FixedBuilder {
  words: Int32Array

  constructor(field: Field, options: BufferOptions) {
    super(field, options, 8)
    this.words = new Int32Array(this.values.buffer)
  }

  override appendNull(): void {
    if (this.length === this.capacity) this.growRows()
    const row = this.length++
    this.markNull(row)
    this.words[row * 2] = 0
    this.words[row * 2 + 1] = 0
  }

  append(_bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    if (length !== 8) {
      this.appendOdd(length)
      return
    }
    if (this.length === this.capacity) this.growRows()
    const at = this.length++ * 2
    this.words[at] = view.getInt32(offset + 4)
    this.words[at + 1] = view.getInt32(offset)
  }

  /** A value computed here, not read (token, writetime), as two int32. */
  appendHalves(hi: number, lo: number): void {
    if (this.length === this.capacity) this.growRows()
    const at = this.length++ * 2
    this.words[at] = lo
    this.words[at + 1] = hi
  }

  /** `count` values without gaps: the body of a vector. */
  appendRun(view: DataView, offset: number, count: number): void {
    while (this.length + count > this.capacity) this.growRows()
    const words = this.words
    let at = this.length * 2
    for (let i = 0; i < count; i++, at += 2) {
      words[at] = view.getInt32(offset + i * 8 + 4)
      words[at + 1] = view.getInt32(offset + i * 8)
    }
    this.length += count
  }

  protected override setCapacity(rows: number): void {
    super.setCapacity(rows)
    this.words = new Int32Array(this.values.buffer)
  }
}

/** uuid, timeuuid: 16 bytes, in the same order on disk and in Arrow. */
export class UuidBuilder extends FixedBuilder {
  words: Int32Array

  constructor(field: Field, options: BufferOptions) {
    super(field, options, 16)
    this.words = new Int32Array(this.values.buffer)
  }

  append(_bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    if (length !== 16) {
      this.appendOdd(length)
      return
    }
    if (this.length === this.capacity) this.growRows()
    const at = this.length++ * 4
    const words = this.words
    words[at] = view.getInt32(offset, true)
    words[at + 1] = view.getInt32(offset + 4, true)
    words[at + 2] = view.getInt32(offset + 8, true)
    words[at + 3] = view.getInt32(offset + 12, true)
  }

  protected override setCapacity(rows: number): void {
    super.setCapacity(rows)
    this.words = new Int32Array(this.values.buffer)
  }
}

/** boolean: any byte but 0 is true. Row r is bit r & 7 of values[r >> 3]; bits at and after `length` are 0. */
export class BoolBuilder extends BaseBuilder {
  values: Uint8Array

  constructor(field: Field, options: BufferOptions) {
    super(field, options)
    this.values = this.memory.allocate((this.capacity + 7) >>> 3)
  }

  append(bytes: Uint8Array, _view: DataView, offset: number, length: number): void {
    if (length !== 1) {
      if (length !== 0) throw this.corrupt(`${length} bytes for a value of 1`)
      this.appendEmpty()
      return
    }
    if (this.length === this.capacity) this.growRows()
    const row = this.length++
    if (bytes[offset] !== 0) this.values[row >>> 3] |= 1 << (row & 7)
  }

  appendNull(): void {
    if (this.length === this.capacity) this.growRows()
    this.markNull(this.length++)
  }

  protected override setCapacity(rows: number): void {
    super.setCapacity(rows)
    const bytes = (rows + 7) >>> 3
    if (this.values.length < bytes) this.values = this.memory.enlarge(this.values, this.values.length, bytes)
  }

  byteLength(): number {
    return ((this.length + 7) >>> 3) + this.bitmapBytes()
  }

  finish(): Vector {
    return this.vector(null, this.values.subarray(0, (this.length + 7) >>> 3), [])
  }

  override reset(): void {
    this.values.fill(0, 0, (this.length + 7) >>> 3)
    super.reset()
  }
}

/** EmptyType: no values at all; a cell of it is empty, everything else null. */
export class NullBuilder extends BaseBuilder {
  append(_bytes: Uint8Array, _view: DataView, _offset: number, length: number): void {
    if (length !== 0) throw this.corrupt(`${length} bytes for a value of 0`)
    this.appendEmpty()
  }

  /** Arrow's null layout has no validity bitmap. */
  appendNull(): void {
    if (this.length === this.capacity) this.growRows()
    this.length++
    this.nullCount++
  }

  byteLength(): number {
    return this.bitmapBytes()
  }

  finish(): Vector {
    return this.vector(null, NO_VALUES, [])
  }
}
