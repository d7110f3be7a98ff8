// Bytes of UTF-8 text and binary as JSON strings, CSV fields and hex. Text in batches is valid UTF-8 (storage refuses other), so bytes
// above 0x7f are copied as they are.

import type { TextSink } from './sink.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const CR = 0x0d

/** Longer values are written in blocks of this size, so that room is not reserved for the worst case of all of them. */
const BLOCK_BYTES = 4096

/** The letter after the backslash; 'u' where the code point is spelled out; 0: as it is. Jackson's choices, which Cassandra uses. */
const ESCAPES = new Uint8Array(256)
for (let code = 0; code < 0x20; code++) ESCAPES[code] = 0x75
for (const [code, letter] of [
  [0x08, 'b'],
  [0x09, 't'],
  [0x0a, 'n'],
  [0x0c, 'f'],
  [CR, 'r'],
  [QUOTE, '"'],
  [BACKSLASH, '\\'],
] as const) {
  ESCAPES[code] = letter.charCodeAt(0)
}

const HEX_UPPER = Buffer.from('0123456789ABCDEF')
const HEX_LOWER = Buffer.from('0123456789abcdef')

/** source[from..to) as a JSON string with its quotes. */
export function putJsonString(out: TextSink, source: Uint8Array, from: number, to: number): void {
  out.reserve(2)
  out.bytes[out.at++] = QUOTE
  while (from < to) {
    const end = Math.min(to, from + BLOCK_BYTES)
    out.reserve(6 * (end - from) + 1)
    const bytes = out.bytes
    let at = out.at
    for (; from < end; from++) {
      const byte = source[from]
      const letter = ESCAPES[byte]
      if (letter === 0) {
        bytes[at++] = byte
        continue
      }
      bytes[at++] = BACKSLASH
      bytes[at++] = letter
      if (letter !== 0x75) continue
      bytes[at++] = 0x30
      bytes[at++] = 0x30
      bytes[at++] = HEX_UPPER[byte >> 4]
      bytes[at++] = HEX_UPPER[byte & 15]
    }
    out.at = at
  }
  out.bytes[out.at++] = QUOTE
}

/** source[from..to) as 0x and lower-case hex digits. */
export function putHex(out: TextSink, source: Uint8Array, from: number, to: number): void {
  out.reserve(2 + 2 * (to - from))
  const bytes = out.bytes
  let at = out.at
  bytes[at++] = 0x30
  bytes[at++] = 0x78
  for (; from < to; from++) {
    const byte = source[from]
    bytes[at++] = HEX_LOWER[byte >> 4]
    bytes[at++] = HEX_LOWER[byte & 15]
  }
  out.at = at
}

/** 16 bytes as a UUID. */
export function putUuid(out: TextSink, source: Uint8Array, from: number): void {
  out.reserve(36)
  const bytes = out.bytes
  let at = out.at
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) bytes[at++] = 0x2d
    const byte = source[from + i]
    bytes[at++] = HEX_LOWER[byte >> 4]
    bytes[at++] = HEX_LOWER[byte & 15]
  }
  out.at = at
}

const CSV_SPECIAL = new Uint8Array(256)
for (const char of ',"\r\n') CSV_SPECIAL[char.charCodeAt(0)] = 1

/** source[from..to) as a CSV field (RFC 4180, section 2): quoted if it has to be, or if `quoted` says so. */
export function putCsvField(out: TextSink, source: Uint8Array, from: number, to: number, quoted: boolean): void {
  if (!quoted) {
    for (let i = from; i < to; i++) {
      if (CSV_SPECIAL[source[i]] === 1) {
        quoted = true
        break
      }
    }
  }
  if (quoted) {
    out.reserve(2)
    out.bytes[out.at++] = QUOTE
  }
  while (from < to) {
    const end = Math.min(to, from + BLOCK_BYTES)
    out.reserve(2 * (end - from) + 1)
    const bytes = out.bytes
    let at = out.at
    for (; from < end; from++) {
      const byte = source[from]
      if (byte === QUOTE) bytes[at++] = QUOTE
      bytes[at++] = byte
    }
    out.at = at
  }
  if (quoted) {
    out.reserve(1)
    out.bytes[out.at++] = QUOTE
  }
}

/** Makes what was written since `start` a JSON string (`json`) or a quoted CSV field (`csv`), in place. */
export function quoteSince(out: TextSink, start: number, form: 'json' | 'csv'): void {
  const mark = form === 'json' ? BACKSLASH : QUOTE
  const end = out.at
  let extra = 2
  for (let i = start; i < end; i++) {
    const byte = out.bytes[i]
    if (byte === QUOTE || byte === mark) extra++
  }
  out.reserve(extra)
  const bytes = out.bytes
  out.at = end + extra
  let to = out.at
  bytes[--to] = QUOTE
  for (let i = end - 1; i >= start; i--) {
    const byte = bytes[i]
    bytes[--to] = byte
    if (byte === QUOTE || byte === mark) bytes[--to] = mark
  }
  bytes[start] = QUOTE
}
