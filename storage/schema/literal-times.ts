// Dates, times and timestamps of CQL text (Cassandra's SimpleDateSerializer, TimeSerializer, TimestampSerializer). A timestamp
// without a zone is UTC here; Cassandra takes the node's own zone.

const MAX_LONG = 2n ** 63n - 1n
const MS_PER_DAY = 86400000n
const NANOS_PER_DAY = 86400n * 10n ** 9n
// ISO: a year of more than four digits has a sign.
const DATE = /^(-\d{4,10}|\+\d{5,10}|\d{4})-(\d\d)-(\d\d)/
const OFFSET = '(?: (?:UTC|GMT)| ?Z| ?[+-]\\d\\d(?::?\\d\\d)?)?'
const DATE_TIME = new RegExp(
  `^(\\d{1,10})-(\\d{1,2})-(\\d{1,2})[T ](\\d{1,2}):(\\d{1,2})(?::(\\d{1,2})(?:\\.(\\d{0,9}))?)?(${OFFSET})$`,
)
const DATE_OFFSET = new RegExp(`(${OFFSET})$`)

/** Days with 2^31 = 1970-01-01, as stored. `2024-01-31`, or that number itself. Undefined: none. */
export function parseDate(text: string): bigint | undefined {
  if (/^-?\d+$/.test(text)) {
    const raw = BigInt(text)
    return raw >= 0n && raw < 2n ** 32n ? raw : undefined
  }
  const match = DATE.exec(text)
  if (match === null || match[0].length !== text.length) return undefined
  const days = daysOf(match, 'strict')
  if (days === undefined) return undefined
  const stored = days + 2n ** 31n
  return stored >= 0n && stored < 2n ** 32n ? stored : undefined
}

/** Nanoseconds of the day. `10:11:12`, `10:11:12.123456789`, or the number itself. Undefined: none. */
export function parseTime(text: string): bigint | undefined {
  if (/^-?\d+$/.test(text)) {
    const raw = BigInt(text)
    return raw >= 0n && raw < NANOS_PER_DAY ? raw : undefined
  }
  const match = /^\s*(\d+):(\d+):(\d+)(?:\.(\d{1,9}))?\s*$/.exec(text)
  if (match === null) return undefined
  const [hour, minute, second] = match.slice(1, 4).map(Number)
  if (hour > 23 || minute > 59 || second > 59) return undefined
  return BigInt(hour * 3600 + minute * 60 + second) * 10n ** 9n + BigInt((match[4] ?? '').padEnd(9, '0'))
}

/** Milliseconds since the epoch. ISO 8601 with T or a blank, or the number itself. Undefined: none. */
export function parseTimestamp(text: string): bigint | undefined {
  let ms: bigint | undefined
  if (/^-?\d+$/.test(text)) ms = BigInt(text)
  else ms = parseDateTime(text) ?? parseDateOnly(text)
  return ms !== undefined && ms >= -MAX_LONG - 1n && ms <= MAX_LONG ? ms : undefined
}

function parseDateTime(text: string): bigint | undefined {
  const match = DATE_TIME.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second = '0', fraction = '', offset] = match
  const days = daysOf([text, year, month, day], 'clamp')
  const shift = offsetOf(offset)
  if (days === undefined || shift === undefined || Number(year) < 1) return undefined
  if (Number(hour) > 24 || Number(minute) > 59 || Number(second) > 59) return undefined
  // 24:00 is the next day's midnight.
  if (Number(hour) === 24 && Number(minute + second + fraction) > 0) return undefined
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second)
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3))
  return days * MS_PER_DAY + BigInt(seconds * 1000 + milliseconds - shift)
}

// A date alone: ISO_DATE (any year), or with an offset.
function parseDateOnly(text: string): bigint | undefined {
  const match = DATE.exec(text)
  if (match === null) return undefined
  const rest = DATE_OFFSET.exec(text.slice(match[0].length))
  if (rest === null || rest.index !== 0) return undefined
  const days = daysOf(match, 'clamp')
  const shift = offsetOf(rest[1])
  return days === undefined || shift === undefined ? undefined : days * MS_PER_DAY - BigInt(shift)
}

/** Milliseconds east of UTC. */
function offsetOf(text: string): number | undefined {
  const match = /([+-])(\d\d):?(\d\d)?$/.exec(text)
  if (match === null) return 0
  const [hours, minutes] = [Number(match[2]), Number(match[3] ?? 0)]
  if (minutes > 59 || hours * 60 + minutes > 18 * 60) return undefined
  return (hours * 60 + minutes) * 60000 * (match[1] === '-' ? -1 : 1)
}

/**
 * Days since the epoch of [, year, month, day]. Java's SMART style, which Cassandra uses for timestamps, takes a day beyond the
 * month's end (up to 31) for the last one; dates are strict.
 */
function daysOf([, yearText, monthText, dayText]: readonly string[], style: 'strict' | 'clamp'): bigint | undefined {
  const year = Number(yearText)
  const month = Number(monthText)
  const last = daysInMonth(year, month)
  const day = style === 'clamp' ? Math.min(Number(dayText), last) : Number(dayText)
  if (month < 1 || month > 12 || day < 1 || day > last || Number(dayText) > 31) return undefined
  return BigInt(daysFromCivil(year, month, day))
}

function daysInMonth(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** Proleptic Gregorian, counted in years that begin in March: leap days come last then. */
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  return 365 * y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + dayOfYear - 719468
}
