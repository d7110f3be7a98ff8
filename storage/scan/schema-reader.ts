// The schema of a node out of its own system_schema SSTables, read like any table: newest state merged, deletions applied.

import type { Schema } from '../schema/schema.ts'
import { SYSTEM_SCHEMA_TABLES, type SystemSchemaTable } from '../schema/system-schema.ts'
import { buildSchema, type SystemSchemaRows } from '../schema/system-schema-rows.ts'
import type { TableDirectory } from './data-directory.ts'
import { openLive } from './live-set.ts'
import { PinnedTable } from './pinned-table.ts'
import { type RowObject, readRowObjects } from './row-objects.ts'
import { openScan } from './scan.ts'

export const SYSTEM_SCHEMA = 'system_schema'

/** What each table is read for; other columns are parameters, of no use here. */
const COLUMNS: Partial<Record<SystemSchemaTable, string>> = {
  keyspaces: 'keyspace_name',
  tables: 'keyspace_name, table_name, id, flags',
  columns: 'keyspace_name, table_name, column_name, column_name_bytes, kind, position, clustering_order, type',
  types: 'keyspace_name, type_name, field_names, field_types',
  views: 'keyspace_name, view_name, id, base_table_name',
  dropped_columns: 'keyspace_name, table_name, column_name, dropped_time, kind',
}

/** Reads and understands all keyspaces; the node's own (`system...`) are described as far as the node writes them down. */
export async function readSystemSchema(directories: readonly TableDirectory[]): Promise<Schema> {
  const rows: Record<string, RowObject[]> = {}
  for (const [table, columns] of Object.entries(COLUMNS)) {
    const paths = directories.filter((d) => d.table === table).map((d) => d.path)
    rows[table] = await readTable(table as SystemSchemaTable, columns, paths)
  }
  return buildSchema(rows as unknown as SystemSchemaRows)
}

async function readTable(table: SystemSchemaTable, columns: string, paths: string[]): Promise<RowObject[]> {
  const pinned = new PinnedTable(SYSTEM_SCHEMA_TABLES[table], await openLive(paths))
  try {
    // A schema row has no TTL, so that any `now` gives the same.
    return await readRowObjects(await openScan(pinned, { columns, now: 0 }))
  } finally {
    await pinned.release()
  }
}
