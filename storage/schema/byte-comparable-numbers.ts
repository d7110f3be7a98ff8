// Byte-comparable form of numbers of any size (Cassandra's ByteSource.VariableLengthInteger, IntegerType, DecimalType).

import { type ByteSink, push, pushBytes } from './byte-sink.ts'
import { damagedValue } from './damaged-value.ts'

// IntegerType: from so many significant bytes on, the length is written out.
const FULL_FORM_THRESHOLD = 7
const MAX_ONES = 9

/**
 * A number of 64 bits: n ones, a zero (none if n is 9), then the number in the other bits of n bytes; all inverted if it is
 * negative.
 */
export function encodeVariableLength(sink: ByteSink, value: bigint): void {
  const magnitude = value < 0n ? ~value : value
  const bits = magnitude === 0n ? 0 : magnitude.toString(2).length
  const bytes = Math.min(Math.floor(bits / 7) + 1, MAX_ONES)
  const ones = ((1n << BigInt(bytes)) - 1n) << BigInt(7 * bytes)
  const encoded = (ones | magnitude).toString(16).padStart(2 * bytes, '0')
  pushInverted(sink, Buffer.from(encoded, 'hex'), value < 0n)
}

/** Two's complement of any length, padding allowed. */
export function encodeVarint(sink: ByteSink, value: Uint8Array): void {
  const sign = value[0] < 0x80 ? 0 : 0xff
  let start = 0
  if (value[0] === sign) while (start + 1 < value.length && value[start] === sign) start++
  const significant = value.length - start
  if (significant < FULL_FORM_THRESHOLD) {
    encodeVariableLength(sink, toBigInt(value))
    return
  }
  push(sink, sign ^ 0xff)
  pushInverted(sink, unsignedLength(significant - FULL_FORM_THRESHOLD), sign !== 0)
  pushBytes(sink, value.subarray(start))
}

/**
 * i32 scale, then two's complement: sign and exponent to the base of 100, then pairs of decimal digits, all rounded towards minus
 * infinity so that only the first carries the sign.
 */
export function encodeDecimal(sink: ByteSink, value: Uint8Array): void {
  if (value.length < 5) throw damagedValue('5 bytes or more', value.length)
  const scale = new DataView(value.buffer, value.byteOffset).getInt32(0)
  const unscaled = toBigInt(value.subarray(4))
  if (unscaled === 0n) {
    push(sink, 0x80)
    return
  }
  const isNegative = unscaled < 0n
  const digits = (isNegative ? -unscaled : unscaled).toString()
  // The number is 0.digits * 100^exponent, with a leading 0 digit where the power of 10 is odd.
  const power = digits.length - scale
  const exponent = Math.ceil(power / 2)
  pushExponent(sink, exponent, isNegative)
  const even = (power % 2 !== 0 ? '0' : '') + digits.replace(/0+$/, '')
  const pairs = even.length % 2 === 0 ? even : `${even}0`
  const last = pairs.length - 2
  for (let i = 0; i <= last; i += 2) {
    const pair = Number(pairs.slice(i, i + 2))
    if (!isNegative) push(sink, 0x80 + pair)
    else if (i === 0) push(sink, 0x80 - pair - (last > 0 ? 1 : 0))
    else push(sink, 0x80 + (i < last ? 99 : 100) - pair)
  }
  push(sink, 0x00)
}

function pushExponent(sink: ByteSink, exponent: number, isNegative: boolean): void {
  const signed = isNegative ? -exponent : exponent
  const bytes = 4 - Math.floor(Math.clz32(Math.abs(signed)) / 8)
  push(sink, (isNegative ? 0x00 : 0x80) + 0x40 + (signed < 0 ? -bytes : bytes))
  for (let i = bytes - 1; i >= 0; i--) push(sink, (signed >> (8 * i)) & 0xff)
}

/** Leading ones say how many more bytes there are; 7 bits a byte. */
function unsignedLength(value: number): Uint8Array {
  let bytes = 1
  while (bytes < 5 && value >= 2 ** (7 * bytes)) bytes++
  const result = new Uint8Array(bytes)
  let rest = value
  for (let i = bytes - 1; i >= 0; i--) {
    result[i] = rest % 256
    rest = Math.floor(rest / 256)
  }
  result[0] |= (0xff00 >> (bytes - 1)) & 0xff
  return result
}

function pushInverted(sink: ByteSink, bytes: Uint8Array, isInverted: boolean): void {
  for (const byte of bytes) push(sink, isInverted ? byte ^ 0xff : byte)
}

function toBigInt(bytes: Uint8Array): bigint {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${hex}`))
}
