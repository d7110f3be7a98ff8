// Two's complement integers of any size (varint, and the unscaled part of decimal; java.math.BigInteger.toByteArray). Up to
// six bytes are plain numbers, exact in a double; longer ones become BigInt.

import { SluiceError } from '../../errors.ts'

/** Up to this many bytes smallInteger() is exact. */
export const SMALL_BYTES = 6

/** Longer numbers are refused: converting two and a half million digits takes seconds, and the time grows faster than the size. */
export const MAX_NUMBER_BYTES = 1024 * 1024

/** The value of 1 to SMALL_BYTES bytes. */
export function smallInteger(bytes: Uint8Array, offset: number, length: number): number {
  let hi = (bytes[offset] << 24) >> 24
  if (length <= 4) {
    for (let i = 1; i < length; i++) hi = (hi << 8) | bytes[offset + i]
    return hi
  }
  const split = offset + length - 4
  for (let i = offset + 1; i < split; i++) hi = (hi << 8) | bytes[i]
  const lo = (bytes[split] << 24) | (bytes[split + 1] << 16) | (bytes[split + 2] << 8) | bytes[split + 3]
  return hi * 0x100000000 + (lo >>> 0)
}

/** How many of the leading bytes only repeat the sign. */
export function signPadding(bytes: Uint8Array, offset: number, length: number): number {
  const sign = bytes[offset] >= 0x80 ? 0xff : 0
  let n = 0
  while (n < length - 1 && bytes[offset + n] === sign && ((bytes[offset + n + 1] ^ sign) & 0x80) === 0) n++
  return n
}

/** The value of any number of bytes, at least one. VALUE_TOO_LARGE beyond MAX_NUMBER_BYTES. */
export function bigInteger(bytes: Uint8Array, view: DataView, offset: number, length: number): bigint {
  const padding = signPadding(bytes, offset, length)
  offset += padding
  length -= padding
  if (length > MAX_NUMBER_BYTES) {
    throw new SluiceError('VALUE_TOO_LARGE', { limit: MAX_NUMBER_BYTES, reason: `a number of ${length} bytes` })
  }
  const negative = bytes[offset] >= 0x80
  if (length > 64) {
    const hex = Buffer.from(bytes.buffer, bytes.byteOffset + offset, length).toString('hex')
    const value = BigInt('0x' + hex)
    return negative ? value - (1n << BigInt(length * 8)) : value
  }
  let value = negative ? -1n : 0n
  let at = offset
  const end = offset + length
  for (const whole = offset + (length & 7); at < whole; at++) value = (value << 8n) | BigInt(bytes[at])
  for (; at < end; at += 8) value = (value << 64n) | view.getBigUint64(at)
  return value
}

/** Bytes of the shortest two's complement form, at least 1; for |value| < 2^53. */
export function smallIntegerSize(value: number): number {
  const magnitude = value < 0 ? -1 - value : value
  let size = 1
  for (let limit = 0x80; magnitude >= limit; limit *= 0x100) size++
  return size
}

/** The shortest two's complement form in hex. */
export function bigIntegerHex(value: bigint): string {
  const magnitude = value < 0n ? ~value : value
  let hex = magnitude.toString(16)
  if ((hex.length & 1) === 1) hex = '0' + hex
  const size = hex[0] >= '8' ? hex.length / 2 + 1 : hex.length / 2
  if (value >= 0n) return hex.padStart(size * 2, '0')
  return BigInt.asUintN(size * 8, value).toString(16)
}
