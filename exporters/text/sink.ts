// The growing buffer that text is written into. Writers reserve what a value can need at most, then store bytes with
// plain indexing; a full part is handed out and never touched again.

import { type Allocate, allocatePart, type Discard } from '../exporter.ts'

/** A part is handed out at the end of the row that fills it. Larger writes to a socket gain nothing, measured. */
export const PART_BYTES = 1024 * 1024

/** Room beyond PART_BYTES, so that the row that fills a part seldom makes it grow. */
const SPARE_BYTES = 64 * 1024

export class TextSink {
  bytes: Uint8Array = new Uint8Array(0)
  /** Where the next byte goes. */
  at = 0
  #allocate: Allocate
  #discard: Discard | undefined

  constructor(allocate: Allocate = allocatePart, discard?: Discard) {
    this.#allocate = allocate
    this.#discard = discard
  }

  /** Starts a part; `expected` bytes are a guess at what will be written in all. */
  start(expected: number): void {
    this.bytes = this.#allocate(Math.min(PART_BYTES, expected) + SPARE_BYTES)
    this.at = 0
  }

  get isFull(): boolean {
    return this.at >= PART_BYTES
  }

  /** What was written since start(); the caller's from now on. */
  take(): Uint8Array {
    const part = this.bytes.subarray(0, this.at)
    this.bytes = new Uint8Array(0)
    this.at = 0
    return part
  }

  /** Makes room for `count` more bytes. `bytes` may be another buffer afterwards. */
  reserve(count: number): void {
    if (this.at + count > this.bytes.length) this.#grow(this.at + count)
  }

  #grow(needed: number): void {
    const bytes = this.#allocate(Math.max(needed + SPARE_BYTES, 2 * this.bytes.length))
    bytes.set(this.bytes.subarray(0, this.at))
    this.#discard?.(this.bytes)
    this.bytes = bytes
  }
}

/** Up to here a loop beats the fixed cost of set(subarray), measured. */
const LOOP_BYTES = 64

/** Appends source[from..to) as it is. */
export function putBytes(out: TextSink, source: Uint8Array, from: number, to: number): void {
  const length = to - from
  out.reserve(length)
  const bytes = out.bytes
  let at = out.at
  out.at = at + length
  if (length > LOOP_BYTES) bytes.set(source.subarray(from, to), at)
  else while (from < to) bytes[at++] = source[from++]
}

/** Appends a short string of ASCII characters. */
export function putAscii(out: TextSink, text: string): void {
  out.reserve(text.length)
  const bytes = out.bytes
  let at = out.at
  for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i)
  out.at = at
}
