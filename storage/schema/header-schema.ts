// Tables and SSTable headers: a schema made from headers alone, where nothing else describes a table, and the check that a
// header fits a schema (Cassandra's SerializationHeader.Component.toHeader). Headers know no names of key columns.

import { SluiceError } from '../errors.ts'
import type { HeaderColumn, SerializationHeader } from '../sstable/statistics.ts'
import { columnNameBytes, compareNames, storedColumns } from './compact.ts'
import { type CqlType, freeze, isMultiCell, sameValues } from './cql-type.ts'
import { formatCqlType } from './cql-type-text.ts'
import { compositeComponents, type MarshalType, marshalClassName, parseMarshalType, repairFrozen } from './marshal.ts'
import type { ColumnKind, ColumnSchema, TableSchema } from './table.ts'

type HeaderTypes = Pick<SerializationHeader, 'keyType' | 'clusteringTypes' | 'statics' | 'regulars'>

/**
 * The table that SSTables of one directory describe by themselves. Key columns are named key (key2, ...) and clustering1, ....
 * What a header cannot say stands in the warnings: dropped columns look alive, and whether the table is a view or compact.
 * @param headers of all SSTables, oldest first: of a column that changed its type, the last one counts
 * @param id of the table, 32 hex digits
 * @throws SluiceError SCHEMA_INVALID for types that cannot be read, SCHEMA_MISMATCH for headers of different tables
 */
export function headerSchema(
  keyspace: string,
  table: string,
  headers: readonly HeaderTypes[],
  id?: string,
): TableSchema {
  const last = headers[headers.length - 1]
  if (last === undefined) throw new SluiceError('SCHEMA_MISSING', { keyspace, table })
  const names = new Set<string>()
  const statics = mergeColumns(headers, 'static', names)
  const regulars = mergeColumns(headers, 'regular', names)
  const keyColumn = (kind: ColumnKind, base: string, first: string) => (parsed: MarshalType, position: number) => {
    let name = position === 0 ? first : base + (position + 1)
    while (names.has(name)) name += '_'
    names.add(name)
    return { name, kind, position, type: freeze(parsed.type), reversed: parsed.reversed }
  }
  const schema: TableSchema = {
    keyspace,
    table,
    id,
    partitionKey: keyTypes(last.keyType).map(keyColumn('partition_key', 'key', 'key')),
    clustering: last.clusteringTypes.map(parseMarshalType).map(keyColumn('clustering', 'clustering', 'clustering1')),
    statics,
    regulars,
    dropped: [],
    compact: 'none',
    isCounter: [...statics, ...regulars].some((column) => column.type.kind === 'counter'),
    origin: 'header',
    warnings: [
      'no schema describes this table: names and types come from its SSTables, key columns have made-up names, dropped columns show',
    ],
  }
  for (const header of headers) checkKeys(schema, header, undefined)
  return schema
}

/**
 * Checks that an SSTable's header fits the table: partition key and clustering types give equal values in equal order, and a
 * column of the same name and kind has a type whose values read alike, unless it was dropped since.
 * @param file named in errors
 * @throws SluiceError SCHEMA_MISMATCH with file, column, expected, found
 */
export function checkHeader(table: TableSchema, header: HeaderTypes, file?: string): void {
  checkKeys(table, header, file)
  const { statics, regulars } = storedColumns(table)
  for (const [columns, known] of [
    [header.statics, statics],
    [header.regulars, regulars],
  ] as const) {
    for (const column of columns) checkColumn(table, column, known, file)
  }
}

function checkKeys(table: TableSchema, header: HeaderTypes, file: string | undefined): void {
  const fields = { file, keyspace: table.keyspace, table: table.table }
  const mismatch = (column: string, expected: string, found: string): SluiceError => {
    return new SluiceError('SCHEMA_MISMATCH', { ...fields, column, expected, found })
  }
  const { partitionKey } = table
  // A single column may have a composite type itself.
  const keys = partitionKey.length === 1 ? [parseMarshalType(header.keyType)] : keyTypes(header.keyType)
  if (keys.length !== partitionKey.length) throw mismatch('partition key', partition(partitionKey), header.keyType)
  keys.forEach(({ type }, i) => {
    const column = partitionKey[i]
    if (!isSameOrder(type, column.type)) throw mismatch(column.name, formatCqlType(column.type), formatCqlType(type))
  })
  const { clustering } = storedColumns(table)
  const types = header.clusteringTypes.map(parseMarshalType)
  if (types.length !== clustering.length) {
    throw mismatch('clustering columns', `${clustering.length} columns`, `${types.length} columns`)
  }
  types.forEach(({ type, reversed }, i) => {
    const column = clustering[i]
    if (isSameOrder(type, column.type) && reversed === column.reversed) return
    throw mismatch(column.name, withOrder(column.type, column.reversed), withOrder(type, reversed))
  })
}

function checkColumn(table: TableSchema, column: HeaderColumn, known: ColumnSchema[], file: string | undefined): void {
  const own = known.find((candidate) => Buffer.compare(columnNameBytes(candidate), column.nameBytes) === 0)
  // Unknown here: dropped, or of another kind before it was dropped and added again. The layout decides what to do with it.
  if (own === undefined || table.dropped.some((dropped) => dropped.name === own.name)) return
  const type = repairFrozen(parseMarshalType(column.type).type, own.type)
  if (isCompatible(type, own.type)) return
  const fields = { file, keyspace: table.keyspace, table: table.table, column: own.name }
  const expected = formatCqlType(own.type)
  throw new SluiceError('SCHEMA_MISMATCH', { ...fields, expected, found: formatCqlType(type) })
}

// What ALTER ... TYPE allowed until 3.10 and so still lies in old files: every value of these is a value of the type
// (AbstractType.isValueCompatibleWith). blob takes any.
const WIDER: Partial<Record<CqlType['kind'], CqlType['kind'][]>> = {
  bigint: ['timestamp'],
  date: ['int'],
  text: ['ascii'],
  time: ['bigint'],
  timestamp: ['bigint'],
  uuid: ['timeuuid'],
  varint: ['bigint', 'int', 'timestamp'],
}
// The same where the order must agree too (isCompatibleWith).
const SAME_ORDER: Partial<Record<CqlType['kind'], CqlType['kind'][]>> = { text: ['ascii'], blob: ['ascii', 'text'] }

function isCompatible(found: CqlType, expected: CqlType): boolean {
  if (isMultiCell(found) !== isMultiCell(expected)) return false
  if (sameValues(found, expected, true) || expected.kind === 'blob') return true
  if (found.kind === expected.kind && (found.kind === 'timestamp' || found.kind === 'uuid')) return true
  return WIDER[expected.kind]?.includes(found.kind) ?? false
}

function isSameOrder(found: CqlType, expected: CqlType): boolean {
  if (sameValues(found, expected, false)) return true
  // CQL text, and so system_schema, writes DateType as timestamp. The two sort alike from 1970 on; Cassandra lets it pass.
  if (found.kind === 'timestamp' && expected.kind === 'timestamp') return true
  return SAME_ORDER[expected.kind]?.includes(found.kind) ?? false
}

/** The types of a partition key's columns: CompositeType where there are several, the type itself where there is one. */
function keyTypes(keyType: string): MarshalType[] {
  const parsed = parseMarshalType(keyType)
  const { type } = parsed
  if (type.kind !== 'custom' || marshalClassName(type) !== 'org.apache.cassandra.db.marshal.CompositeType')
    return [parsed]
  return compositeComponents(type.className)!
}

function mergeColumns(headers: readonly HeaderTypes[], kind: 'static' | 'regular', names: Set<string>): ColumnSchema[] {
  const columns = new Map<string, ColumnSchema>()
  for (const header of headers) {
    for (const { name, nameBytes, type } of kind === 'static' ? header.statics : header.regulars) {
      const isText = Buffer.compare(Buffer.from(name, 'utf8'), nameBytes) === 0
      const column: ColumnSchema = { name, kind, position: -1, type: parseMarshalType(type).type, reversed: false }
      if (!isText) column.nameBytes = nameBytes
      names.add(name)
      columns.set(Buffer.from(nameBytes).toString('hex'), column)
    }
  }
  return [...columns.values()].sort(compareNames)
}

function partition(columns: ColumnSchema[]): string {
  return columns.map((column) => formatCqlType(column.type)).join(', ')
}

function withOrder(type: CqlType, reversed: boolean): string {
  return `${formatCqlType(type)}${reversed ? ' DESC' : ''}`
}
