// The tables of system_schema as 3.0 to 5.0 write them (Cassandra's SchemaKeyspace): fixed layouts, so that a node's schema can be
// read from its own SSTables before any schema is known. Key columns and what the product uses; an SSTable's header names further
// columns, which are `dropped` here in effect: read over.

import type { CqlType } from './cql-type.ts'
import type { ColumnSchema, TableSchema } from './table.ts'

const TEXT: CqlType = { kind: 'text' }
const INT: CqlType = { kind: 'int' }
const UUID: CqlType = { kind: 'uuid' }
const TEXT_MAP: CqlType = { kind: 'map', key: TEXT, value: TEXT, frozen: true }
const TEXT_LIST: CqlType = { kind: 'list', element: TEXT, frozen: true }
const TEXT_SET: CqlType = { kind: 'set', element: TEXT, frozen: true }

/** Every table of it that the product reads, by name. All are keyed by keyspace_name, one partition a keyspace. */
export const SYSTEM_SCHEMA_TABLES: Record<SystemSchemaTable, TableSchema> = {
  keyspaces: systemTable('keyspaces', [], { durable_writes: { kind: 'boolean' }, replication: TEXT_MAP }),
  tables: systemTable('tables', ['table_name'], { comment: TEXT, flags: TEXT_SET, id: UUID }),
  columns: systemTable('columns', ['table_name', 'column_name'], {
    clustering_order: TEXT,
    column_name_bytes: { kind: 'blob' },
    kind: TEXT,
    position: INT,
    type: TEXT,
  }),
  dropped_columns: systemTable('dropped_columns', ['table_name', 'column_name'], {
    dropped_time: { kind: 'timestamp' },
    kind: TEXT,
    type: TEXT,
  }),
  types: systemTable('types', ['type_name'], { field_names: TEXT_LIST, field_types: TEXT_LIST }),
  views: systemTable('views', ['view_name'], {
    base_table_id: UUID,
    base_table_name: TEXT,
    id: UUID,
    include_all_columns: { kind: 'boolean' },
    where_clause: TEXT,
  }),
  indexes: systemTable('indexes', ['table_name', 'index_name'], { kind: TEXT, options: TEXT_MAP }),
}

export type SystemSchemaTable = 'keyspaces' | 'tables' | 'columns' | 'dropped_columns' | 'types' | 'views' | 'indexes'

function systemTable(table: string, clustering: string[], regulars: Record<string, CqlType>): TableSchema {
  const column = (name: string, kind: ColumnSchema['kind'], position: number, type: CqlType): ColumnSchema => {
    return { name, kind, position, type, reversed: false }
  }
  return {
    keyspace: 'system_schema',
    table,
    partitionKey: [column('keyspace_name', 'partition_key', 0, TEXT)],
    clustering: clustering.map((name, position) => column(name, 'clustering', position, TEXT)),
    statics: [],
    regulars: Object.keys(regulars)
      .sort()
      .map((name) => column(name, 'regular', -1, regulars[name])),
    dropped: [],
    compact: 'none',
    isCounter: false,
    origin: 'system_schema',
    warnings: [],
  }
}
