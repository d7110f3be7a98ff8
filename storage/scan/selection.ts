// The parameter `columns`: a comma list of CQL selectors, typed against the table. Names follow CQL's rules: unquoted ones are
// lower-cased, others are written in double quotes.
//
//   c, "Quoted"                 a column
//   writetime(c), ttl(c)        write timestamp (microseconds) and remaining TTL (seconds) of a cell; a list of them, one per cell, for
//                               a collection or UDT that is not frozen (as Cassandra 5.0 gives it)
//   token, token(pk, ...)       the partition's token. TOKEN is a reserved word in CQL, so a column of that name is always quoted
//   row_writetime(), row_ttl()  timestamp and remaining TTL of the row's own liveness; null where the row lives by its cells alone
//   *                           all columns in the order of SELECT *; unlike in CQL it can be followed by more
//
// Each may be renamed with AS. An output name may appear once.

import { SluiceError } from '../errors.ts'
import type { Partitioner } from '../ring/partitioner.ts'
import { accept, type CqlCursor, cqlCursor, cqlFault, expect, expectName, next, peek } from '../schema/cql-cursor.ts'
import type { CqlToken } from '../schema/cql-lexer.ts'
import { quoteName } from '../schema/cql-names.ts'
import { type CqlType, isMultiCell } from '../schema/cql-type.ts'
import { type ColumnSchema, selectOrder, type TableSchema } from '../schema/table.ts'

interface NamedSelector {
  /** Of the output column: the column's name, `writetime(c)`..., or what AS says. */
  name: string
  /** Type of the output in CQL's terms. */
  type: CqlType
}

export interface ColumnSelector extends NamedSelector {
  kind: 'column'
  column: ColumnSchema
}
/**
 * Of a multi-cell column the type is frozen<list<...>>: of a collection one element per live cell in the order of cells, of a UDT one
 * per field, null for a field without a cell; null for cells without TTL (ColumnTimestamps.MultipleTimestamps).
 */
export interface CellSelector extends NamedSelector {
  kind: 'writetime' | 'ttl'
  column: ColumnSchema
}
/** bigint (Murmur3), varint (Random) or blob (ByteOrdered). */
export interface TokenSelector extends NamedSelector {
  kind: 'token'
}
export interface RowSelector extends NamedSelector {
  kind: 'row_writetime' | 'row_ttl'
}

export type Selector = ColumnSelector | CellSelector | TokenSelector | RowSelector

/** All columns, in the order of SELECT *. */
export function selectAll(table: TableSchema): ColumnSelector[] {
  return selectOrder(table).map(columnSelector)
}

/**
 * The selectors of a text; without one, all columns.
 * @throws SluiceError BAD_SELECTOR or UNKNOWN_COLUMN, with position
 */
export function parseSelection(text: string | undefined, table: TableSchema, partitioner: Partitioner): Selector[] {
  if (text === undefined) return selectAll(table)
  const cursor = cqlCursor(text, { code: 'BAD_SELECTOR' })
  const selectors: Selector[] = []
  const names = new Set<string>()
  do {
    const start = peek(cursor)
    for (const selector of readItem(cursor, table, partitioner)) {
      if (names.has(selector.name))
        throw fault(start, { column: selector.name, reason: 'this output name appears twice' })
      names.add(selector.name)
      selectors.push(selector)
    }
  } while (accept(cursor, ','))
  if (peek(cursor).kind !== 'end') throw cqlFault(cursor, 'a comma or the end')
  return selectors
}

/** Names of the columns that selectors read. */
export function selectedColumns(selectors: readonly Selector[]): Set<string> {
  const names = new Set<string>()
  for (const selector of selectors) if ('column' in selector) names.add(selector.column.name)
  return names
}

function readItem(cursor: CqlCursor, table: TableSchema, partitioner: Partitioner): Selector[] {
  if (accept(cursor, '*')) return selectAll(table)
  const selector = readSelector(cursor, table, partitioner)
  if (accept(cursor, 'as')) selector.name = expectName(cursor, 'a name behind AS')
  return [selector]
}

function readSelector(cursor: CqlCursor, table: TableSchema, partitioner: Partitioner): Selector {
  const token = peek(cursor)
  if (token.kind === 'identifier' && !token.quoted) {
    if (token.value === 'token') return readToken(cursor, table, partitioner)
    if (peek(cursor, 1).value === '(' && peek(cursor, 1).kind === 'punctuation') return readFunction(cursor, table)
  }
  return columnSelector(readColumn(cursor, table))
}

function columnSelector(column: ColumnSchema): ColumnSelector {
  return { kind: 'column', name: column.name, type: column.type, column }
}

function readColumn(cursor: CqlCursor, table: TableSchema): ColumnSchema {
  const token = peek(cursor)
  const name = expectName(cursor, 'a column, writetime(c), ttl(c), token, row_writetime(), row_ttl() or *')
  return findColumn(table, name, token)
}

/**
 * The column of this name.
 * @throws SluiceError UNKNOWN_COLUMN with the token's position, and a hint where only the case of letters differs
 */
export function findColumn(table: TableSchema, name: string, token: CqlToken): ColumnSchema {
  const columns = selectOrder(table)
  const column = columns.find((c) => c.name === name)
  if (column !== undefined) return column
  const alike = columns.find((c) => c.name.toLowerCase() === name.toLowerCase())
  throw new SluiceError('UNKNOWN_COLUMN', {
    keyspace: table.keyspace,
    table: table.table,
    column: name,
    position: token.position,
    hint: alike && `write ${quoteName(alike.name)}`,
  })
}

function readFunction(cursor: CqlCursor, table: TableSchema): CellSelector | RowSelector {
  const token = next(cursor)
  const kind = token.value
  if (kind === 'row_writetime' || kind === 'row_ttl') {
    expect(cursor, '(', ')')
    return { kind, name: `${kind}()`, type: cellType(kind === 'row_ttl') }
  }
  if (kind !== 'writetime' && kind !== 'ttl')
    throw cqlFault(cursor, 'writetime, ttl, token, row_writetime or row_ttl', token)
  expect(cursor, '(')
  const argument = peek(cursor)
  const column = readColumn(cursor, table)
  expect(cursor, ')')
  // Cassandra: "Cannot use selection function writetime on PRIMARY KEY part"
  if (column.kind === 'partition_key' || column.kind === 'clustering') {
    throw fault(argument, { column: column.name, reason: `${kind} of a primary key column` })
  }
  const each = cellType(kind === 'ttl')
  const type: CqlType = isMultiCell(column.type) ? { kind: 'list', element: each, frozen: true } : each
  return { kind, name: `${kind}(${column.name})`, type, column }
}

function cellType(isTtl: boolean): CqlType {
  return { kind: isTtl ? 'int' : 'bigint' }
}

function readToken(cursor: CqlCursor, table: TableSchema, partitioner: Partitioner): TokenSelector {
  const token = next(cursor)
  if (accept(cursor, '(')) {
    for (const [i, column] of table.partitionKey.entries()) {
      if (i > 0) expect(cursor, ',')
      const at = peek(cursor)
      if (expectName(cursor, quoteName(column.name)) !== column.name) throw cqlFault(cursor, quoteName(column.name), at)
    }
    expect(cursor, ')')
  }
  return { kind: 'token', name: 'token', type: tokenType(partitioner, token) }
}

function tokenType(partitioner: Partitioner, at: CqlToken): CqlType {
  switch (partitioner.name) {
    case 'Murmur3Partitioner':
      return { kind: 'bigint' }
    case 'RandomPartitioner':
      return { kind: 'varint' }
    case 'ByteOrderedPartitioner':
      return { kind: 'blob' }
    case 'LocalPartitioner':
      throw fault(at, { column: 'token', reason: 'a table under LocalPartitioner has no tokens' })
  }
}

function fault(at: CqlToken, fields: { column: string; reason: string }): SluiceError {
  return new SluiceError('BAD_SELECTOR', { ...fields, position: at.position })
}
