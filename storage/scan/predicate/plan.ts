// Takes a WHERE clause apart by what can answer each relation: exact partition keys (index and bloom filter), a part of the ring,
// slices of the partitions (seek by index blocks), and a filter for all the rest.

import type { Partitioner } from '../../ring/partitioner.ts'
import type { TokenInterval } from '../../ring/token-range.ts'
import type { TableSchema } from '../../schema/table.ts'
import { type ClusteringSlice, clusteringSlices } from './clustering-slices.ts'
import { buildFilter, type RowFilter } from './filter.ts'
import { parseWhere } from './parse.ts'
import { exactKeys, keysWithin, tokenIntervals } from './partition-keys.ts'
import { relationColumns } from './relation.ts'

export interface PredicatePlan {
  /** The only partitions asked for, by their keys as stored, in ring order; all lie in `tokens`. undefined: any. */
  keys: Uint8Array[] | undefined
  /** The part of the ring asked for, in normal form. */
  tokens: TokenInterval[]
  /** The rows asked for in every partition: ascending, disjoint. undefined: any. Empty: none. */
  slices: ClusteringSlice[] | undefined
  /** What is to be tested on top. */
  filter: RowFilter
  /**
   * Something restricts clustering or regular columns: then a partition with only static content gives no row
   * (StatementRestrictions.returnStaticContentOnPartitionWithNoRows).
   */
  restrictsRows: boolean
}

/** @throws SluiceError BAD_PREDICATE or UNKNOWN_COLUMN, with position */
export function planPredicate(where: string, table: TableSchema, partitioner: Partitioner): PredicatePlan {
  const relations = parseWhere(where, table, partitioner)
  const onTokens = relations.filter((r) => r.kind === 'token')
  const onColumns = relations.filter((r) => r.kind !== 'token')
  const tokens = tokenIntervals(partitioner, onTokens)
  const exact = exactKeys(table, partitioner, onColumns)
  const { slices, used } = clusteringSlices(table, onColumns)
  const answered = new Set([...used, ...(exact?.used ?? [])])
  return {
    keys: exact && keysWithin(partitioner, exact.keys, tokens),
    tokens,
    slices,
    filter: buildFilter(onColumns.filter((r) => !answered.has(r))),
    // In a static compact table the columns that CQL shows as regular are stored as static ones.
    restrictsRows:
      table.compact !== 'static' &&
      onColumns.some((r) => relationColumns(r).some((c) => c.kind === 'clustering' || c.kind === 'regular')),
  }
}
