// Values of any length: offsets and data. Blobs are copied; text is checked while it is copied: the loop ORs the words
// together, and only a value with a byte above 0x7f is looked at again. Copying by 32-bit words beats a byte loop four
// times, and beats set(subarray) below some hundred bytes.
//
// A generated decoder calls append(), or writes itself: rows as in fixed-builders.ts; room for the bytes by growData();
// data[used...], then used += length, offsets[++length] = used.

import { isAscii, isUtf8 } from 'node:buffer'
import { copyBytes } from '../../bytes/copy-bytes.ts'
import { SluiceError } from '../../errors.ts'
import { formatCqlType } from '../../schema/cql-type-text.ts'
import type { Field, Vector } from '../batch.ts'
import { isLarge, NO_VALUES } from './base-builder.ts'
import { type BufferOptions, doubled, INITIAL_ROWS, MAX_OFFSET } from './buffers.ts'
import { OffsetsBuilder } from './offsets-builder.ts'
import { isValidUtf8 } from './utf8.ts'

/** Longer blobs are copied natively: about 50 ns whatever the length, in memory that threads share 500. */
const WORDS_UP_TO = 96
const SHARED_WORDS_UP_TO = 768

/** Longer texts are copied and checked natively: about 200 ns whatever the length, in memory that threads share 600. */
const CHECKED_WORDS_UP_TO = 320
const SHARED_CHECKED_WORDS_UP_TO = 1024

export abstract class VarlenBuilder extends OffsetsBuilder {
  data: Uint8Array
  dataView: DataView
  /** Bytes of data written. */
  used = 0

  constructor(field: Field, options: BufferOptions) {
    super(field, options)
    this.data = this.memory.allocate(this.capacity * 16)
    this.dataView = new DataView(this.data.buffer)
  }

  /** Makes data hold at least `size` bytes. */
  growData(size: number): void {
    if (size > MAX_OFFSET) throw this.tooLarge()
    this.data = this.memory.enlarge(this.data, this.used, Math.min(doubled(this.data.length, size), MAX_OFFSET))
    this.dataView = new DataView(this.data.buffer)
  }

  byteLength(): number {
    return (this.length + 1) * 4 + this.used + this.bitmapBytes()
  }

  finish(): Vector {
    return this.vector(this.offsets.subarray(0, this.length + 1), this.data.subarray(0, this.used), [])
  }

  override reset(): void {
    super.reset()
    this.used = 0
  }

  override shrink(): void {
    super.shrink()
    if (!isLarge(this.data)) return
    this.memory.discard(this.data)
    this.data = NO_VALUES
    this.growData(INITIAL_ROWS)
  }
}

/** blob, and types known by their class name alone. */
export class BinaryBuilder extends VarlenBuilder {
  readonly #wordsUpTo = this.memory.shared ? SHARED_WORDS_UP_TO : WORDS_UP_TO

  append(bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    if (this.length === this.capacity) this.growRows()
    const start = this.used
    const end = start + length
    if (end > this.data.length) this.growData(end)
    if (length > this.#wordsUpTo) {
      copyBytes(this.data, start, bytes, offset, offset + length)
    } else if (length >= 4) {
      const out = this.dataView
      const last = offset + length - 4
      let to = start
      for (let from = offset; from < last; from += 4, to += 4) out.setInt32(to, view.getInt32(from))
      out.setInt32(end - 4, view.getInt32(last))
    } else {
      for (let i = 0; i < length; i++) this.data[start + i] = bytes[offset + i]
    }
    this.used = end
    this.offsets[++this.length] = end
  }
}

/** text and ascii. */
export class TextBuilder extends VarlenBuilder {
  readonly asciiOnly: boolean
  readonly #wordsUpTo = this.memory.shared ? SHARED_CHECKED_WORDS_UP_TO : CHECKED_WORDS_UP_TO

  constructor(field: Field, options: BufferOptions) {
    super(field, options)
    this.asciiOnly = field.type.kind === 'ascii'
  }

  append(bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    if (this.length === this.capacity) this.growRows()
    const start = this.used
    const end = start + length
    if (end > this.data.length) this.growData(end)
    let seen = 0
    if (length > this.#wordsUpTo) {
      copyBytes(this.data, start, bytes, offset, offset + length)
      const part = bytes.subarray(offset, offset + length)
      if (!(this.asciiOnly ? isAscii(part) : isUtf8(part))) throw this.invalid()
    } else if (length >= 4) {
      const out = this.dataView
      const last = offset + length - 4
      let to = start
      for (let from = offset; from < last; from += 4, to += 4) {
        const word = view.getInt32(from)
        seen |= word
        out.setInt32(to, word)
      }
      const word = view.getInt32(last)
      seen |= word
      out.setInt32(end - 4, word)
    } else {
      for (let i = 0; i < length; i++) {
        const byte = bytes[offset + i]
        seen |= byte << 24 // to the top, where the test below looks
        this.data[start + i] = byte
      }
    }
    if ((seen & -0x7f7f7f80) !== 0) this.check(bytes, offset, offset + length)
    this.used = end
    this.offsets[++this.length] = end
  }

  /** For a value with a byte above 0x7f. */
  private check(bytes: Uint8Array, start: number, end: number): void {
    if (this.asciiOnly || !isValidUtf8(bytes, start, end)) throw this.invalid()
  }

  private invalid(): SluiceError {
    return new SluiceError('INVALID_UTF8', { column: this.column, type: formatCqlType(this.field.type) })
  }
}
