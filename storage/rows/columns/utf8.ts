// Strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF. Cassandra's own validator is laxer (it
// takes C0 80 for NUL, and surrogates); Arrow readers are not, so such a value is refused by name.

import { isUtf8 } from 'node:buffer'

/** Above this many bytes the native validator is faster than the loop, its call included. */
const NATIVE_FROM = 96

/** True when bytes[start..end) is valid UTF-8. */
export function isValidUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start >= NATIVE_FROM) return isUtf8(bytes.subarray(start, end))
  let at = start
  while (at < end) {
    const lead = bytes[at++]
    if (lead < 0x80) continue
    if (lead < 0xe0) {
      if (lead < 0xc2 || at >= end || (bytes[at++] & 0xc0) !== 0x80) return false
    } else if (lead < 0xf0) {
      if (at + 1 >= end) return false
      const second = bytes[at]
      // E0 80..9F would be overlong, ED A0..BF are the surrogates.
      if ((second & 0xc0) !== 0x80 || (bytes[at + 1] & 0xc0) !== 0x80) return false
      if ((lead === 0xe0 && second < 0xa0) || (lead === 0xed && second >= 0xa0)) return false
      at += 2
    } else {
      if (lead > 0xf4 || at + 2 >= end) return false
      const second = bytes[at]
      // F0 80..8F would be overlong, F4 90.. is above U+10FFFF.
      if ((second & 0xc0) !== 0x80 || (bytes[at + 1] & 0xc0) !== 0x80 || (bytes[at + 2] & 0xc0) !== 0x80) return false
      if ((lead === 0xf0 && second < 0x90) || (lead === 0xf4 && second >= 0x90)) return false
      at += 3
    }
  }
  return true
}
