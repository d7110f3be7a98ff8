// The base of all value writers: one per field, over the vector at hand. Null and empty values are the base's business;
// a subclass writes a value that is there.

import type { Vector } from '../../storage/rows/batch.ts'
import { putBytes, type TextSink } from './sink.ts'

/** JSON: strings are quoted, NaN is null. CSV: a bare field that needs no quotes. */
export type Form = 'json' | 'csv'

export const QUOTE = 0x22

const TWO_QUOTES = Buffer.from('""')

export abstract class ValueText {
  /** Written in place of null. */
  readonly nullText: Uint8Array
  /** True where every value begins with a quote. */
  readonly quoted: boolean
  #validity: Uint8Array | null = null
  #empty: Uint8Array | null = null

  constructor(nullText: Uint8Array, quoted: boolean) {
    this.nullText = nullText
    this.quoted = quoted
  }

  /** Values come from this vector from now on. */
  bind(vector: Vector): void {
    this.#validity = vector.validity
    this.#empty = vector.empty
    this.bindValues(vector)
  }

  write(out: TextSink, index: number): void {
    const validity = this.#validity
    if (validity === null || ((validity[index >>> 3] >>> (index & 7)) & 1) === 1) this.writeValue(out, index)
    else this.writeMissing(out, index)
  }

  protected writeMissing(out: TextSink, index: number): void {
    const empty = this.#empty
    if (empty !== null && ((empty[index >>> 3] >>> (index & 7)) & 1) === 1) this.writeEmpty(out)
    else putBytes(out, this.nullText, 0, this.nullText.length)
  }

  /** An empty value prints as an empty string in SELECT JSON, whatever its type; in CSV it is the quoted empty field. */
  protected writeEmpty(out: TextSink): void {
    putBytes(out, TWO_QUOTES, 0, 2)
  }

  protected abstract bindValues(vector: Vector): void
  protected abstract writeValue(out: TextSink, index: number): void
}
