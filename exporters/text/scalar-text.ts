// Writers of values that have no children, one class for each physical form. Values are read through a DataView over the vector's bytes
// (little-endian, any alignment), 64-bit ones as two halves.

import type { Vector } from '../../storage/rows/batch.ts'
import { formatDuration, LONGEST_DURATION } from '../../storage/rows/columns/duration-text.ts'
import { putDate, putTime, putTimestamp } from './dates.ts'
import { putFloat32, putFloat64, putInt32, putInt64 } from './numbers.ts'
import { putAscii, putBytes, type TextSink } from './sink.ts'
import { putCsvField, putHex, putJsonString, putUuid } from './strings.ts'
import { type Form, QUOTE, ValueText } from './value-text.ts'

/** EmptyType and nothing else: null or empty. */
export class NullText extends ValueText {
  protected bindValues(): void {}
  protected writeValue(): void {}

  override write(out: TextSink, index: number): void {
    this.writeMissing(out, index)
  }
}

abstract class FixedText extends ValueText {
  protected readonly form: Form
  protected values: Uint8Array = new Uint8Array(0)
  protected view: DataView = new DataView(new ArrayBuffer(0))

  constructor(nullText: Uint8Array, form: Form, string: boolean) {
    super(nullText, string && form === 'json')
    this.form = form
  }

  protected bindValues({ values }: Vector): void {
    this.values = values
    this.view = new DataView(values.buffer, values.byteOffset, values.byteLength)
  }

  protected writeValue(out: TextSink, index: number): void {
    if (!this.quoted) {
      this.writeBare(out, index)
      return
    }
    out.reserve(1)
    out.bytes[out.at++] = QUOTE
    this.writeBare(out, index)
    out.reserve(1)
    out.bytes[out.at++] = QUOTE
  }

  protected abstract writeBare(out: TextSink, index: number): void
}

export class BoolText extends FixedText {
  protected writeBare(out: TextSink, index: number): void {
    putAscii(out, ((this.values[index >>> 3] >>> (index & 7)) & 1) === 1 ? 'true' : 'false')
  }
}

export class Int8Text extends FixedText {
  protected writeBare(out: TextSink, index: number): void {
    putInt32(out, this.view.getInt8(index))
  }
}

export class Int16Text extends FixedText {
  protected writeBare(out: TextSink, index: number): void {
    putInt32(out, this.view.getInt16(2 * index, true))
  }
}

export class Int32Text extends FixedText {
  protected writeBare(out: TextSink, index: number): void {
    putInt32(out, this.view.getInt32(4 * index, true))
  }
}

export class Int64Text extends FixedText {
  protected writeBare(out: TextSink, index: number): void {
    putInt64(out, this.view.getInt32(8 * index + 4, true), this.view.getInt32(8 * index, true))
  }
}

/** JSON has no NaN and no infinities: null, as SELECT JSON prints them. */
function putNotFinite(out: TextSink, value: number, form: Form): void {
  putAscii(out, form === 'json' ? 'null' : String(value))
}

export class Float32Text extends FixedText {
  protected writeBare(out: TextSink, index: number): void {
    const value = this.view.getFloat32(4 * index, true)
    if (Number.isFinite(value)) putFloat32(out, value)
    else putNotFinite(out, value, this.form)
  }
}

export class Float64Text extends FixedText {
  protected writeBare(out: TextSink, index: number): void {
    const value = this.view.getFloat64(8 * index, true)
    if (Number.isFinite(value)) putFloat64(out, value)
    else putNotFinite(out, value, this.form)
  }
}

export class DateText extends FixedText {
  protected writeBare(out: TextSink, index: number): void {
    putDate(out, this.view.getInt32(4 * index, true))
  }
}

export class TimeText extends FixedText {
  protected writeBare(out: TextSink, index: number): void {
    putTime(out, this.view.getInt32(8 * index + 4, true), this.view.getInt32(8 * index, true))
  }
}

export class TimestampText extends FixedText {
  protected writeBare(out: TextSink, index: number): void {
    const form = this.form === 'json' ? 'json' : 'iso'
    putTimestamp(out, this.view.getInt32(8 * index + 4, true), this.view.getInt32(8 * index, true), form)
  }
}

export class UuidText extends FixedText {
  protected writeBare(out: TextSink, index: number): void {
    putUuid(out, this.values, 16 * index)
  }
}

/** The duration of nothing is the empty text in Cassandra; in CSV, where that would be an empty value, it is 0ns. */
export class IntervalText extends FixedText {
  protected writeBare(out: TextSink, index: number): void {
    out.reserve(LONGEST_DURATION)
    const { view } = this
    const at = 16 * index
    const [months, days] = [view.getInt32(at, true), view.getInt32(at + 4, true)]
    const [high, low] = [view.getInt32(at + 12, true), view.getInt32(at + 8, true)]
    const end = formatDuration(out.bytes, out.at, months, days, high, low)
    if (end === out.at && this.form === 'csv') putAscii(out, '0ns')
    else out.at = end
  }
}

/** Arrow decimals, printed with all decimals of their scale. By BigInt: rare, on request only. */
export class DecimalText extends FixedText {
  readonly #words: number
  readonly #scale: number

  constructor(nullText: Uint8Array, form: Form, bits: 128 | 256, scale: number) {
    super(nullText, form, false)
    this.#words = bits / 64
    this.#scale = scale
  }

  protected writeBare(out: TextSink, index: number): void {
    let value = 0n
    for (let word = this.#words - 1; word >= 0; word--) {
      const at = 8 * (this.#words * index + word)
      value =
        (value << 64n) | (word === this.#words - 1 ? this.view.getBigInt64(at, true) : this.view.getBigUint64(at, true))
    }
    const digits = (value < 0n ? -value : value).toString().padStart(this.#scale + 1, '0')
    const whole = digits.slice(0, digits.length - this.#scale)
    const fraction = this.#scale === 0 ? '' : `.${digits.slice(-this.#scale)}`
    putAscii(out, `${value < 0n ? '-' : ''}${whole}${fraction}`)
  }
}

abstract class VariableText extends ValueText {
  protected values: Uint8Array = new Uint8Array(0)
  protected offsets: Int32Array = new Int32Array(0)

  protected bindValues(vector: Vector): void {
    this.values = vector.values
    this.offsets = vector.offsets!
  }
}

/** text and ascii in JSON. */
export class JsonStringText extends VariableText {
  protected writeValue(out: TextSink, index: number): void {
    putJsonString(out, this.values, this.offsets[index], this.offsets[index + 1])
  }
}

/** text and ascii in CSV: quoted where empty or equal to the null marker, so that neither is taken for null. */
export class CsvStringText extends VariableText {
  protected writeValue(out: TextSink, index: number): void {
    const from = this.offsets[index]
    const to = this.offsets[index + 1]
    putCsvField(out, this.values, from, to, from === to || this.#isNullText(from, to))
  }

  #isNullText(from: number, to: number): boolean {
    const marker = this.nullText
    if (to - from !== marker.length) return false
    for (let i = 0; i < marker.length; i++) if (this.values[from + i] !== marker[i]) return false
    return true
  }
}

/** UTF-8 that needs no escapes: decimal, varint, inet, duration. */
export class PlainText extends VariableText {
  readonly #ifEmpty: string

  constructor(nullText: Uint8Array, quoted: boolean, ifEmpty: string) {
    super(nullText, quoted)
    this.#ifEmpty = ifEmpty
  }

  protected writeValue(out: TextSink, index: number): void {
    const from = this.offsets[index]
    const to = this.offsets[index + 1]
    out.reserve(to - from + 2)
    if (this.quoted) out.bytes[out.at++] = QUOTE
    if (from === to) putAscii(out, this.#ifEmpty)
    else putBytes(out, this.values, from, to)
    if (this.quoted) out.bytes[out.at++] = QUOTE
  }
}

/** blob and types known by their class name alone. */
export class HexText extends VariableText {
  readonly #quote: boolean

  constructor(nullText: Uint8Array, form: Form) {
    super(nullText, form === 'json')
    this.#quote = form === 'json'
  }

  protected writeValue(out: TextSink, index: number): void {
    out.reserve(1)
    if (this.#quote) out.bytes[out.at++] = QUOTE
    putHex(out, this.values, this.offsets[index], this.offsets[index + 1])
    out.reserve(1)
    if (this.#quote) out.bytes[out.at++] = QUOTE
  }
}
