// duration: three vints on disk (months, days, nanoseconds; o.a.c.serializers.DurationSerializer), never of different sign.
// Arrow's MonthDayNano interval holds it as it is; on request a struct or Cassandra's text.

import { readVintHi, readVintLo, vintSize } from '../../bytes/vint.ts'
import type { Field, Vector } from '../batch.ts'
import { BaseBuilder, NO_VALUES } from './base-builder.ts'
import type { BufferOptions } from './buffers.ts'
import { formatDuration, LONGEST_DURATION } from './duration-text.ts'
import { FixedBuilder, Word32Builder, Word64Builder } from './fixed-builders.ts'
import { VarlenBuilder } from './varlen-builder.ts'

// What readDuration() found, to save an object per value.
let months = 0
let days = 0
let nanosHi = 0
let nanosLo = 0

/** Reads a duration into the variables above; what is wrong with it, or null. */
function readDuration(bytes: Uint8Array, offset: number, length: number): string | null {
  const end = offset + length
  let at = offset
  for (let part = 0; part < 3; part++) {
    if (at >= end || at + vintSize(bytes[at]) > end) return 'a duration that ends early'
    const hi = readVintHi(bytes, at)
    const lo = readVintLo(bytes, at)
    at += vintSize(bytes[at])
    if (part < 2 && hi !== lo >> 31) return part === 0 ? 'months beyond 32 bits' : 'days beyond 32 bits'
    if (part === 0) months = lo
    else if (part === 1) days = lo
    else {
      nanosHi = hi
      nanosLo = lo
    }
  }
  if (at !== end) return 'bytes after a duration'
  const negative = months < 0 || days < 0 || nanosHi < 0
  const positive = months > 0 || days > 0 || nanosHi > 0 || (nanosHi === 0 && nanosLo !== 0)
  return negative && positive ? 'duration parts of different sign' : null
}

/** MonthDayNano: i32 months, i32 days, i64 nanoseconds. */
export class IntervalBuilder extends FixedBuilder {
  words: Int32Array

  constructor(field: Field, options: BufferOptions) {
    super(field, options, 16)
    this.words = new Int32Array(this.values.buffer)
  }

  append(bytes: Uint8Array, _view: DataView, offset: number, length: number): void {
    if (length === 0) {
      this.appendEmpty()
      return
    }
    const fault = readDuration(bytes, offset, length)
    if (fault !== null) throw this.corrupt(fault)
    if (this.length === this.capacity) this.growRows()
    const at = this.length++ * 4
    this.words[at] = months
    this.words[at + 1] = days
    this.words[at + 2] = nanosLo
    this.words[at + 3] = nanosHi
  }

  protected override setCapacity(rows: number): void {
    super.setCapacity(rows)
    this.words = new Int32Array(this.values.buffer)
  }
}

/** Struct of months, days (int32), nanoseconds (int64). */
export class DurationStructBuilder extends BaseBuilder {
  readonly months: Word32Builder
  readonly days: Word32Builder
  readonly nanoseconds: Word64Builder

  constructor(field: Field, options: BufferOptions) {
    super(field, options)
    const inner = { ...options, column: this.column }
    this.months = new Word32Builder(field.children[0], inner)
    this.days = new Word32Builder(field.children[1], inner)
    this.nanoseconds = new Word64Builder(field.children[2], inner)
  }

  append(bytes: Uint8Array, _view: DataView, offset: number, length: number): void {
    if (length === 0) {
      this.appendEmpty()
      return
    }
    const fault = readDuration(bytes, offset, length)
    if (fault !== null) throw this.corrupt(fault)
    if (this.length === this.capacity) this.growRows()
    this.length++
    this.months.appendInt(months)
    this.days.appendInt(days)
    this.nanoseconds.appendHalves(nanosHi, nanosLo)
  }

  appendNull(): void {
    if (this.length === this.capacity) this.growRows()
    this.markNull(this.length++)
    this.months.appendNull()
    this.days.appendNull()
    this.nanoseconds.appendNull()
  }

  byteLength(): number {
    return this.bitmapBytes() + this.months.byteLength() + this.days.byteLength() + this.nanoseconds.byteLength()
  }

  finish(): Vector {
    return this.vector(null, NO_VALUES, [this.months.finish(), this.days.finish(), this.nanoseconds.finish()])
  }

  override reset(): void {
    super.reset()
    this.months.reset()
    this.days.reset()
    this.nanoseconds.reset()
  }
}

/** Text; see duration-text.ts. */
export class DurationTextBuilder extends VarlenBuilder {
  append(bytes: Uint8Array, _view: DataView, offset: number, length: number): void {
    if (length === 0) {
      this.appendEmpty()
      return
    }
    const fault = readDuration(bytes, offset, length)
    if (fault !== null) throw this.corrupt(fault)
    if (this.length === this.capacity) this.growRows()
    const most = this.used + LONGEST_DURATION
    if (most > this.data.length) this.growData(most)
    this.used = formatDuration(this.data, this.used, months, days, nanosHi, nanosLo)
    this.offsets[++this.length] = this.used
  }
}
