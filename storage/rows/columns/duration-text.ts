// duration as text: what Cassandra's o.a.c.cql3.Duration.toString() prints and SELECT JSON shows: 1y2mo25d5h6m7s8ms9us10ns,
// a leading minus for a negative one, the empty text for zero. One difference: magnitudes of 2^31 (months, days) and 2^63
// (nanoseconds), whose Math.abs() overflows there so that they vanish, are written out here.

const MINUS = 0x2d

/** No text is longer: 178956970y8mo2147483648d2562047h47m16s854ms775us808ns has 54 characters with its minus. */
export const LONGEST_DURATION = 64

const NANOS_PER_HOUR = 3_600_000_000_000
const UNITS_BELOW_HOUR: readonly (readonly [string, number])[] = [
  ['m', 60_000_000_000],
  ['s', 1_000_000_000],
  ['ms', 1_000_000],
  ['us', 1_000],
  ['ns', 1],
]

/** Writes a duration whose parts have one sign; nanoseconds as int32 halves. The end. */
export function formatDuration(
  out: Uint8Array,
  at: number,
  months: number,
  days: number,
  hi: number,
  lo: number,
): number {
  if (months < 0 || days < 0 || hi < 0) out[at++] = MINUS
  const m = Math.abs(months)
  if (m >= 12) at = put(out, at, Math.floor(m / 12), 'y')
  if (m % 12 !== 0) at = put(out, at, m % 12, 'mo')
  if (days !== 0) at = put(out, at, Math.abs(days), 'd')
  if (hi === 0 && lo === 0) return at
  let high = hi >>> 0
  let low = lo >>> 0
  if (hi < 0) {
    low = -lo >>> 0
    high = (~hi + (low === 0 ? 1 : 0)) >>> 0
  }
  // Long division by an hour, a byte of the low half at a time: a remainder (< 2^42) times 2^8 is exact in a double.
  let rest = high
  let hours = 0
  for (let step = 0; step < 4; step++) {
    rest = rest * 256 + ((low >>> (24 - step * 8)) & 0xff)
    const whole = Math.floor(rest / NANOS_PER_HOUR)
    rest -= whole * NANOS_PER_HOUR
    hours = hours * 256 + whole
  }
  if (hours !== 0) at = put(out, at, hours, 'h')
  for (const [unit, size] of UNITS_BELOW_HOUR) {
    const whole = Math.floor(rest / size)
    if (whole === 0) continue
    rest -= whole * size
    at = put(out, at, whole, unit)
  }
  return at
}

function put(out: Uint8Array, at: number, value: number, unit: string): number {
  const text = value + unit
  for (let i = 0; i < text.length; i++) out[at++] = text.charCodeAt(i)
  return at
}

const FORM =
  /^(-?)(?:(\d+)y)?(?:(\d+)mo)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?(?:(\d+)us)?(?:(\d+)ns)?$/
const NANOS = [3_600_000_000_000n, 60_000_000_000n, 1_000_000_000n, 1_000_000n, 1_000n, 1n]

/** Months, days and nanoseconds of a text in the form above; null if it is not in that form. */
export function parseDuration(text: string): [bigint, bigint, bigint] | null {
  const match = FORM.exec(text)
  if (match === null) return null
  const part = (i: number): bigint => BigInt(match[i] ?? 0)
  const sign = match[1] === '-' ? -1n : 1n
  let nanos = 0n
  NANOS.forEach((size, i) => {
    nanos += part(5 + i) * size
  })
  return [sign * (part(2) * 12n + part(3)), sign * part(4), sign * nanos]
}
