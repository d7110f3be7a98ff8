// Numbers of CQL text as bytes: exact at any size, rounded as Java rounds.

/** Two's complement, big-endian, of `size` bytes. */
export function integerBytes(value: bigint, size: number): Uint8Array {
  const hex = BigInt.asUintN(size * 8, value)
    .toString(16)
    .padStart(size * 2, '0')
  return Buffer.from(hex, 'hex')
}

/** The shortest two's complement, at least one byte (BigInteger.toByteArray). */
export function varintBytes(value: bigint): Uint8Array {
  const magnitude = value < 0n ? ~value : value
  const bits = magnitude === 0n ? 0 : magnitude.toString(2).length
  return integerBytes(value, Math.floor(bits / 8) + 1)
}

/** i32 scale and unscaled varint (BigDecimal.toString's inverse); undefined for NaN, Infinity and scales beyond 32 bits. */
export function decimalBytes(text: string): Uint8Array | undefined {
  const decimal = parseDecimal(text)
  if (decimal === undefined || (decimal.scale | 0) !== decimal.scale) return undefined
  return Buffer.concat([integerBytes(BigInt(decimal.scale), 4), varintBytes(decimal.unscaled)])
}

/**
 * The float nearest to a decimal text. Rounding to double first and then to float goes wrong where the double falls on the middle
 * between two floats and the text does not.
 */
export function float32Of(text: string): number {
  const double = Number(text)
  const float = Math.fround(double)
  if (float === double || !Number.isFinite(float)) return float
  const other = neighbour(float, double > float)
  if (double - float !== other - double) return float
  const side = compareWithDouble(text, double)
  if (side === 0) return float
  return side > 0 ? Math.max(float, other) : Math.min(float, other)
}

interface Decimal {
  unscaled: bigint
  scale: number
}

function parseDecimal(text: string): Decimal | undefined {
  const match = /^(-?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text)
  if (match === null) return undefined
  const [, sign, whole, fraction = '', exponent = '0'] = match
  const digits = BigInt(whole + fraction)
  return { unscaled: sign === '-' ? -digits : digits, scale: fraction.length - Number(exponent) }
}

/** The next float above or below. */
function neighbour(float: number, above: boolean): number {
  const view = new DataView(new ArrayBuffer(4))
  view.setFloat32(0, float)
  const away = float > 0 === above
  if (float === 0) return above ? 2 ** -149 : -(2 ** -149)
  view.setInt32(0, view.getInt32(0) + (away ? 1 : -1))
  return view.getFloat32(0)
}

/** Sign of text - double, exactly. The double is the one nearest to the text, so the exponents are near each other. */
function compareWithDouble(text: string, double: number): number {
  const { unscaled, scale } = parseDecimal(text)!
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, double)
  const bits = view.getBigUint64(0)
  const exponent = Number((bits >> 52n) & 0x7ffn)
  const fraction = bits & 0xfffffffffffffn
  const mantissa = (exponent === 0 ? fraction : fraction | (1n << 52n)) * (double < 0 ? -1n : 1n)
  const power = BigInt(Math.max(exponent, 1) - 1075)
  // unscaled * 10^-scale against mantissa * 2^power, both sides made integers.
  const tens = 10n ** BigInt(Math.abs(scale))
  const twos = 2n ** (power < 0n ? -power : power)
  const left = unscaled * (scale < 0 ? tens : 1n) * (power < 0n ? twos : 1n)
  const right = mantissa * (scale > 0 ? tens : 1n) * (power > 0n ? twos : 1n)
  return left < right ? -1 : left > right ? 1 : 0
}
