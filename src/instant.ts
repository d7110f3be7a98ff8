// Moments in requests. `now`, at which TTLs are judged, is in epoch seconds, as Cassandra counts local deletion times; `since` and
// `until`, which are compared with write times, are in epoch microseconds. Both may be given in ISO 8601.

import { SluiceError } from '../storage/errors.ts'

const EPOCH_SECONDS = /^-?\d{1,11}$/
const EPOCH_MICROSECONDS = /^-?\d{1,19}$/
// In a query string an unescaped + is a space: 12:00:00+02:00 may arrive as '12:00:00 02:00'.
const ISO_8601 = /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(:\d{2})?(?:[.,](\d{1,9}))?(Z|z|[+\- ]\d{2}(?::?\d{2})?)?)?$/

/**
 * Epoch seconds. A fraction of a second is dropped; a time without an offset is UTC, a date alone its first second.
 * @throws SluiceError BAD_PARAMETER
 */
export function parseInstant(parameter: string, text: string): number {
  if (EPOCH_SECONDS.test(text)) return Number(text)
  const iso = isoMoment(text)
  if (iso !== undefined) return iso.seconds
  throw new SluiceError('BAD_PARAMETER', {
    parameter,
    value: text.slice(0, 200),
    expected: 'epoch seconds or ISO 8601, such as 1717200000 or 2024-06-01T00:00:00Z',
  })
}

/** Epoch microseconds, in 64 bits. @throws SluiceError BAD_PARAMETER */
export function parseMicroseconds(parameter: string, text: string): bigint {
  const iso = isoMoment(text)
  if (iso !== undefined) return BigInt(iso.seconds) * 1_000_000n + BigInt(iso.microseconds)
  const value = EPOCH_MICROSECONDS.test(text) ? BigInt(text) : undefined
  if (value !== undefined && value === BigInt.asIntN(64, value)) return value
  throw new SluiceError('BAD_PARAMETER', {
    parameter,
    value: text.slice(0, 200),
    expected: 'epoch microseconds or ISO 8601, such as 1717200000000000 or 2024-06-01T00:00:00Z',
  })
}

/** The current second. */
export function currentSecond(): number {
  return Math.floor(Date.now() / 1000)
}

function isoMoment(text: string): { seconds: number; microseconds: number } | undefined {
  const match = ISO_8601.exec(text)
  if (match === null) return undefined
  const [, date, minutes = '00:00', seconds = ':00', fraction = '', zone] = match
  const ms = Date.parse(`${date}T${minutes}${seconds}${offset(zone)}`)
  // Date.parse takes February 30 for March 1 or 2; the day must come out as it went in.
  if (Number.isNaN(ms) || !isDate(date)) return undefined
  return { seconds: ms / 1000, microseconds: Number(fraction.padEnd(6, '0').slice(0, 6)) }
}

function offset(zone: string | undefined): string {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 'Z'
  const sign = zone[0] === '-' ? '-' : '+'
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0')
  return `${sign}${digits.slice(0, 2)}:${digits.slice(2)}`
}

function isDate(date: string): boolean {
  const ms = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date)
}
