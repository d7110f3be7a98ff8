// Restrictions of the partition: exact keys out of = and IN on all partition key columns, and token ranges out of token(...).

import { SluiceError } from '../../errors.ts'
import { compareTokens, type Partitioner, tokenBefore, tokenOf } from '../../ring/partitioner.ts'
import { compareToInterval, intersect, normalise, type TokenInterval, WHOLE_RING } from '../../ring/token-range.ts'
import type { TableSchema } from '../../schema/table.ts'
import { equalityRows, isEquality, type Relation, type TokenRelation } from './relation.ts'

// A cross product of IN lists grows fast, and every key costs a look into every SSTable's index.
const MAX_KEYS = 65_536
// FBUtilities.MAX_UNSIGNED_SHORT
const MAX_KEY_BYTES = 0xffff

/**
 * A partition key as stored: the value alone, or of each of several a u16 length, the bytes and a 0 (CompositeType).
 * @throws SluiceError BAD_PREDICATE for a longer one than can be stored
 */
export function partitionKeyBytes(values: readonly Uint8Array[]): Uint8Array {
  const length = values.length === 1 ? values[0].length : values.reduce((sum, value) => sum + value.length + 3, 0)
  if (length > MAX_KEY_BYTES) {
    throw new SluiceError('BAD_PREDICATE', { limit: MAX_KEY_BYTES, found: `a partition key of ${length} bytes` })
  }
  if (values.length === 1) return values[0]
  const key = Buffer.alloc(length)
  let at = 0
  for (const value of values) {
    key.writeUInt16BE(value.length, at)
    key.set(value, at + 2)
    at += value.length + 3
  }
  return new Uint8Array(key.buffer, key.byteOffset, length)
}

/**
 * The keys that = and IN on the partition key name, in ring order, if each of its columns has one, with the relations used up.
 * @throws SluiceError BAD_PREDICATE where they are too many
 */
export function exactKeys(
  table: TableSchema,
  partitioner: Partitioner,
  relations: readonly Relation[],
): { keys: Uint8Array[]; used: Relation[] } | undefined {
  const used = table.partitionKey.map((column) => relations.find((r) => isEquality(r) && r.columns[0] === column))
  if (used.includes(undefined)) return undefined
  let rows: Uint8Array[][] = [[]]
  for (const relation of used) {
    if (relation === undefined || !isEquality(relation)) continue
    const choices = equalityRows(relation)
    if (rows.length * choices.length > MAX_KEYS) {
      throw new SluiceError('BAD_PREDICATE', {
        limit: MAX_KEYS,
        reason: 'IN on the partition key makes too many keys',
      })
    }
    rows = rows.flatMap((row) => choices.map((values) => [...row, ...values]))
  }
  return { keys: ringOrder(partitioner, rows.map(partitionKeyBytes)), used: used as Relation[] }
}

/** Sorted by token, then key; without duplicates. */
function ringOrder(partitioner: Partitioner, keys: Uint8Array[]): Uint8Array[] {
  const compareKeys = (a: Uint8Array, b: Uint8Array) => partitioner.compareKeys(a, 0, a.length, b, 0, b.length)
  const placed = keys.map((key) => ({ key, token: tokenOf(partitioner, key) }))
  placed.sort((a, b) => compareTokens(partitioner, a.token, b.token) || compareKeys(a.key, b.key))
  return placed.filter(({ key }, i) => i === 0 || compareKeys(placed[i - 1].key, key) !== 0).map(({ key }) => key)
}

/** Those of the keys that lie in the intervals. */
export function keysWithin(
  partitioner: Partitioner,
  keys: readonly Uint8Array[],
  intervals: readonly TokenInterval[],
): Uint8Array[] {
  return keys.filter((key) => {
    const { words } = tokenOf(partitioner, key)
    return intervals.some((i) => compareToInterval(partitioner, i, words, 0, key, 0, key.length) === 0)
  })
}

/** The part of the ring that all the token relations allow, in normal form. */
export function tokenIntervals(partitioner: Partitioner, relations: readonly TokenRelation[]): TokenInterval[] {
  let intervals: TokenInterval[] = [...WHOLE_RING]
  for (const relation of relations) {
    intervals = intersect(partitioner, intervals, normalise(partitioner, [interval(partitioner, relation)]))
  }
  return intervals
}

/**
 * Unlike in a token range, equal or crossing ends hold nothing. The ring's minimum as an upper bound is the ring's end, as in
 * StatementRestrictions.getPartitionKeyBoundsForTokenRestrictions.
 */
function interval(partitioner: Partitioner, { operator, token }: TokenRelation): TokenInterval {
  const atMinimum = compareTokens(partitioner, token, partitioner.minimum) === 0
  switch (operator) {
    case '>':
      return { start: atMinimum ? null : token, end: null }
    case '>=':
      return { start: atMinimum ? null : tokenBefore(partitioner, token.words), end: null }
    case '<=':
      return { start: null, end: atMinimum ? null : token }
    case '<':
      return { start: null, end: atMinimum ? null : tokenBefore(partitioner, token.words) }
    case '=':
      return { start: atMinimum ? null : tokenBefore(partitioner, token.words), end: token }
  }
}
