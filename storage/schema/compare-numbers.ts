// Order of varint and decimal (IntegerType, DecimalType). A varint is two's complement of any length, padding allowed; a decimal
// is an i32 scale and such a varint: unscaled x 10^-scale. 1.0 and 1.00 are equal.

import type { ValueComparator } from './compare.ts'
import { damagedValue } from './damaged-value.ts'

// Two's complement of so many bytes is exact as a number, with room for one comparison at 2^53.
const SMALL_BYTES = 6
const POWERS = Float64Array.from({ length: 23 }, (_, i) => 10 ** i)
const LOG10_2 = 0.30103

export const compareVarints: ValueComparator = (a, _aView, aOffset, aLength, b, _bView, bOffset, bLength) => {
  if (aLength === 0 || bLength === 0) return aLength - bLength
  const aSign = a[aOffset] >> 7
  if (aSign !== b[bOffset] >> 7) return aSign === 0 ? 1 : -1
  const aSkip = paddingLength(a, aOffset, aLength)
  const bSkip = paddingLength(b, bOffset, bLength)
  const length = aLength - aSkip
  const longer = length - (bLength - bSkip)
  if (longer !== 0) return aSign === 0 ? longer : -longer
  const aStart = aOffset + aSkip
  const bStart = bOffset + bSkip
  for (let i = 0; i < length; i++) {
    const d = a[aStart + i] - b[bStart + i]
    if (d !== 0) return d
  }
  return 0
}

export const compareDecimals: ValueComparator = (a, aView, aOffset, aLength, b, bView, bOffset, bLength) => {
  if (aLength === 0 || bLength === 0) return aLength - bLength
  if (aLength < 5) throw damagedValue('5 bytes or more', aLength)
  if (bLength < 5) throw damagedValue('5 bytes or more', bLength)
  // The scale of b over that of a: how many zeros a's unscaled value needs for the two to be alike.
  const zeros = bView.getInt32(bOffset) - aView.getInt32(aOffset)
  if (aLength - 4 > SMALL_BYTES || bLength - 4 > SMALL_BYTES) {
    return compareLargeDecimals(a, aOffset + 4, aLength - 4, b, bOffset + 4, bLength - 4, zeros)
  }
  const x = smallInteger(a, aOffset + 4, aLength - 4)
  const y = smallInteger(b, bOffset + 4, bLength - 4)
  if (zeros === 0 || x === 0 || y === 0 || x > 0 !== y > 0) return x - y
  return zeros > 0 ? compareScaled(x, zeros, y) : -compareScaled(y, -zeros, x)
}

/** x * 10^zeros against y, of one sign, both below 2^48: a product beyond 2^53 is inexact, but larger all the same. */
function compareScaled(x: number, zeros: number, y: number): number {
  if (zeros >= POWERS.length) return x
  return x * POWERS[zeros] - y
}

function compareLargeDecimals(
  a: Uint8Array,
  aStart: number,
  aLength: number,
  b: Uint8Array,
  bStart: number,
  bLength: number,
  zeros: number,
): number {
  const x = largeInteger(a, aStart, aLength)
  const y = largeInteger(b, bStart, bLength)
  if (zeros === 0 || x === 0n || y === 0n || x > 0n !== y > 0n) return x < y ? -1 : x > y ? 1 : 0
  if (zeros > 0) return compareLargeScaled(x, zeros, y, bLength)
  return -compareLargeScaled(y, -zeros, x, aLength)
}

// The power is built only when it can be no longer than y: a scale of 2^31 in a damaged file must not fill the memory.
function compareLargeScaled(x: bigint, zeros: number, y: bigint, yLength: number): number {
  if (zeros > yLength * 8 * LOG10_2 + 1) return x > 0n ? 1 : -1
  const scaled = x * 10n ** BigInt(zeros)
  return scaled < y ? -1 : scaled > y ? 1 : 0
}

/** Leading bytes that only repeat the sign. */
function paddingLength(bytes: Uint8Array, start: number, length: number): number {
  const padding = bytes[start] >> 7 === 0 ? 0 : 0xff
  let i = 0
  while (i < length - 1 && bytes[start + i] === padding && (bytes[start + i + 1] ^ padding) < 0x80) i++
  return i
}

function smallInteger(bytes: Uint8Array, start: number, length: number): number {
  let value = (bytes[start] << 24) >> 24
  for (let i = 1; i < length; i++) value = value * 256 + bytes[start + i]
  return value
}

function largeInteger(bytes: Uint8Array, start: number, length: number): bigint {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset + start, length)
  return BigInt.asIntN(length * 8, BigInt(`0x${view.toString('hex')}`))
}
