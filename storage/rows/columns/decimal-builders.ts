// decimal and varint: as exact text (the default), or as Arrow decimals of one scale, where a value that does not fit
// is an error and nothing is ever rounded. On disk a decimal is i32 scale + two's complement unscaled value, a varint that
// value alone. BigInt appears only beyond six bytes.

import { SluiceError } from '../../errors.ts'
import { formatCqlType } from '../../schema/cql-type-text.ts'
import type { Field } from '../batch.ts'
import { bigInteger, SMALL_BYTES, smallInteger } from './big-integer.ts'
import type { BufferOptions } from './buffers.ts'
import { DECIMAL_EXTRA, formatDecimal, formatInteger, takeBigDigits, takeDigits } from './decimal-text.ts'
import { FixedBuilder } from './fixed-builders.ts'
import { VarlenBuilder } from './varlen-builder.ts'

/** decimal, varint as text. */
export class NumberTextBuilder extends VarlenBuilder {
  readonly scaled: boolean

  constructor(field: Field, options: BufferOptions) {
    super(field, options)
    this.scaled = field.type.kind === 'decimal'
  }

  append(bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    if (length === 0) {
      this.appendEmpty()
      return
    }
    let scale = 0
    if (this.scaled) {
      if (length < 5) throw this.corrupt(`a decimal of ${length} bytes`)
      scale = view.getInt32(offset)
      offset += 4
      length -= 4
    }
    let negative: boolean
    let count: number
    if (length <= SMALL_BYTES) {
      const value = smallInteger(bytes, offset, length)
      negative = value < 0
      count = takeDigits(negative ? -value : value)
    } else {
      const value = bigInteger(bytes, view, offset, length)
      negative = value < 0n
      count = takeBigDigits(negative ? -value : value)
    }
    if (this.length === this.capacity) this.growRows()
    const most = this.used + count + DECIMAL_EXTRA
    if (most > this.data.length) this.growData(most)
    this.used = this.scaled
      ? formatDecimal(this.data, this.used, negative, count, scale)
      : formatInteger(this.data, this.used, negative, count)
    this.offsets[++this.length] = this.used
  }
}

const POWERS = Array.from({ length: 16 }, (_, i) => 10 ** i)

/** decimal, varint as Arrow Decimal128 or Decimal256: little-endian two's complement of the value times 10^scale. */
export class DecimalBuilder extends FixedBuilder {
  readonly scaled: boolean
  readonly precision: number
  readonly scale: number
  words: Int32Array
  /** 10^precision: every magnitude is below it. */
  readonly #limit: bigint

  constructor(field: Field, options: BufferOptions) {
    const layout = field.layout
    if (layout.kind !== 'decimal128' && layout.kind !== 'decimal256') {
      throw new SluiceError('INTERNAL', { column: field.name, reason: `a decimal builder for ${layout.kind}` })
    }
    super(field, options, layout.kind === 'decimal128' ? 16 : 32)
    this.scaled = field.type.kind === 'decimal'
    this.precision = layout.precision
    this.scale = layout.scale
    this.words = new Int32Array(this.values.buffer)
    this.#limit = 10n ** BigInt(layout.precision)
  }

  append(bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    if (length === 0) {
      this.appendEmpty()
      return
    }
    let shift = this.scale
    let at = offset
    let size = length
    if (this.scaled) {
      if (length < 5) throw this.corrupt(`a decimal of ${length} bytes`)
      shift -= view.getInt32(offset)
      at += 4
      size -= 4
    }
    if (size <= SMALL_BYTES) {
      const value = smallInteger(bytes, at, size)
      if (value === 0 || shift === 0) {
        this.appendSmall(value)
        return
      }
      if (shift > 0 && shift <= 15) {
        const product = value * POWERS[shift]
        if (Number.isSafeInteger(product)) {
          this.appendSmall(product)
          return
        }
      } else if (shift < 0 && shift >= -15 && value % POWERS[-shift] === 0) {
        this.appendSmall(value / POWERS[-shift])
        return
      }
    }
    this.appendBig(bytes, view, offset, length, bigInteger(bytes, view, at, size), shift)
  }

  private appendSmall(value: number): void {
    if (this.length === this.capacity) this.growRows()
    const words = this.words
    const perValue = this.width >>> 2
    const at = this.length++ * perValue
    words[at] = value // modulo 2^32, as every store into an Int32Array
    words[at + 1] = Math.floor(value / 0x100000000)
    words.fill(value < 0 ? -1 : 0, at + 2, at + perValue)
  }

  private appendBig(
    bytes: Uint8Array,
    view: DataView,
    offset: number,
    length: number,
    value: bigint,
    shift: number,
  ): void {
    let scaled = value
    if (value !== 0n && shift !== 0) {
      // A byte has less than 2.41 digits: a larger shift cannot divide, and must not be raised to a power.
      if (shift > this.precision || -shift > length * 2.41 + 1) throw this.outOfRange(bytes, view, offset, length)
      if (shift > 0) {
        scaled = value * 10n ** BigInt(shift)
      } else {
        const divisor = 10n ** BigInt(-shift)
        if (value % divisor !== 0n) throw this.outOfRange(bytes, view, offset, length)
        scaled = value / divisor
      }
    }
    if (scaled >= this.#limit || scaled <= -this.#limit) throw this.outOfRange(bytes, view, offset, length)
    if (this.length === this.capacity) this.growRows()
    const out = new BigInt64Array(this.values.buffer, this.length++ * this.width, this.width >>> 3)
    for (let i = 0; i < out.length; i++) {
      out[i] = BigInt.asIntN(64, scaled)
      scaled >>= 64n
    }
  }

  private outOfRange(bytes: Uint8Array, view: DataView, offset: number, length: number): SluiceError {
    const fields = {
      column: this.column,
      type: formatCqlType(this.field.type),
      expected: `${this.field.layout.kind}(${this.precision}, ${this.scale})`,
    }
    if (length > 64) return new SluiceError('VALUE_OUT_OF_RANGE', { ...fields, found: `a number of ${length} bytes` })
    const text = new NumberTextBuilder(this.field, { rows: 1 })
    text.append(bytes, view, offset, length)
    return new SluiceError('VALUE_OUT_OF_RANGE', {
      ...fields,
      value: Buffer.from(text.data.buffer, 0, text.used).toString('latin1'),
    })
  }

  protected override setCapacity(rows: number): void {
    super.setCapacity(rows)
    this.words = new Int32Array(this.values.buffer)
  }
}
