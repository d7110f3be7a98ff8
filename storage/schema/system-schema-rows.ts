// From the live rows of system_schema to a Schema (Cassandra's SchemaKeyspace.fetch...).

import { isSluiceError, SluiceError } from '../errors.ts'
import { compactKindOf, compareNames, hideCompactColumns } from './compact.ts'
import { parseCqlType, type UdtLookup } from './cql-type-text.ts'
import type { Schema } from './schema.ts'
import type { ColumnKind, ColumnSchema, DroppedColumn, TableSchema } from './table.ts'
import { udtRegistry } from './udt-registry.ts'
import { asView } from './view.ts'

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

/** A table that cannot be understood becomes one of the schema's faults; the rest stands. */
export function buildSchema(rows: SystemSchemaRows): Schema {
  const lookup = readTypes(rows)
  const schema: Schema = {
    keyspaces: rows.keyspaces.map((row) => row.keyspace_name),
    tables: [],
    udts: [],
    faults: [],
  }
  for (const row of rows.types) {
    // Tables that use a type which cannot be read fail with the same error.
    const udt = attempt(() => lookup(row.keyspace_name, row.type_name)!)
    if (!isSluiceError(udt)) schema.udts.push(udt)
  }
  const columns = groupByTable(rows.columns)
  const dropped = groupByTable(rows.dropped_columns ?? [])
  const add = (keyspace: string, table: string, read: (columns: ColumnRow[]) => TableSchema): void => {
    const found = attempt(() => read(columns.get(tableKey(keyspace, table)) ?? []))
    if (!isSluiceError(found)) schema.tables.push(found)
    else schema.faults.push({ keyspace, table, error: found.with({ keyspace, table }) })
  }
  for (const row of rows.tables) {
    const { keyspace_name: keyspace, table_name: table } = row
    const flags = row.flags ?? ['compound']
    const drops = dropped.get(tableKey(keyspace, table)) ?? []
    add(keyspace, table, (own) => readTable(keyspace, table, row.id, flags, own, drops, lookup))
  }
  const bases = new Map(schema.tables.map((table) => [tableKey(table.keyspace, table.table), table]))
  for (const row of rows.views ?? []) {
    const { keyspace_name: keyspace, view_name: name } = row
    const base = row.base_table_name ?? ''
    add(keyspace, name, (own) => {
      const view = readTable(keyspace, name, row.id, ['compound'], own, [], lookup)
      return asView(view, base, bases.get(tableKey(keyspace, base)))
    })
  }
  return schema
}

function attempt<Result>(read: () => Result): Result | SluiceError {
  try {
    return read()
  } catch (error) {
    if (isSluiceError(error)) return error
    throw error
  }
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
