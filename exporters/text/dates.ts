// Dates, times and timestamps as Cassandra 5.0 prints them. Timestamps in SELECT JSON come from the pattern "yyyy-MM-dd HH:mm:ss.SSSX"
// (o.a.c.serializers.TimestampSerializer), whose yyyy is java.time's year of era: year 0 is 0001, -1 is 0002, and four digits are
// exceeded with a plus. Dates come from ISO_LOCAL_DATE (SimpleDateSerializer), whose year is proleptic and may be negative.

import { paddedAt, wholeAt } from './numbers.ts'
import { putAscii, type TextSink } from './sink.ts'

const MINUS = 0x2d
const PLUS = 0x2b
const COLON = 0x3a
const POINT = 0x2e
const ZULU = 0x5a

/** No date with its time is longer: +292278994-08-17 07:12:55.807Z. */
const LONGEST = 40

const NANOS_PER_MINUTE = 60_000_000_000

/** Days since 1970-01-01. */
export function putDate(out: TextSink, days: number): void {
  out.reserve(LONGEST)
  dateAt(out, days, false)
}

/** High half of the nanoseconds of a day. */
const HIGHEST_TIME = 20_116

/** Nanoseconds since midnight as int32 halves: HH:mm:ss.nnnnnnnnn. */
export function putTime(out: TextSink, high: number, low: number): void {
  if (high < 0 || high > HIGHEST_TIME) {
    putOddTime(out, high, low)
    return
  }
  out.reserve(LONGEST)
  const nanos = high * 0x100000000 + (low >>> 0)
  const minutes = Math.floor(nanos / NANOS_PER_MINUTE)
  const rest = nanos - minutes * NANOS_PER_MINUTE
  const seconds = Math.floor(rest / 1e9)
  clockAt(out, minutes, seconds)
  out.bytes[out.at++] = POINT
  paddedAt(out.bytes, out.at, rest - seconds * 1e9, 9)
  out.at += 9
}

/**
 * Cassandra takes any 64 bits for a time when it is written, and its SELECT JSON fails on those that are none. Here they are written
 * out as they are, with a sign and as many hours as there are.
 */
function putOddTime(out: TextSink, high: number, low: number): void {
  const value = (BigInt(high) << 32n) | BigInt(low >>> 0)
  const nanos = value < 0n ? -value : value
  const seconds = nanos / 1_000_000_000n
  const two = (part: bigint): string => part.toString().padStart(2, '0')
  const clock = `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}`
  putAscii(out, `${value < 0n ? '-' : ''}${clock}.${(nanos % 1_000_000_000n).toString().padStart(9, '0')}`)
}

/** How a timestamp is written: as SELECT JSON does, or by ISO 8601 with a T and a proleptic year, which loses nothing. */
export type TimestampForm = 'json' | 'iso'

/** Milliseconds since 1970-01-01 UTC as int32 halves. */
export function putTimestamp(out: TextSink, high: number, low: number, form: TimestampForm): void {
  out.reserve(LONGEST)
  // Long division by a minute; every step is exact in a double.
  const upper = Math.floor(high / 60_000)
  const rest = (high - upper * 60_000) * 0x100000000 + (low >>> 0)
  const lower = Math.floor(rest / 60_000)
  const millis = rest - lower * 60_000
  const minutes = upper * 0x100000000 + lower
  const days = Math.floor(minutes / 1440)
  dateAt(out, days, form === 'json')
  out.bytes[out.at++] = form === 'json' ? 0x20 : 0x54
  const seconds = (millis / 1000) | 0
  clockAt(out, minutes - days * 1440, seconds)
  const { bytes, at } = out
  bytes[at] = POINT
  paddedAt(bytes, at + 1, millis - seconds * 1000, 3)
  bytes[at + 4] = ZULU
  out.at = at + 5
}

function clockAt(out: TextSink, minuteOfDay: number, seconds: number): void {
  const { bytes, at } = out
  const hours = (minuteOfDay / 60) | 0
  paddedAt(bytes, at, hours, 2)
  bytes[at + 2] = COLON
  paddedAt(bytes, at + 3, minuteOfDay - hours * 60, 2)
  bytes[at + 5] = COLON
  paddedAt(bytes, at + 6, seconds, 2)
  out.at = at + 8
}

/** The proleptic Gregorian date, by counting eras of 400 years from 0000-03-01 (146,097 days each). */
function dateAt(out: TextSink, days: number, yearOfEra: boolean): void {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const day = shifted - era * 146_097
  const yearInEra = ((day - ((day / 1460) | 0) + ((day / 36_524) | 0) - ((day / 146_096) | 0)) / 365) | 0
  const dayOfYear = day - (365 * yearInEra + (yearInEra >> 2) - ((yearInEra / 100) | 0))
  const marchMonth = ((5 * dayOfYear + 2) / 153) | 0
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  let year = yearInEra + era * 400 + (month <= 2 ? 1 : 0)
  if (yearOfEra && year <= 0) year = 1 - year
  const { bytes } = out
  let at = out.at
  if (year < 0) {
    bytes[at++] = MINUS
    year = -year
  } else if (year > 9999) {
    bytes[at++] = PLUS
  }
  if (year > 9999) {
    at = wholeAt(bytes, at, year)
  } else {
    paddedAt(bytes, at, year, 4)
    at += 4
  }
  bytes[at] = MINUS
  paddedAt(bytes, at + 1, month, 2)
  bytes[at + 3] = MINUS
  paddedAt(bytes, at + 4, dayOfYear - (((153 * marchMonth + 2) / 5) | 0) + 1, 2)
  out.at = at + 6
}
