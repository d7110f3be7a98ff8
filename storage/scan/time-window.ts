// The request's [since, until) in microseconds, as halves: for comparing write times without BigInt.

import { SluiceError } from '../errors.ts'
import type { PartitionSource } from '../rows/partition-source.ts'
import { compareTimestamps } from '../rows/unfiltered.ts'
import type { ScanRequest } from './scan-request.ts'

const MIN = -(2n ** 63n)
const MAX = 2n ** 63n - 1n

export class TimeWindow {
  readonly since: bigint
  /** Exclusive. */
  readonly until: bigint
  #sinceHi: number
  #sinceLo: number
  #lastHi: number
  #lastLo: number

  /** `until` above `since`. */
  constructor(since: bigint, until: bigint) {
    this.since = since
    this.until = until
    this.#sinceHi = highHalf(since)
    this.#sinceLo = Number(BigInt.asIntN(32, since))
    this.#lastHi = highHalf(until - 1n)
    this.#lastLo = Number(BigInt.asIntN(32, until - 1n))
  }

  /** Whether a write time lies in the window. */
  has(hi: number, lo: number): boolean {
    return (
      compareTimestamps(hi, lo, this.#sinceHi, this.#sinceLo) >= 0 &&
      compareTimestamps(hi, lo, this.#lastHi, this.#lastLo) <= 0
    )
  }

  /** Whether write times from `min` to `max`, as Statistics.db states them, can lie in the window. */
  overlaps(min: bigint, max: bigint): boolean {
    return max >= this.since && min < this.until
  }
}

/** The window of a request, undefined for one of all time. @throws SluiceError BAD_PARAMETER */
export function timeWindow({ since, until }: Pick<ScanRequest, 'since' | 'until'>): TimeWindow | undefined {
  if (since === undefined && until === undefined) return undefined
  const from = since ?? MIN
  // Of the largest timestamp nothing lies behind.
  const to = until ?? MAX + 1n
  for (const [parameter, value] of [['since', since] as const, ['until', until] as const]) {
    if (value === undefined || (value >= MIN && value <= MAX)) continue
    throw new SluiceError('BAD_PARAMETER', { parameter, value: String(value), expected: 'microseconds in 64 bits' })
  }
  if (from >= to) {
    throw new SluiceError('BAD_PARAMETER', { parameter: 'until', value: String(to), expected: `more than ${from}` })
  }
  return new TimeWindow(from, to)
}

/**
 * The sources in which a write in the window can lie. The others are merged where these hold a partition, so that what is shown is
 * never older than it is; alone they have nothing to tell.
 */
export function proposers(window: TimeWindow, sources: readonly PartitionSource[]): Set<PartitionSource> {
  return new Set(
    sources.filter(({ layout }) => {
      const { minTimestamp, maxTimestamp } = layout.sstable.statistics
      return window.overlaps(minTimestamp, maxTimestamp)
    }),
  )
}

function highHalf(value: bigint): number {
  return Number(BigInt.asIntN(32, value >> 32n))
}
