// Exact decimal text, as java.math.BigDecimal.toString() writes it: plain digits while scale >= 0 and the exponent of the
// first digit is at least -6, else scientific (1E+400, 1.5E-7). It gives unscaled value and scale back without loss, so
// that 1.0, 1.00 and 1E+2 stay three different texts.

const MINUS = 0x2d
const PLUS = 0x2b
const POINT = 0x2e
const ZERO = 0x30
const EXPONENT = 0x45

/** What formatDecimal() may write beside the digits: sign, point, `0.00000`, `E+2147483656`. */
export const DECIMAL_EXTRA = 24

/** Digits, most significant first, without leading zeros; reused by every call. */
let digits = new Uint8Array(256)

/** Puts the digits of value (0 to 2^53) there; how many. */
export function takeDigits(value: number): number {
  // Two int32 parts of up to 8 digits: integer division is far cheaper than division of doubles.
  const hi = (value / 1e8) | 0
  const lo = (value - hi * 1e8) | 0
  if (hi === 0) {
    const count = digitCount(lo)
    putDigits(lo, 0, count)
    return count
  }
  const count = digitCount(hi)
  putDigits(hi, 0, count)
  putDigits(lo, count, count + 8)
  return count + 8
}

/** '00' to '99', so that one division yields two digits. */
const PAIRS = new Uint8Array(200)
for (let i = 0; i < 100; i++) {
  PAIRS[i * 2] = ZERO + Math.floor(i / 10)
  PAIRS[i * 2 + 1] = ZERO + (i % 10)
}

/** The last to - from digits of an int32, into digits[from..to). */
function putDigits(value: number, from: number, to: number): void {
  const out = digits
  while (to - from >= 2) {
    const rest = (value / 100) | 0
    const pair = (value - rest * 100) * 2
    out[--to] = PAIRS[pair + 1]
    out[--to] = PAIRS[pair]
    value = rest
  }
  if (to > from) out[from] = ZERO + (value % 10)
}

function digitCount(value: number): number {
  let count = 1
  for (let limit = 10; value >= limit; limit *= 10) count++
  return count
}

/** Puts the digits of value (not negative) there; how many. */
export function takeBigDigits(value: bigint): number {
  const text = value.toString()
  if (text.length > digits.length) digits = new Uint8Array(text.length * 2)
  for (let i = 0; i < text.length; i++) digits[i] = text.charCodeAt(i)
  return text.length
}

/** Writes the taken digits as an integer; the end. */
export function formatInteger(out: Uint8Array, at: number, negative: boolean, count: number): number {
  if (negative) out[at++] = MINUS
  return copyDigits(out, at, 0, count)
}

/** Writes the taken digits with this scale (an int32); the end, at most count + DECIMAL_EXTRA further. */
export function formatDecimal(out: Uint8Array, at: number, negative: boolean, count: number, scale: number): number {
  if (negative) out[at++] = MINUS
  if (scale === 0) return copyDigits(out, at, 0, count)
  const exponent = count - 1 - scale
  if (scale < 0 || exponent < -6) {
    out[at++] = digits[0]
    if (count > 1) {
      out[at++] = POINT
      at = copyDigits(out, at, 1, count)
    }
    out[at++] = EXPONENT
    out[at++] = exponent < 0 ? MINUS : PLUS
    const text = String(Math.abs(exponent))
    for (let i = 0; i < text.length; i++) out[at++] = text.charCodeAt(i)
    return at
  }
  const whole = count - scale
  if (whole > 0) at = copyDigits(out, at, 0, whole)
  else out[at++] = ZERO
  out[at++] = POINT
  for (let i = whole; i < 0; i++) out[at++] = ZERO
  return copyDigits(out, at, Math.max(whole, 0), count)
}

function copyDigits(out: Uint8Array, at: number, from: number, to: number): number {
  const source = digits
  for (let i = from; i < to; i++) out[at++] = source[i]
  return at
}

/** What parseDecimal() found; one record, reused. */
export const parsed = {
  /** The unscaled value, if it has at most 15 digits. */
  small: 0,
  /** The unscaled value, if it has more; else null. */
  big: null as bigint | null,
  scale: 0,
}

/** Reads text[start..end) in the form above into `parsed`; false if it is not in that form. */
export function parseDecimal(text: Uint8Array, start: number, end: number): boolean {
  const negative = text[start] === MINUS
  let at = negative ? start + 1 : start
  let count = 0
  let fraction = 0
  let point = false
  let small = 0
  const first = at
  for (; at < end; at++) {
    const char = text[at]
    if (char === POINT && !point) {
      point = true
    } else if (char >= ZERO && char <= ZERO + 9) {
      count++
      if (point) fraction++
      small = small * 10 + char - ZERO
    } else {
      break
    }
  }
  if (count === 0) return false
  let exponent = 0
  if (at < end) {
    if (text[at] !== EXPONENT) return false
    exponent = Number(asciiText(text, at + 1, end))
    if (at + 1 === end || !Number.isInteger(exponent)) return false
  }
  parsed.scale = fraction - exponent
  if (count <= 15) {
    parsed.small = negative ? 0 - small : small
    parsed.big = null
  } else {
    const value = BigInt(asciiText(text, first, at).replace('.', ''))
    parsed.big = negative ? -value : value
  }
  return true
}

function asciiText(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')
}
