// A table's schema as CQL text: its user-defined types in the order that they need each other, then CREATE TABLE. Options that do not
// touch the rows (compaction, compression, caching) are left out.

import { quoteName } from '../storage/schema/cql-names.ts'
import type { CqlType, UdtType } from '../storage/schema/cql-type.ts'
import { formatCqlType } from '../storage/schema/cql-type-text.ts'
import type { ColumnSchema, TableSchema } from '../storage/schema/table.ts'
import { selectOrder } from '../storage/schema/table.ts'
import { formatTableName } from './names.ts'

/** @param remark what to say behind a column, as a comment */
export function tableCql(schema: TableSchema, remark: (column: ColumnSchema) => string | undefined): string {
  const columns = selectOrder(schema)
  const types = new Map<string, UdtType>()
  for (const column of columns) collectUdts(column.type, types)
  return [...[...types.values()].map(typeCql), createTable(schema, columns, remark)].join('')
}

function createTable(
  schema: TableSchema,
  columns: readonly ColumnSchema[],
  remark: (column: ColumnSchema) => string | undefined,
): string {
  const lines = columns.map((column) => ({ text: `${columnCql(column)},`, remark: remark(column) }))
  const width = Math.min(60, Math.max(...lines.map(({ text }) => text.length)))
  const body = lines.map(({ text, remark }) => (remark === undefined ? text : `${text.padEnd(width)}  -- ${remark}`))
  body.push(primaryKey(schema))
  return `CREATE TABLE ${formatTableName(schema)} (\n${body.map((line) => `    ${line}\n`).join('')})${options(schema)};\n`
}

function columnCql({ name, type, kind }: ColumnSchema): string {
  return `${quoteName(name)} ${formatCqlType(type)}${kind === 'static' ? ' STATIC' : ''}`
}

function primaryKey({ partitionKey, clustering }: TableSchema): string {
  const partition = partitionKey.map(({ name }) => quoteName(name)).join(', ')
  const rest = clustering.map(({ name }) => `, ${quoteName(name)}`).join('')
  return `PRIMARY KEY (${partitionKey.length > 1 || rest !== '' ? `(${partition})` : partition}${rest})`
}

function options({ clustering, compact }: TableSchema): string {
  const all: string[] = []
  if (compact !== 'none') all.push('COMPACT STORAGE')
  if (clustering.some(({ reversed }) => reversed)) {
    const order = clustering.map(({ name, reversed }) => `${quoteName(name)} ${reversed ? 'DESC' : 'ASC'}`)
    all.push(`CLUSTERING ORDER BY (${order.join(', ')})`)
  }
  return all.length === 0 ? '' : ` WITH ${all.join(' AND ')}`
}

function typeCql(type: UdtType): string {
  const fields = type.fields.map((field, i) => `    ${quoteName(type.fieldNames[i])} ${formatCqlType(field)}`)
  return `CREATE TYPE ${quoteName(type.keyspace)}.${quoteName(type.name)} (\n${fields.join(',\n')}\n);\n`
}

/** Inner types first: a Map keeps the order of insertion. */
function collectUdts(type: CqlType, found: Map<string, UdtType>): void {
  switch (type.kind) {
    case 'list':
    case 'set':
    case 'vector':
      collectUdts(type.element, found)
      break
    case 'map':
      collectUdts(type.key, found)
      collectUdts(type.value, found)
      break
    case 'tuple':
      for (const field of type.fields) collectUdts(field, found)
      break
    case 'udt':
      for (const field of type.fields) collectUdts(field, found)
      found.set(`${type.keyspace}.${type.name}`, type)
  }
}
