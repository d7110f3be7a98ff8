// What of a table a request is for: parts of the ring, or partitions by key; slices of each; and tests on the rows. Out of the token
// range, the two positions and the predicate together. And which SSTables can have nothing to tell about it.

import { SluiceError } from '../errors.ts'
import { comparePrefixes } from '../ring/clustering-prefix.ts'
import { type Partitioner, tokenOf } from '../ring/partitioner.ts'
import { comparePartitionToPosition, comparePositions, decodePosition, type Position } from '../ring/position.ts'
import { intersect, parseTokenRange } from '../ring/token-range.ts'
import type { ColumnSchema, TableSchema } from '../schema/table.ts'
import type { SSTableData } from '../sstable/sstable.ts'
import type { CoveredClusterings } from '../sstable/statistics.ts'
import { type ClusteringSlice, compareBounds } from './predicate/clustering-slices.ts'
import type { RowFilter } from './predicate/filter.ts'
import { keysWithin } from './predicate/partition-keys.ts'
import { type PredicatePlan, planPredicate } from './predicate/plan.ts'
import { type Reach, reaches } from './scan-bounds.ts'
import type { ScanRequest } from './scan-request.ts'

export interface ScanTarget {
  /** Ascending, disjoint. */
  reaches: Reach[]
  /** The only partitions asked for, in ring order; undefined: all in the reaches. */
  keys: Uint8Array[] | undefined
  lower: Position | undefined
  upper: Position | undefined
  /** What of every partition is asked for; undefined: all. */
  slices: ClusteringSlice[] | undefined
  /** undefined: no tests. */
  filter: RowFilter | undefined
  restrictsRows: boolean
}

export type RangeRequest = Pick<ScanRequest, 'start' | 'end' | 'where' | 'distinct' | 'after' | 'from' | 'to'>

/** @throws SluiceError BAD_RANGE, BAD_POSITION, BAD_PREDICATE, UNKNOWN_COLUMN */
export function scanTarget(table: TableSchema, partitioner: Partitioner, request: RangeRequest): ScanTarget {
  const scope = `${table.keyspace}.${table.table}`
  const position = (text: string | undefined) =>
    text === undefined ? undefined : decodePosition(partitioner, scope, table.clustering.length, text)
  const compare = (a: Position, b: Position) =>
    comparePositions(partitioner, (x, y) => comparePrefixes(table.clustering, x, y), a, b)
  const from = position(request.from)
  const after = position(request.after)
  const lower = from === undefined || (after !== undefined && compare(after, from) > 0) ? after : from
  const upper = position(request.to)
  const plan = request.where === undefined ? undefined : planPredicate(request.where, table, partitioner)
  if (request.distinct && plan !== undefined) checkDistinct(plan)

  const range = parseTokenRange(partitioner, request.start, request.end)
  const intervals = plan === undefined ? range : intersect(partitioner, range, plan.tokens)
  const keys = plan?.keys && keysWithin(partitioner, plan.keys, intervals)
  const nothing = plan?.slices?.length === 0
  const { filter } = plan ?? {}
  return {
    reaches: nothing ? [] : reaches(partitioner, table.clustering, intervals, lower, upper),
    keys: nothing ? [] : keys?.filter((key) => isWithin(partitioner, key, lower, upper)),
    lower,
    upper,
    slices: plan?.slices,
    filter: filter?.hasRowTests || filter?.hasPartitionTests ? filter : undefined,
    restrictsRows: plan?.restrictsRows ?? false,
  }
}

function isWithin(
  partitioner: Partitioner,
  key: Uint8Array,
  lower: Position | undefined,
  upper: Position | undefined,
): boolean {
  const { words } = tokenOf(partitioner, key)
  const standing = (position: Position) =>
    comparePartitionToPosition(partitioner, words, 0, key, 0, key.length, position)
  return (lower === undefined || standing(lower) >= 0) && (upper === undefined || standing(upper) <= 0)
}

/** As in Cassandra (SelectStatement.validateDistinctSelection): a row per partition can be chosen by what partitions have alone. */
function checkDistinct({ restrictsRows }: PredicatePlan): void {
  if (!restrictsRows) return
  throw new SluiceError('BAD_PREDICATE', {
    parameter: 'where',
    reason: 'with distinct only partition key and static columns can be restricted',
  })
}

/**
 * Whether an SSTable has rows or deletions in the slices, as far as its statistics tell. They span rows and range deletions, not static
 * rows and partition deletions; an SSTable that has such is kept where they count.
 */
export function mayHold(
  table: TableSchema,
  sstable: SSTableData,
  slices: readonly ClusteringSlice[] | undefined,
  showsStatics: boolean,
): boolean {
  const { covered, hasPartitionLevelDeletions, header } = sstable.statistics
  if (slices === undefined || covered === null || hasPartitionLevelDeletions) return true
  if (showsStatics && header.statics.length > 0) return true
  const span = spanOf(table.clustering, covered)
  return span === undefined || slices.some((slice) => overlaps(table.clustering, slice, span))
}

const EXCL_END = 0
const INCL_START = 1
const CLUSTERING = 4
const INCL_END = 6
const EXCL_START = 7

/** The covered clusterings as a slice; undefined where they are in a form that no slice has. */
function spanOf(columns: readonly ColumnSchema[], { start, end }: CoveredClusterings): ClusteringSlice | undefined {
  const first = prefixOf(columns, start.values)
  const last = prefixOf(columns, end.values)
  if (first === undefined || last === undefined) return undefined
  if (![INCL_START, CLUSTERING, EXCL_START].includes(start.kind)) return undefined
  if (![INCL_END, CLUSTERING, EXCL_END].includes(end.kind)) return undefined
  return {
    start: { values: first, inclusive: start.kind !== EXCL_START || first.length === 0 },
    end: { values: last, inclusive: end.kind !== EXCL_END || last.length === 0 },
  }
}

function prefixOf(columns: readonly ColumnSchema[], values: readonly (Uint8Array | null)[]): Uint8Array[] | undefined {
  const present = values.filter((value) => value !== null)
  return present.length === values.length && values.length <= columns.length ? present : undefined
}

function overlaps(columns: readonly ColumnSchema[], a: ClusteringSlice, b: ClusteringSlice): boolean {
  return (
    compareBounds(columns, a.start, true, b.end, false) < 0 && compareBounds(columns, b.start, true, a.end, false) < 0
  )
}
