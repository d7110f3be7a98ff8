// Materialised views: tables whose rows depend on a base table's (Cassandra's ViewMetadata).

import { SluiceError } from '../errors.ts'
import type { TableSchema } from './table.ts'

/**
 * Marks a table as a view of `base`. Where a regular column of the base is in the view's key, a row lives by its liveness alone
 * (enforceStrictLiveness): its other cells may outlast the base row that put it there.
 * @throws SluiceError SCHEMA_INVALID where the base is not described: which rows live cannot be told then
 */
export function asView(view: TableSchema, baseTable: string, base: TableSchema | undefined): TableSchema {
  if (base === undefined) throw new SluiceError('SCHEMA_INVALID', { expected: 'the base table', found: baseTable })
  const baseKey = new Set([...base.partitionKey, ...base.clustering].map((column) => column.name))
  const requiresLiveness = [...view.partitionKey, ...view.clustering].some((column) => !baseKey.has(column.name))
  return { ...view, view: { baseTable, requiresLiveness } }
}
