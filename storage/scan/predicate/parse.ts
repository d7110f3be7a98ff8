// The parameter `where`: the body of a CQL WHERE clause, by recursive descent, typed against the table as it is read.
//
//   where     := relation { AND relation }
//   relation  := '(' relation ')'
//              | column ( = | < | <= | > | >= ) term
//              | column IN '(' [ term { ',' term } ] ')'
//              | column CONTAINS [ KEY ] term
//              | column IS NOT NULL
//              | column '[' term ']' = term
//              | '(' column { ',' column } ')' ( = | < | <= | > | >= ) tuple
//              | '(' column { ',' column } ')' IN '(' [ tuple { ',' tuple } ] ')'
//              | TOKEN '(' column { ',' column } ')' ( = | < | <= | > | >= ) ( token | TOKEN '(' term { ',' term } ')' )
//
// Beyond CQL (as far as 5.0 goes): IS NOT NULL on any column, IN on any column, several relations on one column, m[k] = v on
// frozen maps, comparisons of clustering columns as tuples whatever stands before. What CQL refuses for its meaning stays refused: !=,
// LIKE, OR, null, order on durations, and comparing a collection or UDT that is not frozen.

import { SluiceError } from '../../errors.ts'
import { type Partitioner, type Token, tokenOf } from '../../ring/partitioner.ts'
import { accept, type CqlCursor, cqlCursor, cqlFault, expect, expectName, next, peek } from '../../schema/cql-cursor.ts'
import { type CqlToken, isWord } from '../../schema/cql-lexer.ts'
import { readLiteral } from '../../schema/cql-literals.ts'
import { quoteName } from '../../schema/cql-names.ts'
import { type CqlType, isMultiCell } from '../../schema/cql-type.ts'
import { formatCqlType } from '../../schema/cql-type-text.ts'
import type { ColumnSchema, TableSchema } from '../../schema/table.ts'
import { findColumn } from '../selection.ts'
import { partitionKeyBytes } from './partition-keys.ts'
import type { CompareOperator, Relation, TokenRelation } from './relation.ts'

// Parentheses around relations mean nothing; deep ones would only exhaust the stack.
const MAX_DEPTH = 32

interface Context {
  cursor: CqlCursor
  table: TableSchema
  partitioner: Partitioner
}

/** @throws SluiceError BAD_PREDICATE or UNKNOWN_COLUMN, with position */
export function parseWhere(text: string, table: TableSchema, partitioner: Partitioner): Relation[] {
  const context = { cursor: cqlCursor(text, { code: 'BAD_PREDICATE' }), table, partitioner }
  const { cursor } = context
  const relations = [readRelation(context, 0)]
  while (accept(cursor, 'and')) relations.push(readRelation(context, 0))
  if (peek(cursor).kind !== 'end') throw cqlFault(cursor, 'AND or the end')
  return relations
}

function readRelation(context: Context, depth: number): Relation {
  const { cursor } = context
  if (depth > MAX_DEPTH) throw cqlFault(cursor, `at most ${MAX_DEPTH} parentheses`)
  if (isWord(peek(cursor), 'token') && isWord(peek(cursor, 1), '(')) return readTokenRelation(context)
  if (!accept(cursor, '(')) return readColumnRelation(context)
  if (peek(cursor).kind === 'identifier' && (isWord(peek(cursor, 1), ',') || isWord(peek(cursor, 1), ')'))) {
    return readTupleRelation(context)
  }
  const relation = readRelation(context, depth + 1)
  expect(cursor, ')')
  return relation
}

// --- One column --------------------------------------------------------------------------------------------------------

function readColumnRelation(context: Context): Relation {
  const { cursor } = context
  const column = readColumn(context)
  const at = peek(cursor)
  if (accept(cursor, 'is')) {
    expect(cursor, 'not', 'null')
    return { kind: 'not_null', column }
  }
  if (accept(cursor, 'contains')) {
    const kind = accept(cursor, 'key') ? 'contains_key' : 'contains'
    return { kind, column, value: readTerm(context, containedType(column, kind, at)) }
  }
  if (accept(cursor, '[')) return readEntry(context, column, at)
  if (accept(cursor, 'in')) {
    checkComparable(column, 'IN', at)
    const rows = readList(context, () => [readTerm(context, comparedType(column))])
    return { kind: 'in', columns: [column], rows }
  }
  const operator = readOperator(cursor, '=, <, <=, >, >=, IN, CONTAINS, CONTAINS KEY or IS NOT NULL')
  checkComparable(column, operator, at)
  return { kind: 'compare', columns: [column], operator, values: [readTerm(context, comparedType(column))] }
}

function readColumn({ cursor, table }: Context): ColumnSchema {
  const token = peek(cursor)
  if (isWord(token, 'not')) throw fault(token, 'NOT is not supported in a WHERE clause')
  return findColumn(table, expectName(cursor, 'a column, token(...) or an opening parenthesis'), token)
}

function containedType(column: ColumnSchema, kind: 'contains' | 'contains_key', at: CqlToken): CqlType {
  const { type } = column
  if (kind === 'contains_key') {
    if (type.kind !== 'map') throw refused(at, column, 'CONTAINS KEY needs a map')
    return type.key
  }
  if (type.kind === 'map') return type.value
  if (type.kind !== 'list' && type.kind !== 'set') throw refused(at, column, 'CONTAINS needs a list, set or map')
  return type.element
}

function readEntry(context: Context, column: ColumnSchema, at: CqlToken): Relation {
  const { cursor } = context
  if (column.type.kind !== 'map') throw refused(at, column, 'only entries of a map can be compared')
  const key = readTerm(context, column.type.key)
  expect(cursor, ']')
  const operator = peek(cursor)
  if (!accept(cursor, '=')) throw refused(operator, column, 'an entry of a map can only be compared by =')
  return { kind: 'entry', column, key, value: readTerm(context, column.type.value) }
}

/** Counters compare as their totals. */
function comparedType({ type }: ColumnSchema): CqlType {
  return type.kind === 'counter' ? { kind: 'bigint' } : type
}

/** Cassandra: SingleColumnRelation.toReceivers, newSliceRestriction. */
function checkComparable(column: ColumnSchema, operator: CompareOperator | 'IN', at: CqlToken): void {
  const { type } = column
  if (isMultiCell(type)) {
    const takes =
      type.kind === 'udt'
        ? 'IS NOT NULL'
        : type.kind === 'map'
          ? 'CONTAINS, CONTAINS KEY, [key] = or IS NOT NULL'
          : 'CONTAINS or IS NOT NULL'
    throw refused(at, column, `it is not frozen, so it can only take ${takes}`)
  }
  if (operator !== '=' && operator !== 'IN' && hasDuration(type)) {
    throw refused(at, column, 'durations have no order')
  }
}

function hasDuration(type: CqlType): boolean {
  switch (type.kind) {
    case 'duration':
      return true
    case 'list':
    case 'set':
    case 'vector':
      return hasDuration(type.element)
    case 'map':
      return hasDuration(type.key) || hasDuration(type.value)
    case 'tuple':
    case 'udt':
      return type.fields.some(hasDuration)
    default:
      return false
  }
}

// --- Several columns -----------------------------------------------------------------------------------------------------

/** Behind the opening parenthesis. */
function readTupleRelation(context: Context): Relation {
  const { cursor } = context
  const columns: ColumnSchema[] = []
  do {
    const at = peek(cursor)
    const column = readColumn(context)
    if (column.kind !== 'clustering') throw refused(at, column, 'only clustering columns can be compared as a tuple')
    if (columns.length > 0 && column.position !== columns.at(-1)!.position + 1) {
      throw refused(at, column, 'a tuple takes clustering columns in the order of the primary key, without gaps')
    }
    columns.push(column)
  } while (accept(cursor, ','))
  expect(cursor, ')')
  const at = peek(cursor)
  if (accept(cursor, 'in')) return { kind: 'in', columns, rows: readList(context, () => readTuple(context, columns)) }
  const operator = readOperator(cursor, '=, <, <=, >, >= or IN')
  for (const column of columns) checkComparable(column, operator, at)
  return { kind: 'compare', columns, operator, values: readTuple(context, columns) }
}

function readTuple(context: Context, columns: readonly ColumnSchema[]): Uint8Array[] {
  const { cursor } = context
  expect(cursor, '(')
  const values = columns.map((column, i) => {
    if (i > 0) expect(cursor, ',')
    return readTerm(context, comparedType(column))
  })
  expect(cursor, ')')
  return values
}

// --- Tokens --------------------------------------------------------------------------------------------------------------

function readTokenRelation(context: Context): TokenRelation {
  const { cursor, table, partitioner } = context
  const at = next(cursor)
  expect(cursor, '(')
  for (const [i, column] of table.partitionKey.entries()) {
    if (i > 0) expect(cursor, ',')
    const name = peek(cursor)
    if (expectName(cursor, quoteName(column.name)) !== column.name) throw cqlFault(cursor, quoteName(column.name), name)
  }
  expect(cursor, ')')
  const operatorAt = peek(cursor)
  const operator = readOperator(cursor, '=, <, <=, >, >=')
  if (partitioner.name === 'LocalPartitioner') throw fault(at, 'a table under LocalPartitioner has no tokens')
  if (partitioner.name === 'ByteOrderedPartitioner' && operator !== '>' && operator !== '<=') {
    throw fault(operatorAt, 'tokens of ByteOrderedPartitioner have no predecessor: only > and <= are read')
  }
  return { kind: 'token', operator, token: readTokenValue(context) }
}

function readTokenValue(context: Context): Token {
  const { cursor, table, partitioner } = context
  const at = peek(cursor)
  if (isWord(at, 'token') && isWord(peek(cursor, 1), '(')) {
    next(cursor)
    return tokenOf(partitioner, partitionKeyBytes(readTuple(context, table.partitionKey)))
  }
  if (at.kind !== (partitioner.name === 'ByteOrderedPartitioner' ? 'blob' : 'integer'))
    throw cqlFault(cursor, 'a token')
  try {
    return partitioner.parseToken(next(cursor).value)
  } catch (error) {
    throw error instanceof SluiceError ? fault(at, `not a token: ${error.fields.expected} is`) : error
  }
}

// --- Terms ---------------------------------------------------------------------------------------------------------------

function readTerm(context: Context, type: CqlType): Uint8Array {
  const { cursor } = context
  const at = peek(cursor)
  if (isWord(at, 'null')) throw fault(at, 'nothing compares with null; IS NOT NULL can be asked')
  if (isWord(at, '?') || isWord(at, ':')) throw fault(at, 'there is nothing to bind markers to')
  return readLiteral(cursor, type)
}

function readList<T>(context: Context, item: () => T): T[] {
  const { cursor } = context
  const items: T[] = []
  expect(cursor, '(')
  if (accept(cursor, ')')) return items
  do items.push(item())
  while (accept(cursor, ','))
  expect(cursor, ')')
  return items
}

function readOperator(cursor: CqlCursor, expected: string): CompareOperator {
  const token = peek(cursor)
  switch (token.kind === 'punctuation' ? token.value : '') {
    case '=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return next(cursor).value as CompareOperator
  }
  for (const word of ['!=', 'like', 'not', 'between', 'or']) {
    if (isWord(token, word)) throw fault(token, `${word.toUpperCase()} is not supported in a WHERE clause`, expected)
  }
  throw cqlFault(cursor, expected)
}

function fault(at: CqlToken, reason: string, expected?: string): SluiceError {
  const found = at.kind === 'end' ? 'end of text' : at.value.slice(0, 40)
  return new SluiceError('BAD_PREDICATE', { position: at.position, found, expected, reason })
}

function refused(at: CqlToken, column: ColumnSchema, reason: string): SluiceError {
  return fault(at, reason).with({ column: column.name, type: formatCqlType(column.type) })
}
