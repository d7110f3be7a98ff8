// From a file of CQL DDL to a Schema: carries out its statements in order, reads the types at the end.

import { SluiceError } from '../errors.ts'
import { compareNames, defaultHiddenColumns } from './compact.ts'
import type { CqlCursor } from './cql-cursor.ts'
import { type CqlTextSource, faultFields } from './cql-lexer.ts'
import type { CqlType } from './cql-type.ts'
import { readCqlType, type UdtLookup } from './cql-type-text.ts'
import { DdlModel, type DeclaredTable, type DeclaredView } from './ddl-model.ts'
import { parseDdlStatements } from './ddl-statement-parser.ts'
import type { TypePlace } from './ddl-statements.ts'
import type { Schema } from './schema.ts'
import type { ColumnKind, ColumnSchema, TableSchema } from './table.ts'
import { udtRegistry } from './udt-registry.ts'
import { asView } from './view.ts'

export type { Schema } from './schema.ts'

/**
 * @param file named in errors
 * @param keyspace of tables and types without one, until USE names another
 * @throws SluiceError SCHEMA_INVALID with file, line and position
 */
export function parseDdl(text: string, file?: string, keyspace?: string): Schema {
  const source: CqlTextSource = { code: 'SCHEMA_INVALID', fields: { file } }
  const { statements, cursor } = parseDdlStatements(text, source)
  const model = new DdlModel((position, fields) => {
    return new SluiceError('SCHEMA_INVALID', { ...faultFields(text, position, source), ...fields })
  }, keyspace)
  for (const statement of statements) model.apply(statement)
  return resolve(model, cursor)
}

function resolve(model: DdlModel, cursor: CqlCursor): Schema {
  const lookup = udtRegistry(
    model.types.map(({ keyspace, name, fields }) => ({
      keyspace,
      name,
      fieldNames: fields.map((field) => field.name),
      resolveFields: (found) => fields.map((field) => typeAt(cursor, field.type, found, keyspace)),
    })),
  )
  const tables = model.tables.map((table) => resolveTable(model, table, cursor, lookup))
  const views = model.views.map((view) => resolveView(model, view, tables))
  return {
    keyspaces: [...model.keyspaces],
    tables: [...tables, ...views],
    udts: model.types.map(({ keyspace, name }) => lookup(keyspace, name)!),
    faults: [],
  }
}

function typeAt(cursor: CqlCursor, place: TypePlace, lookup: UdtLookup, keyspace: string): CqlType {
  return readCqlType({ ...cursor, at: place }, lookup, keyspace)
}

function resolveTable(model: DdlModel, table: DeclaredTable, cursor: CqlCursor, lookup: UdtLookup): TableSchema {
  const { keyspace, name, position, key, columns } = table
  const types = new Map<string, { type: CqlType; isStatic: boolean }>()
  for (const column of columns) {
    if (types.has(column.name)) throw model.fault(position, { table: name, reason: `column ${column.name} twice` })
    types.set(column.name, { type: typeAt(cursor, column.type, lookup, keyspace), isStatic: column.isStatic })
  }
  const inKey = (names: string[], kind: ColumnKind): ColumnSchema[] =>
    names.map((column, i) => {
      const found = types.get(column)
      if (found === undefined)
        throw model.fault(position, { table: name, reason: `the key column ${column} is not declared` })
      const reversed = kind === 'clustering' && table.descending.includes(column)
      return { name: column, kind, position: i, type: found.type, reversed }
    })
  const partitionKey = inKey(key.partitionKey, 'partition_key')
  const clustering = inKey(key.clustering, 'clustering')
  const keyNames = new Set([...key.partitionKey, ...key.clustering])
  if (keyNames.size < partitionKey.length + clustering.length) {
    throw model.fault(position, { table: name, reason: 'a column twice in the primary key' })
  }
  // A super column family shows as a dense table with a map column that has no name.
  const kind = !table.compact ? 'none' : types.has('') ? 'super' : clustering.length > 0 ? 'dense' : 'static'
  const others: ColumnSchema[] = [...types]
    .filter(([column]) => !keyNames.has(column))
    .map(([column, { type, isStatic }]) => {
      return {
        name: column,
        kind: isStatic || kind === 'static' ? 'static' : 'regular',
        position: -1,
        type,
        reversed: false,
      }
    })
  others.sort(compareNames)
  const regulars = others.filter((column) => column.kind === 'regular')
  const isCounter = others.some((column) => column.type.kind === 'counter')
  return {
    keyspace,
    table: name,
    id: table.id,
    partitionKey,
    clustering,
    statics: others.filter((column) => column.kind === 'static'),
    regulars,
    hidden: defaultHiddenColumns(kind, new Set(types.keys()), regulars.length > 0, isCounter),
    dropped: table.dropped.map((column) => ({
      name: column.name,
      kind: column.isStatic || kind === 'static' ? 'static' : 'regular',
      droppedAt: column.droppedAt,
    })),
    compact: kind,
    isCounter,
    origin: 'ddl',
    warnings: table.warnings,
  }
}

function resolveView(model: DdlModel, view: DeclaredView, tables: TableSchema[]): TableSchema {
  const { keyspace, name, position, base } = view
  const baseTable = tables.find((table) => table.keyspace === keyspace && table.table === base)
  if (baseTable === undefined)
    throw model.fault(position, { table: name, reason: `the base table ${base} is not declared` })
  const known = new Map<string, ColumnSchema>()
  for (const column of [...baseTable.partitionKey, ...baseTable.clustering, ...baseTable.regulars])
    known.set(column.name, column)
  const column = (columnName: string, kind: ColumnKind, i: number): ColumnSchema => {
    const found = known.get(columnName)
    if (found === undefined)
      throw model.fault(position, { table: name, reason: `the base table has no column ${columnName}` })
    const reversed = kind === 'clustering' && view.descending.includes(columnName)
    return { ...found, kind, position: i, reversed }
  }
  const keyNames = new Set([...view.key.partitionKey, ...view.key.clustering])
  const regulars = (view.columns ?? [...known.keys()])
    .filter((columnName) => !keyNames.has(columnName))
    .map((columnName) => column(columnName, 'regular', -1))
  const table: TableSchema = {
    keyspace,
    table: name,
    id: view.id,
    partitionKey: view.key.partitionKey.map((columnName, i) => column(columnName, 'partition_key', i)),
    clustering: view.key.clustering.map((columnName, i) => column(columnName, 'clustering', i)),
    statics: [],
    regulars: regulars.sort(compareNames),
    hidden: [],
    dropped: [],
    compact: 'none',
    isCounter: false,
    origin: 'ddl',
    warnings: [],
  }
  return asView(table, base, baseTable)
}
