// From the live rows of system_schema to a Schema (Cassandra's SchemaKeyspace.fetch...).

import { isSluiceError, SluiceError } from '../errors.ts'
import { compactKindOf, compareNames, hideCompactColumns } from './compact.ts'
import { parseCqlType, type UdtLookup } from './cql-type-text.ts'
import { emptySchema, keyspaceOf, type Schema } from './schema.ts'
import type { ColumnKind, ColumnSchema, DroppedColumn, TableSchema } from './table.ts'
import { udtRegistry } from './udt-registry.ts'

/** Rows of the tables in SYSTEM_SCHEMA_TABLES. uuids in hex, with or without dashes; null or absent = no value. */
export interface SystemSchemaRows {
  keyspaces: { keyspace_name: string }[]
  tables: TableRow[]
  columns: ColumnRow[]
  types: { keyspace_name: string; type_name: string; field_names?: string[] | null; field_types?: string[] | null }[]
  views?: ViewRow[]
  dropped_columns?: DroppedColumnRow[]
}
export interface TableRow {
  keyspace_name: string
  table_name: string
  id?: string | null
  flags?: string[] | null
}
export interface ViewRow {
  keyspace_name: string
  view_name: string
  id?: string | null
  base_table_name?: string | null
}
export interface ColumnRow {
  keyspace_name: string
  table_name: string
  column_name: string
  column_name_bytes?: Uint8Array | null
  kind?: string | null
  position?: number | null
  clustering_order?: string | null
  type?: string | null
}
export interface DroppedColumnRow {
  keyspace_name: string
  table_name: string
  column_name: string
  /** Epoch milliseconds, as the table stores it. */
  dropped_time?: bigint | null
  kind?: string | null
}

/** A table that cannot be understood becomes a fault of its keyspace; the rest stands. */
export function buildSchema(rows: SystemSchemaRows): Schema {
  const schema = emptySchema()
  for (const row of rows.keyspaces) keyspaceOf(schema, row.keyspace_name)
  const udts = readTypes(rows)
  for (const row of rows.types) {
    const keyspace = keyspaceOf(schema, row.keyspace_name)
    try {
      keyspace.udts.set(row.type_name, udts(row.keyspace_name, row.type_name)!)
    } catch (error) {
      // Tables that use the type fail with the same error, and say so when they are asked for.
      if (!isSluiceError(error)) throw error
    }
  }
  const columns = groupByTable(rows.columns)
  const dropped = groupByTable(rows.dropped_columns ?? [])
  const addTable = (keyspace: string, table: string, read: () => TableSchema): void => {
    const target = keyspaceOf(schema, keyspace)
    try {
      target.tables.set(table, read())
    } catch (error) {
      if (!isSluiceError(error)) throw error
      target.faults.set(table, error.with({ keyspace, table }))
    }
  }
  for (const row of rows.tables) {
    const { keyspace_name: keyspace, table_name: table } = row
    const key = tableKey(keyspace, table)
    const flags = row.flags ?? ['compound']
    addTable(keyspace, table, () =>
      readTable(keyspace, table, row.id, flags, columns.get(key) ?? [], dropped.get(key) ?? [], udts),
    )
  }
  for (const row of rows.views ?? []) {
    const { keyspace_name: keyspace, view_name: name } = row
    addTable(keyspace, name, () => {
      const view = readTable(
        keyspace,
        name,
        row.id,
        ['compound'],
        columns.get(tableKey(keyspace, name)) ?? [],
        [],
        udts,
      )
      return asView(
        view,
        schema.keyspaces.get(keyspace)?.tables.get(row.base_table_name ?? ''),
        row.base_table_name ?? '',
      )
    })
  }
  return schema
}

/**
 * Marks a table as a view of `base`: rows whose base has a regular column in the view's key live by their liveness alone
 * (Cassandra's enforceStrictLiveness).
 */
export function asView(view: TableSchema, base: TableSchema | undefined, baseTable: string): TableSchema {
  if (base === undefined) {
    const warning = `the base table ${baseTable} is not described: rows that it no longer supports may show`
    return { ...view, view: { baseTable, requiresLiveness: false }, warnings: [...view.warnings, warning] }
  }
  const baseKey = new Set([...base.partitionKey, ...base.clustering].map((column) => column.name))
  const requiresLiveness = [...view.partitionKey, ...view.clustering].some((column) => !baseKey.has(column.name))
  return { ...view, view: { baseTable, requiresLiveness } }
}

function readTypes(rows: SystemSchemaRows): UdtLookup {
  return udtRegistry(
    rows.types.map((row) => ({
      keyspace: row.keyspace_name,
      name: row.type_name,
      fieldNames: row.field_names ?? [],
      resolveFields: (lookup) => (row.field_types ?? []).map((text) => parseCqlType(text, lookup, row.keyspace_name)),
    })),
  )
}

function readTable(
  keyspace: string,
  table: string,
  id: string | null | undefined,
  flags: string[],
  columnRows: ColumnRow[],
  droppedRows: DroppedColumnRow[],
  udts: UdtLookup,
): TableSchema {
  const columns = columnRows.map((row) => readColumn(row, udts))
  const ofKind = (kind: ColumnKind): ColumnSchema[] => columns.filter((column) => column.kind === kind)
  const partitionKey = inPosition(ofKind('partition_key'), 'partition_key')
  if (partitionKey.length === 0) throw new SluiceError('SCHEMA_INVALID', { reason: 'the table has no partition key' })
  const compact = compactKindOf(flags)
  const stored = {
    clustering: inPosition(ofKind('clustering'), 'clustering'),
    statics: ofKind('static').sort(compareNames),
    regulars: ofKind('regular').sort(compareNames),
  }
  return {
    keyspace,
    table,
    id: id == null ? undefined : id.replaceAll('-', ''),
    partitionKey,
    ...hideCompactColumns(compact, stored),
    dropped: droppedRows.map(readDropped),
    compact,
    isCounter: flags.includes('counter') || columns.some((column) => column.type.kind === 'counter'),
    origin: 'system_schema',
    warnings: [],
  }
}

const KINDS: Record<string, ColumnKind> = {
  partition_key: 'partition_key',
  clustering: 'clustering',
  static: 'static',
  regular: 'regular',
}

function readColumn(row: ColumnRow, udts: UdtLookup): ColumnSchema {
  const { column_name: column, keyspace_name: keyspace } = row
  const kind = Object.hasOwn(KINDS, row.kind ?? '') ? KINDS[row.kind!] : undefined
  if (kind === undefined)
    throw new SluiceError('SCHEMA_INVALID', { column, expected: 'a column kind', found: row.kind ?? 'null' })
  if (row.type == null) throw new SluiceError('SCHEMA_INVALID', { column, expected: 'a type', found: 'null' })
  try {
    return {
      ...columnName(row),
      kind,
      position: row.position ?? -1,
      type: parseCqlType(row.type, udts, keyspace),
      reversed: row.clustering_order === 'desc',
    }
  } catch (error) {
    throw isSluiceError(error) ? error.with({ column }) : error
  }
}

// column_name is the text of the name under the table's comparator, column_name_bytes the name itself.
function columnName(row: ColumnRow): { name: string; nameBytes?: Uint8Array } {
  const bytes = row.column_name_bytes
  if (bytes == null || Buffer.compare(bytes, Buffer.from(row.column_name, 'utf8')) === 0)
    return { name: row.column_name }
  return { name: row.column_name, nameBytes: Uint8Array.from(bytes) }
}

function readDropped(row: DroppedColumnRow): DroppedColumn {
  return {
    name: row.column_name,
    kind: row.kind === 'static' ? 'static' : 'regular',
    droppedAt: (row.dropped_time ?? 0n) * 1000n,
  }
}

function inPosition(columns: ColumnSchema[], kind: ColumnKind): ColumnSchema[] {
  columns.sort((a, b) => a.position - b.position)
  columns.forEach((column, i) => {
    if (column.position !== i) {
      const fields = { column: column.name, expected: `position ${i} of ${kind}`, found: `${column.position}` }
      throw new SluiceError('SCHEMA_INVALID', fields)
    }
  })
  return columns
}

function groupByTable<Row extends { keyspace_name: string; table_name: string }>(rows: Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const key = tableKey(row.keyspace_name, row.table_name)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return groups
}

function tableKey(keyspace: string, table: string): string {
  return JSON.stringify([keyspace, table])
}
