// Numbers as text, without strings and BigInts on the usual ways. Floating point has the form of Java's Double.toString and
// Float.toString, which SELECT JSON uses: at least one digit on both sides of the point, E notation below 1E-3 and from 1E7 on,
// and the shortest digits that read back as the same float64 or float32 (Java before 19 at times writes a digit too many).

import { putAscii, type TextSink } from './sink.ts'

const ZERO = 0x30
const MINUS = 0x2d
const POINT = 0x2e

/** No integer of 64 bits is longer. */
const LONGEST_INT64 = 20

/** '00' to '99'. */
const PAIRS = Uint8Array.from({ length: 200 }, (_, i) => ZERO + (i % 2 === 0 ? Math.floor(i / 20) : (i >> 1) % 10))

/** The number, 0 to 2^31 - 1, at bytes[at..); returns its end. */
export function digitsAt(bytes: Uint8Array, at: number, value: number): number {
  if (value < 10) {
    bytes[at] = ZERO + value
    return at + 1
  }
  const count = digitCount(value)
  paddedAt(bytes, at, value, count)
  return at + count
}

function digitCount(value: number): number {
  if (value < 10_000) return value < 100 ? 2 : value < 1000 ? 3 : 4
  if (value < 1_000_000) return value < 100_000 ? 5 : 6
  if (value < 100_000_000) return value < 10_000_000 ? 7 : 8
  return value < 1_000_000_000 ? 9 : 10
}

/** The last `count` digits of a number, 0 to 2^31 - 1, at bytes[at..at + count). */
export function paddedAt(bytes: Uint8Array, at: number, value: number, count: number): void {
  let end = at + count
  while (end - at >= 2) {
    const rest = (value / 100) | 0
    const pair = (value - rest * 100) << 1
    bytes[--end] = PAIRS[pair + 1]
    bytes[--end] = PAIRS[pair]
    value = rest
  }
  if (end > at) bytes[at] = ZERO + (value % 10)
}

/** A whole number, 0 to 2^53, at bytes[at..); returns its end. */
export function wholeAt(bytes: Uint8Array, at: number, value: number): number {
  if (value < 1e8) return digitsAt(bytes, at, value)
  const high = Math.floor(value / 1e8)
  at = wholeAt(bytes, at, high)
  paddedAt(bytes, at, value - high * 1e8, 8)
  return at + 8
}

/** An integer of at most 32 bits. */
export function putInt32(out: TextSink, value: number): void {
  out.reserve(LONGEST_INT64)
  if (value >= 0) {
    out.at = digitsAt(out.bytes, out.at, value)
    return
  }
  out.bytes[out.at++] = MINUS
  out.at = value === -0x80000000 ? wholeAt(out.bytes, out.at, 0x80000000) : digitsAt(out.bytes, out.at, -value)
}

/** An integer of 64 bits as its int32 halves. */
export function putInt64(out: TextSink, high: number, low: number): void {
  if (high === low >> 31) {
    putInt32(out, low)
    return
  }
  out.reserve(LONGEST_INT64)
  let upper = high >>> 0
  let lower = low >>> 0
  if (high < 0) {
    out.bytes[out.at++] = MINUS
    lower = -low >>> 0
    upper = (~high + (lower === 0 ? 1 : 0)) >>> 0
  }
  out.at = magnitudeAt(out.bytes, out.at, upper, lower)
}

/** A number of 64 bits without sign as its halves; returns the end. */
export function magnitudeAt(bytes: Uint8Array, at: number, upper: number, lower: number): number {
  if (upper < 0x200000) return wholeAt(bytes, at, upper * 0x100000000 + lower)
  // Long division by 1e8 in steps of 16 bits: every remainder times 2^16 is exact in a double.
  let quotient = Math.floor(upper / 1e8)
  let rest = (upper - quotient * 1e8) * 0x10000 + (lower >>> 16)
  let digit = Math.floor(rest / 1e8)
  rest = (rest - digit * 1e8) * 0x10000 + (lower & 0xffff)
  quotient = quotient * 0x10000 + digit
  digit = Math.floor(rest / 1e8)
  at = wholeAt(bytes, at, quotient * 0x10000 + digit)
  paddedAt(bytes, at, rest - digit * 1e8, 8)
  return at + 8
}

const POWERS = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12]

/** A finite float64. */
export function putFloat64(out: TextSink, value: number): void {
  const magnitude = Math.abs(value)
  if (magnitude >= 1e-3 && magnitude < 1e7) {
    // Numbers of few decimals: the first count that reads back. Up to 15 digits are the shortest for sure.
    if (Math.round(magnitude * 1e6) / 1e6 === magnitude) {
      for (let k = 0; k <= 6; k++) {
        const scaled = Math.round(magnitude * POWERS[k])
        if (scaled < 1e15 && scaled / POWERS[k] === magnitude) {
          putScaled(out, value < 0, scaled, k)
          return
        }
      }
    }
    // With decimals for sure, and in this range JavaScript and Java write alike.
    putAscii(out, String(value))
    return
  }
  if (magnitude === 0) {
    putAscii(out, Object.is(value, -0) ? '-0.0' : '0.0')
    return
  }
  putScientific(out, value < 0, shortestDigits(magnitude))
}

/** A finite float32 (as the float64 of equal value). */
export function putFloat32(out: TextSink, value: number): void {
  const magnitude = Math.abs(value)
  if (magnitude >= 1e-3 && magnitude < 1e7) {
    // At most 9 digits tell all float32 apart; the first count of decimals that reads back wins.
    for (let k = 0; k < POWERS.length; k++) {
      const scaled = Math.round(magnitude * POWERS[k])
      if (Math.fround(scaled / POWERS[k]) === magnitude) {
        putScaled(out, value < 0, scaled, k)
        return
      }
    }
  }
  if (magnitude === 0) {
    putAscii(out, Object.is(value, -0) ? '-0.0' : '0.0')
    return
  }
  putScientific(out, value < 0, shortestFloat32Digits(magnitude))
}

/** whole / 10^decimals, both exact; at least one decimal is written. */
function putScaled(out: TextSink, negative: boolean, whole: number, decimals: number): void {
  out.reserve(32)
  const bytes = out.bytes
  let at = out.at
  if (negative) bytes[at++] = MINUS
  const integer = decimals === 0 ? whole : Math.floor(whole / POWERS[decimals])
  at = wholeAt(bytes, at, integer)
  bytes[at++] = POINT
  if (decimals === 0) {
    bytes[at++] = ZERO
  } else {
    let fraction = whole - integer * POWERS[decimals]
    if (decimals > 8) {
      const high = Math.floor(fraction / 1e8)
      paddedAt(bytes, at, high, decimals - 8)
      at += decimals - 8
      fraction -= high * 1e8
      decimals = 8
    }
    paddedAt(bytes, at, fraction, decimals)
    at += decimals
  }
  out.at = at
}

/** Digits and the exponent of the first: d.ddd x 10^exponent. */
interface Digits {
  digits: string
  exponent: number
}

const SCIENTIFIC = /^(\d)(?:\.(\d+))?e([+-]\d+)$/

function parse(scientific: string): Digits {
  const match = SCIENTIFIC.exec(scientific)!
  return { digits: match[1] + (match[2] ?? ''), exponent: Number(match[3]) }
}

function shortestDigits(magnitude: number): Digits {
  const shortest = parse(magnitude.toExponential())
  // Java writes two digits at least, and of those the nearest: 4.9E-324, not 5.0E-324.
  return shortest.digits.length === 1 ? parse(magnitude.toExponential(1)) : shortest
}

function shortestFloat32Digits(magnitude: number): Digits {
  for (let decimals = 1; decimals < 9; decimals++) {
    const text = magnitude.toExponential(decimals)
    if (Math.fround(Number(text)) === magnitude) return parse(text)
  }
  return parse(magnitude.toExponential(9))
}

/** Outside of [1E-3, 1E7): one digit, the point, the rest, E, the exponent. */
function putScientific(out: TextSink, negative: boolean, { digits, exponent }: Digits): void {
  const rest = digits.slice(1).replace(/0+$/, '') || '0'
  putAscii(out, `${negative ? '-' : ''}${digits[0]}.${rest}E${exponent}`)
}
