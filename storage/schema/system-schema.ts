// The tables of system_schema as 3.0 to 5.0 write them (Cassandra's SchemaKeyspace): fixed layouts, so that a node's schema can be
// read from its own SSTables before any schema is known. Versions differ only in parameters; all of theirs are listed.

import { parseCqlType } from './cql-type-text.ts'
import type { ColumnKind, ColumnSchema, TableSchema } from './table.ts'

export type SystemSchemaTable = 'keyspaces' | 'tables' | 'columns' | 'dropped_columns' | 'types' | 'views' | 'indexes'

const PARAMETERS = {
  additional_write_policy: 'text',
  allow_auto_snapshot: 'boolean',
  bloom_filter_fp_chance: 'double',
  caching: 'frozen<map<text, text>>',
  cdc: 'boolean',
  comment: 'text',
  compaction: 'frozen<map<text, text>>',
  compression: 'frozen<map<text, text>>',
  crc_check_chance: 'double',
  dclocal_read_repair_chance: 'double',
  default_time_to_live: 'int',
  extensions: 'frozen<map<text, blob>>',
  gc_grace_seconds: 'int',
  id: 'uuid',
  incremental_backups: 'boolean',
  max_index_interval: 'int',
  memtable: 'text',
  memtable_flush_period_in_ms: 'int',
  min_index_interval: 'int',
  read_repair: 'text',
  read_repair_chance: 'double',
  speculative_retry: 'text',
}

/** Every table of it that the product reads, by name. All are keyed by keyspace_name: one partition a keyspace. */
export const SYSTEM_SCHEMA_TABLES: Record<SystemSchemaTable, TableSchema> = {
  keyspaces: systemTable('keyspaces', [], { durable_writes: 'boolean', replication: 'frozen<map<text, text>>' }),
  tables: systemTable('tables', ['table_name'], { ...PARAMETERS, flags: 'frozen<set<text>>' }),
  columns: systemTable('columns', ['table_name', 'column_name'], {
    clustering_order: 'text',
    column_name_bytes: 'blob',
    kind: 'text',
    position: 'int',
    type: 'text',
  }),
  dropped_columns: systemTable('dropped_columns', ['table_name', 'column_name'], {
    dropped_time: 'timestamp',
    kind: 'text',
    type: 'text',
  }),
  types: systemTable('types', ['type_name'], { field_names: 'frozen<list<text>>', field_types: 'frozen<list<text>>' }),
  views: systemTable('views', ['view_name'], {
    ...PARAMETERS,
    base_table_id: 'uuid',
    base_table_name: 'text',
    include_all_columns: 'boolean',
    where_clause: 'text',
  }),
  indexes: systemTable('indexes', ['table_name', 'index_name'], { kind: 'text', options: 'frozen<map<text, text>>' }),
}

function systemTable(table: string, clustering: string[], regulars: Record<string, string>): TableSchema {
  const column = (name: string, kind: ColumnKind, position: number, type: string): ColumnSchema => {
    return { name, kind, position, type: parseCqlType(type, () => undefined, 'system_schema'), reversed: false }
  }
  return {
    keyspace: 'system_schema',
    table,
    partitionKey: [column('keyspace_name', 'partition_key', 0, 'text')],
    clustering: clustering.map((name, position) => column(name, 'clustering', position, 'text')),
    statics: [],
    regulars: Object.keys(regulars)
      .sort()
      .map((name) => column(name, 'regular', -1, regulars[name])),
    dropped: [],
    compact: 'none',
    isCounter: false,
    partial: true,
    origin: 'system_schema',
    warnings: [],
  }
}
