// A forward reader over bytes already in memory, for cold code (component headers, index entries). Every read is bounds-
// checked: damage ends in CORRUPT_SSTABLE with the file and the byte offset, never in a RangeError or a wrong value.
// Integers are big-endian, as Java's DataOutput writes them.

import { SluiceError } from '../errors.ts'
import { readUvint, readUvintBig, readVint, readVintBig, vintSize } from './vint.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export class Cursor {
  readonly bytes: Uint8Array
  readonly file: string
  /** Offset in the file of `bytes[0]`, for messages. */
  readonly base: number
  pos = 0
  readonly #view: DataView

  constructor(bytes: Uint8Array, file: string, base = 0) {
    // Not a Buffer, whose `slice` shares memory.
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.file = file
    this.base = base
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get remaining(): number {
    return this.bytes.length - this.pos
  }

  /** Offset in the file of the next byte. */
  get offset(): number {
    return this.base + this.pos
  }

  /** The error to throw when what was read makes no sense; `at` is a position in `bytes`. */
  corrupt(reason: string, at = this.pos): SluiceError {
    return new SluiceError('CORRUPT_SSTABLE', { file: this.file, offset: this.base + at, reason })
  }

  /** Moves on by n bytes and returns where they began. */
  #take(n: number, what: string): number {
    const at = this.pos
    if (!(n >= 0 && n <= this.bytes.length - at)) throw this.corrupt(`${what} runs past the end`, at)
    this.pos = at + n
    return at
  }

  u8(): number {
    return this.bytes[this.#take(1, 'byte')]
  }

  i8(): number {
    return this.#view.getInt8(this.#take(1, 'byte'))
  }

  bool(): boolean {
    return this.u8() !== 0
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2, 'u16'))
  }

  i16(): number {
    return this.#view.getInt16(this.#take(2, 'i16'))
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4, 'u32'))
  }

  i32(): number {
    return this.#view.getInt32(this.#take(4, 'i32'))
  }

  i64(): bigint {
    return this.#view.getBigInt64(this.#take(8, 'i64'))
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8, 'u64'))
  }

  /** An i64 that holds a length or offset: 0 to 2^53 - 1. */
  size64(what: string): number {
    const at = this.pos
    const value = this.i64()
    if (value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER)) throw this.corrupt(`${what} is out of range`, at)
    return Number(value)
  }

  f64(): number {
    return this.#view.getFloat64(this.#take(8, 'f64'))
  }

  /** Below 2^53; larger is damage wherever this is used. */
  uvint(): number {
    const at = this.#vint()
    const value = readUvint(this.bytes, at)
    if (value > Number.MAX_SAFE_INTEGER) throw this.corrupt('vint is out of range', at)
    return value
  }

  /** Magnitude below 2^53; larger is damage wherever this is used. */
  vint(): number {
    const at = this.#vint()
    const value = readVint(this.bytes, at)
    if (!Number.isSafeInteger(value)) throw this.corrupt('vint is out of range', at)
    return value
  }

  uvintBig(): bigint {
    return readUvintBig(this.bytes, this.#vint())
  }

  vintBig(): bigint {
    return readVintBig(this.bytes, this.#vint())
  }

  #vint(): number {
    if (this.pos >= this.bytes.length) throw this.corrupt('vint runs past the end')
    return this.#take(vintSize(this.bytes[this.pos]), 'vint')
  }

  /** The next n bytes, as a view (not a copy). */
  take(n: number): Uint8Array {
    const at = this.#take(n, 'field')
    return this.bytes.subarray(at, at + n)
  }

  skip(n: number): void {
    this.#take(n, 'field')
  }

  /** u16 length, bytes. */
  u16Bytes(): Uint8Array {
    return this.take(this.u16())
  }

  /** u32 length, bytes. */
  u32Bytes(): Uint8Array {
    return this.take(this.u32())
  }

  /** uvint length, bytes. */
  uvintBytes(): Uint8Array {
    return this.take(this.uvint())
  }

  /**
   * u16 length, then Java's modified UTF-8. The strings written this way (class and option names) have neither NUL nor
   * surrogate pairs, where it differs from UTF-8.
   */
  utf(): string {
    const at = this.pos
    return this.#text(this.u16Bytes(), at)
  }

  /** uvint length, then UTF-8. */
  uvintText(): string {
    const at = this.pos
    return this.#text(this.uvintBytes(), at)
  }

  #text(bytes: Uint8Array, at: number): string {
    try {
      return utf8.decode(bytes)
    } catch {
      throw this.corrupt('text is not valid UTF-8', at)
    }
  }

  /** A u32 or uvint count of items of at least `itemBytes` each, checked against what is left before anything is allocated. */
  checkCount(count: number, itemBytes: number, what: string): number {
    if (count * itemBytes > this.remaining) throw this.corrupt(`${what} count ${count} is more than the file can hold`)
    return count
  }
}
