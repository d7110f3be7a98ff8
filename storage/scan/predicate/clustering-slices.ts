// Restrictions of clustering columns as slices of the partition: an equality on each of the first columns, then at most one
// range (Cassandra: ClusteringColumnRestrictions, and for tuples over columns of both directions MultiColumnRestriction). Bounds are
// in comparator order, so that DESC columns have theirs swapped; what fits no slice is left to the filter.
//
// A slice with a bound on one side alone reaches to the end of its prefix on the other, as in Cassandra: null values, which
// COMPACT STORAGE tables can have in their last clustering columns and which sort first, are inside of `c < 1`.

import { comparePrefixes } from '../../ring/clustering-prefix.ts'
import type { ColumnSchema, TableSchema } from '../../schema/table.ts'
import { type CompareRelation, equalityRows, isEquality, type Relation } from './relation.ts'

/** A place before or behind all clusterings that begin with `values`: as a start before if inclusive, as an end behind. */
export interface ClusteringBound {
  /** Never null; fewer than the clustering columns, or none: then the bound is the partition's own and inclusive. */
  values: Uint8Array[]
  inclusive: boolean
}

export interface ClusteringSlice {
  start: ClusteringBound
  end: ClusteringBound
}

// Equalities on several columns multiply. Where they would make more slices than this, the rest is left to the filter.
const MAX_SLICES = 4096

/**
 * Ascending, disjoint slices that hold all rows which the used relations allow, and no others. undefined: the whole partition; an
 * empty list: nothing.
 */
export function clusteringSlices(
  table: TableSchema,
  relations: readonly Relation[],
): { slices: ClusteringSlice[] | undefined; used: Relation[] } {
  const { clustering } = table
  const used: Relation[] = []
  let prefixes: Uint8Array[][] = [[]]
  let at = 0
  while (at < clustering.length) {
    const equality = relations.find((r) => isEquality(r) && r.columns[0] === clustering[at])
    if (equality === undefined || !isEquality(equality)) break
    const choices = distinct(equality.columns, equalityRows(equality))
    if (prefixes.length * choices.length > MAX_SLICES) break
    prefixes = prefixes.flatMap((prefix) => choices.map((values) => [...prefix, ...values]))
    used.push(equality)
    at += equality.columns.length
  }
  const range = at < clustering.length ? rangeAt(clustering.slice(at), relations) : undefined
  if (range !== undefined && prefixes.length * range.slices.length <= MAX_SLICES) {
    used.push(...range.used)
    const slices = prefixes.flatMap((prefix) => range.slices.map((slice) => under(prefix, slice)))
    return { slices: ascending(clustering, slices), used }
  }
  if (at === 0) return { slices: undefined, used }
  const whole = prefixes.map((values) => ({ start: { values, inclusive: true }, end: { values, inclusive: true } }))
  return { slices: ascending(clustering, whole), used }
}

function under(prefix: Uint8Array[], { start, end }: ClusteringSlice): ClusteringSlice {
  const bound = ({ values, inclusive }: ClusteringBound) => ({ values: [...prefix, ...values], inclusive })
  return { start: bound(start), end: bound(end) }
}

/** The range that starts with the first column, out of a lower and an upper relation if there are both; as slices below a prefix. */
function rangeAt(
  columns: readonly ColumnSchema[],
  relations: readonly Relation[],
): { slices: ClusteringSlice[]; used: Relation[] } | undefined {
  const column = columns[0]
  const ranges = relations.filter((r) => r.kind === 'compare' && r.operator !== '=' && r.columns[0] === column)
  const lower = (ranges as CompareRelation[]).find((r) => r.operator === '>' || r.operator === '>=')
  const upper = (ranges as CompareRelation[]).find((r) => r.operator === '<' || r.operator === '<=')
  const mixed = [lower, upper].find((r) => r?.columns.some((c) => c.reversed !== column.reversed))
  if (mixed !== undefined) return { slices: stairs(mixed), used: [mixed] }
  if (lower === undefined && upper === undefined) return undefined
  const [first, last] = column.reversed ? [upper, lower] : [lower, upper]
  const slice = { start: boundOf(first), end: boundOf(last) }
  const used = [lower, upper].filter((r) => r !== undefined)
  return { slices: isEmpty(columns, slice) ? [] : [slice], used }
}

function boundOf(relation: CompareRelation | undefined): ClusteringBound {
  if (relation === undefined) return { values: [], inclusive: true }
  return { values: relation.values, inclusive: relation.operator.endsWith('=') }
}

/** The slice ends at or before its start. */
function isEmpty(columns: readonly ColumnSchema[], { start, end }: ClusteringSlice): boolean {
  if (start.values.length === 0 || end.values.length === 0) return false
  return compareBounds(columns, start, true, end, false) >= 0
}

/**
 * (a, b) > (x, y) with a and b in opposite directions: a > x, and a = x with b > y. Only the last step may include its values.
 */
function stairs({ columns, operator, values }: CompareRelation): ClusteringSlice[] {
  return columns.map((column, i) => {
    const prefix = values.slice(0, i)
    const inclusive = operator.endsWith('=') && i === columns.length - 1
    const step = { values: values.slice(0, i + 1), inclusive }
    const open = { values: prefix, inclusive: true }
    const isLower = operator.startsWith('>')
    return isLower !== column.reversed ? { start: step, end: open } : { start: open, end: step }
  })
}

function distinct(columns: readonly ColumnSchema[], rows: Uint8Array[][]): Uint8Array[][] {
  const sorted = [...rows].sort((a, b) => comparePrefixes(columns, a, b))
  return sorted.filter((row, i) => i === 0 || comparePrefixes(columns, sorted[i - 1], row) !== 0)
}

function ascending(columns: readonly ColumnSchema[], slices: ClusteringSlice[]): ClusteringSlice[] {
  return slices.sort((a, b) => compareBounds(columns, a.start, true, b.start, true))
}

/** Order of two bounds, each the start or the end of a slice. */
export function compareBounds(
  columns: readonly ColumnSchema[],
  a: ClusteringBound,
  aIsStart: boolean,
  b: ClusteringBound,
  bIsStart: boolean,
): number {
  const order = comparePrefixes(columns, a.values, b.values)
  if (order !== 0) return order
  // Before (-1) or behind (1) all that begins with the bound's values.
  const aSide = aIsStart === a.inclusive ? -1 : 1
  const bSide = bIsStart === b.inclusive ? -1 : 1
  if (a.values.length === b.values.length) return aSide - bSide
  return a.values.length < b.values.length ? aSide : -bSide
}
