// The relations of a WHERE clause, parsed and typed: what the parser makes and the planner takes apart. They are joined by AND.
// Values are in their on-disk form (storage/schema/cql-literals.ts).

import type { Token } from '../../ring/partitioner.ts'
import type { ColumnSchema } from '../../schema/table.ts'

export type CompareOperator = '=' | '<' | '<=' | '>' | '>='

/** `c > 1`, or `(c1, c2) > (1, 2)`: more than one column only among clustering columns, in their order, without gaps. */
export interface CompareRelation {
  kind: 'compare'
  columns: ColumnSchema[]
  operator: CompareOperator
  values: Uint8Array[]
}

/** `c IN (1, 2)`, or `(c1, c2) IN ((1, 2), (3, 4))`; `rows` may be empty. */
export interface InRelation {
  kind: 'in'
  columns: ColumnSchema[]
  rows: Uint8Array[][]
}

/** `c CONTAINS v` (a list's or set's element, a map's value) or `c CONTAINS KEY v`. */
export interface ContainsRelation {
  kind: 'contains' | 'contains_key'
  column: ColumnSchema
  value: Uint8Array
}

/** `m[k] = v` */
export interface EntryRelation {
  kind: 'entry'
  column: ColumnSchema
  key: Uint8Array
  value: Uint8Array
}

export interface NotNullRelation {
  kind: 'not_null'
  column: ColumnSchema
}

/** `token(pk, ...) > t` */
export interface TokenRelation {
  kind: 'token'
  operator: CompareOperator
  token: Token
}

export type ColumnRelation = CompareRelation | InRelation | ContainsRelation | EntryRelation | NotNullRelation
export type Relation = ColumnRelation | TokenRelation

export function relationColumns(relation: ColumnRelation): ColumnSchema[] {
  return 'columns' in relation ? relation.columns : [relation.column]
}

/** The relation fixes its columns to one or a few values. */
export function isEquality(relation: Relation): relation is (CompareRelation & { operator: '=' }) | InRelation {
  return relation.kind === 'in' || (relation.kind === 'compare' && relation.operator === '=')
}

/** The values that an equality allows, one list per choice. */
export function equalityRows(relation: CompareRelation | InRelation): Uint8Array[][] {
  return relation.kind === 'in' ? relation.rows : [relation.values]
}
