// Token ranges as Cassandra has them (org.apache.cassandra.dht.Range): start excluded, end included, `(start, end]`.
// Equal ends are the whole ring, a range whose end is not above its start wraps and is two, a missing end is the ring's minimum
// or maximum. The ring's minimum as `end` means the ring's maximum, as in Range.unwrap.
//
// What scans work with is the normal form: intervals that do not wrap, do not touch and ascend. Hence rows always come in
// ascending token order, also of a range that wraps: first (minimum, end], then (start, maximum].

import { SluiceError } from '../errors.ts'
import { compareKeyToToken, compareTokens, type Partitioner, type Token } from './partitioner.ts'

/** A run of the ring. null: no limit on that side, so that a key at the ring's very minimum is in as well. */
export interface TokenInterval {
  /** Excluded. */
  start: Token | null
  /** Included. */
  end: Token | null
}

export const WHOLE_RING: readonly TokenInterval[] = [{ start: null, end: null }]

/**
 * The range between two tokens as a user writes them, in normal form; undefined or '' is a missing end. Empty where the range
 * holds nothing (it starts at the ring's maximum). Throws BAD_RANGE.
 */
export function parseTokenRange(
  partitioner: Partitioner,
  start: string | undefined,
  end: string | undefined,
): TokenInterval[] {
  return tokenRange(partitioner, parseEnd(partitioner, 'start', start), parseEnd(partitioner, 'end', end))
}

/** `START,END` as the CLI's --range takes it; either may be missing. */
export function parseRangeText(partitioner: Partitioner, text: string): TokenInterval[] {
  const ends = text.split(',')
  if (ends.length !== 2) {
    throw new SluiceError('BAD_RANGE', { parameter: 'range', value: text, expected: 'START,END' })
  }
  return parseTokenRange(partitioner, ends[0].trim(), ends[1].trim())
}

function parseEnd(partitioner: Partitioner, parameter: string, text: string | undefined): Token | null {
  if (text === undefined || text === '') return null
  try {
    return partitioner.parseToken(text)
  } catch (error) {
    throw error instanceof SluiceError ? error.with({ parameter }) : error
  }
}

/** The normal form of `(start, end]`; null is a missing end. */
export function tokenRange(partitioner: Partitioner, start: Token | null, end: Token | null): TokenInterval[] {
  const atMinimum = (token: Token) => compareTokens(partitioner, token, partitioner.minimum) === 0
  const from = start === null || atMinimum(start) ? null : start
  const to = end === null || atMinimum(end) ? null : end
  if (from === null || to === null) return normalise(partitioner, [{ start: from, end: to }])
  const order = compareTokens(partitioner, from, to)
  if (order === 0) return [{ start: null, end: null }]
  if (order < 0) return [{ start: from, end: to }]
  return normalise(partitioner, [
    { start: null, end: to },
    { start: from, end: null },
  ])
}

/** Sorts intervals, joins those that touch or overlap, drops those that hold nothing. */
export function normalise(partitioner: Partitioner, intervals: readonly TokenInterval[]): TokenInterval[] {
  const { maximum } = partitioner
  const holdsSome = ({ start, end }: TokenInterval) => {
    if (start === null) return true
    return end === null
      ? maximum === null || compareTokens(partitioner, start, maximum) < 0
      : compareTokens(partitioner, start, end) < 0
  }
  const sorted = intervals
    .filter(holdsSome)
    .sort((a, b) =>
      a.start === null || b.start === null
        ? Number(a.start !== null) - Number(b.start !== null)
        : compareTokens(partitioner, a.start, b.start),
    )
  const result: TokenInterval[] = []
  for (const { start, end } of sorted) {
    const last = result.at(-1)
    if (
      last === undefined ||
      (last.end !== null && start !== null && compareTokens(partitioner, last.end, start) < 0)
    ) {
      result.push({ start, end })
    } else if (last.end !== null && (end === null || compareTokens(partitioner, last.end, end) < 0)) {
      last.end = end
    }
  }
  return result
}

/** What both sets hold; both in normal form, the result too. */
export function intersect(
  partitioner: Partitioner,
  a: readonly TokenInterval[],
  b: readonly TokenInterval[],
): TokenInterval[] {
  const result: TokenInterval[] = []
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    const start = later(partitioner, a[i].start, b[j].start)
    const endsFirst =
      a[i].end === null ? false : b[j].end === null || compareTokens(partitioner, a[i].end!, b[j].end!) <= 0
    const end = endsFirst ? a[i].end : b[j].end
    if (start === null || end === null || compareTokens(partitioner, start, end) < 0) result.push({ start, end })
    if (endsFirst) i++
    else j++
  }
  return normalise(partitioner, result)
}

function later(partitioner: Partitioner, a: Token | null, b: Token | null): Token | null {
  if (a === null || b === null) return a ?? b
  return compareTokens(partitioner, a, b) >= 0 ? a : b
}

/**
 * Where a key (its token at words[wordsOffset...]) stands to an interval: -1 at or before its start, 0 inside, 1 behind its end.
 * Does not allocate.
 */
export function compareToInterval(
  partitioner: Partitioner,
  interval: TokenInterval,
  words: Int32Array,
  wordsOffset: number,
  key: Uint8Array,
  keyOffset: number,
  keyLength: number,
): -1 | 0 | 1 {
  const { start, end } = interval
  if (start !== null && compareKeyToToken(partitioner, words, wordsOffset, key, keyOffset, keyLength, start) <= 0)
    return -1
  if (end !== null && compareKeyToToken(partitioner, words, wordsOffset, key, keyOffset, keyLength, end) > 0) return 1
  return 0
}

export function isWholeRing(intervals: readonly TokenInterval[]): boolean {
  return intervals.length === 1 && intervals[0].start === null && intervals[0].end === null
}

/** `(start,end]` of each interval as text, for messages and metadata; missing ends are left out. */
export function formatIntervals(partitioner: Partitioner, intervals: readonly TokenInterval[]): string {
  const token = (t: Token | null) => (t === null ? '' : partitioner.formatToken(t.words, 0, t.bytes))
  return intervals.map(({ start, end }) => `(${token(start)},${token(end)}]`).join(' ')
}
