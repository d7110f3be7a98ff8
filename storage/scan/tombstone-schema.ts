// The columns of deletions as rows: which of them there are, and under what names.
//
//   the partition key's columns
//   kind                  partition, range, row, liveness, collection or cell
//   start_CK.., end_CK..  clustering, in the table's clustering order: both alike but for ranges; null where a bound has no value
//                         (any more), and for partitions and static columns
//   start_inclusive, end_inclusive
//   column                name of the column, of collections and cells
//   path, path_bytes      of an element: its key as a CQL literal (of a UDT the field's name), and as bytes
//   timestamp             microseconds: what was written at or before it is deleted
//   local_deletion_time   epoch seconds by the clock of the node that took the deletion
//   expired_ttl           seconds: not deleted but expired, at local_deletion_time + expired_ttl; else null

import type { BatchSchema, Field } from '../rows/batch.ts'
import { fieldOf } from '../rows/columns/field.ts'
import type { CqlType } from '../schema/cql-type.ts'
import { formatCqlType } from '../schema/cql-type-text.ts'
import type { ColumnSchema, TableSchema } from '../schema/table.ts'

export const KINDS = ['partition', 'range', 'row', 'liveness', 'collection', 'cell'] as const
export type TombstoneKind = (typeof KINDS)[number]

const TAIL: [name: string, kind: 'text' | 'boolean' | 'blob' | 'bigint' | 'int'][] = [
  ['start_inclusive', 'boolean'],
  ['end_inclusive', 'boolean'],
  ['column', 'text'],
  ['path', 'text'],
  ['path_bytes', 'blob'],
  ['timestamp', 'bigint'],
  ['local_deletion_time', 'bigint'],
  ['expired_ttl', 'int'],
]

/** Fields in the order above. A name that a column of the key has already taken gets underscores behind it. */
export function tombstoneFields(table: TableSchema): Field[] {
  const taken = new Set(table.partitionKey.map((c) => c.name))
  const computed = (name: string, type: CqlType): Field => {
    let free = name
    while (taken.has(free)) free += '_'
    taken.add(free)
    const cqlType = formatCqlType(type)
    return fieldOf(free, type, {}, { kind: 'computed', position: -1, reversed: false, cqlType })
  }
  return [
    ...table.partitionKey.map(keyField),
    computed('kind', { kind: 'text' }),
    ...table.clustering.map((c) => computed(`start_${c.name}`, c.type)),
    ...table.clustering.map((c) => computed(`end_${c.name}`, c.type)),
    ...TAIL.map(([name, kind]) => computed(name, { kind })),
  ]
}

function keyField({ name, type, kind, position, reversed }: ColumnSchema): Field {
  return fieldOf(name, type, {}, { kind, position, reversed, cqlType: formatCqlType(type) })
}

export function tombstoneSchema(table: TableSchema, metadata: Map<string, string>): BatchSchema {
  return { fields: tombstoneFields(table), metadata }
}
