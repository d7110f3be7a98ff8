// Parses files of CQL DDL: what DESCRIBE prints (WITH INTERNALS too), what snapshots hold as schema.cql, what people write
// (Cassandra's Parser.g). Statements that say nothing of tables or types are stepped over; unknown ones are refused.

import { accept, type CqlCursor, cqlCursor, cqlFault, expect, expectName, next, peek } from './cql-cursor.ts'
import { type CqlTextSource, isWord } from './cql-lexer.ts'
import { parseColumn, parseField, parseName, parseTimestamp, skipType } from './ddl-columns.ts'
import type { DdlStatement, FieldDefinition, TableChange, TypeChange } from './ddl-statements.ts'
import { parseCreateTable, parseCreateView, parseTableOptions } from './ddl-table-parser.ts'

// First words of statements that do not change the shape of any table.
const SKIPPED = ['begin', 'apply', 'insert', 'update', 'delete', 'select', 'truncate', 'grant', 'revoke']
const SKIPPED_OBJECTS = ['index', 'custom', 'function', 'aggregate', 'or', 'role', 'user', 'trigger', 'service_level']

/** @returns the statements, and the cursor whose tokens their types lie in */
export function parseDdlStatements(
  text: string,
  source: CqlTextSource,
): { statements: DdlStatement[]; cursor: CqlCursor } {
  const cursor = cqlCursor(uncommentCompactTables(text), source)
  const statements: DdlStatement[] = []
  while (peek(cursor).kind !== 'end') {
    if (accept(cursor, ';')) continue
    const statement = parseStatement(cursor)
    if (statement !== undefined) statements.push(statement)
    if (peek(cursor).kind !== 'end' && !accept(cursor, ';')) throw cqlFault(cursor, ';')
  }
  return { statements, cursor }
}

/**
 * 4.0+ DESCRIBE prints COMPACT STORAGE tables within a comment ("omitted because it has constructs not compatible with CQL"),
 * since CQL cannot create them any more. Their files are read all the same: the comment's frame becomes blanks, of equal
 * length so that positions stay.
 */
function uncommentCompactTables(text: string): string {
  const frame = /\/\*(?=\s*Warning: Table )(?:[^*]|\*(?!\/))*?\(this should not be used to reproduce this schema\)/g
  let result = text
  for (const match of text.matchAll(frame)) {
    if (!match[0].includes('was created via legacy API')) continue
    const start = match.index
    const body = start + match[0].length
    const end = text.indexOf('*/', body)
    if (end < 0) continue
    result = `${result.slice(0, start)}${blank(match[0])}${result.slice(body, end)}; ${result.slice(end + 2)}`
  }
  return result
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ')
}

function parseStatement(cursor: CqlCursor): DdlStatement | undefined {
  const { position } = peek(cursor)
  if (accept(cursor, 'use')) return { kind: 'use', position, keyspace: expectName(cursor, 'a keyspace') }
  if (accept(cursor, 'create')) return parseCreate(cursor, position)
  if (accept(cursor, 'alter')) return parseAlter(cursor, position)
  if (accept(cursor, 'drop')) return parseDrop(cursor, position)
  if (!SKIPPED.some((word) => isWord(peek(cursor), word))) throw cqlFault(cursor, 'a CQL statement')
  skipStatement(cursor)
  return undefined
}

function parseCreate(cursor: CqlCursor, position: number): DdlStatement | undefined {
  if (accept(cursor, 'keyspace') || accept(cursor, 'schema')) {
    const ifNotExists = accept(cursor, 'if', 'not', 'exists')
    const name = expectName(cursor, 'a keyspace')
    skipStatement(cursor)
    return { kind: 'create_keyspace', position, name, ifNotExists }
  }
  if (accept(cursor, 'type')) {
    const ifNotExists = accept(cursor, 'if', 'not', 'exists')
    const name = parseName(cursor)
    expect(cursor, '(')
    const fields = [parseField(cursor)]
    while (accept(cursor, ',')) fields.push(parseField(cursor))
    expect(cursor, ')')
    return { kind: 'create_type', position, name, ifNotExists, fields }
  }
  if (accept(cursor, 'table') || accept(cursor, 'columnfamily')) return parseCreateTable(cursor, position)
  if (accept(cursor, 'materialized')) {
    expect(cursor, 'view')
    return parseCreateView(cursor, position)
  }
  return skipObject(cursor, 'KEYSPACE, TYPE, TABLE or MATERIALIZED VIEW')
}

function parseAlter(cursor: CqlCursor, position: number): DdlStatement | undefined {
  if (accept(cursor, 'type')) {
    const ifExists = accept(cursor, 'if', 'exists')
    return { kind: 'alter_type', position, name: parseName(cursor), ifExists, change: parseTypeChange(cursor) }
  }
  if (accept(cursor, 'table') || accept(cursor, 'columnfamily')) {
    const ifExists = accept(cursor, 'if', 'exists')
    return { kind: 'alter_table', position, name: parseName(cursor), ifExists, change: parseTableChange(cursor) }
  }
  // The properties of keyspaces and views say nothing of their columns.
  if (accept(cursor, 'keyspace') || accept(cursor, 'schema') || accept(cursor, 'materialized', 'view')) {
    skipStatement(cursor)
    return undefined
  }
  return skipObject(cursor, 'KEYSPACE, TYPE, TABLE or MATERIALIZED VIEW')
}

function parseDrop(cursor: CqlCursor, position: number): DdlStatement | undefined {
  let what: 'keyspace' | 'table' | 'type' | 'view'
  if (accept(cursor, 'keyspace') || accept(cursor, 'schema')) what = 'keyspace'
  else if (accept(cursor, 'table') || accept(cursor, 'columnfamily')) what = 'table'
  else if (accept(cursor, 'type')) what = 'type'
  else if (accept(cursor, 'materialized', 'view')) what = 'view'
  else return skipObject(cursor, 'KEYSPACE, TYPE, TABLE or MATERIALIZED VIEW')
  const ifExists = accept(cursor, 'if', 'exists')
  return { kind: 'drop', position, what, name: parseName(cursor), ifExists }
}

function parseTypeChange(cursor: CqlCursor): TypeChange {
  if (accept(cursor, 'add')) {
    accept(cursor, 'if', 'not', 'exists')
    const fields = [parseField(cursor)]
    while (accept(cursor, ',')) fields.push(parseField(cursor))
    return { kind: 'add', fields }
  }
  if (accept(cursor, 'rename')) return { kind: 'rename', names: parseRenames(cursor) }
  expect(cursor, 'alter')
  return { kind: 'retype', field: parseRetype(cursor) }
}

function parseTableChange(cursor: CqlCursor): TableChange {
  if (accept(cursor, 'add')) {
    accept(cursor, 'if', 'not', 'exists')
    return { kind: 'add', columns: parseList(cursor, parseColumn) }
  }
  if (accept(cursor, 'drop')) {
    if (accept(cursor, 'compact', 'storage')) return { kind: 'drop_compact_storage' }
    accept(cursor, 'if', 'exists')
    const columns = parseList(cursor, (c) => expectName(c, 'a column'))
    const droppedAt = accept(cursor, 'using', 'timestamp') ? parseTimestamp(cursor) : undefined
    return { kind: 'drop', columns, droppedAt }
  }
  if (accept(cursor, 'rename')) {
    accept(cursor, 'if', 'exists')
    return { kind: 'rename', names: parseRenames(cursor) }
  }
  if (accept(cursor, 'alter')) {
    accept(cursor, 'if', 'exists')
    // ALTER c MASKED WITH ..., ALTER c DROP MASKED (5.0)
    if (isWord(peek(cursor, 1), 'masked') || isWord(peek(cursor, 1), 'drop')) {
      skipStatement(cursor)
      return { kind: 'options', options: { compact: false, descending: [], dropped: [] } }
    }
    return { kind: 'retype', column: parseRetype(cursor) }
  }
  expect(cursor, 'with')
  return { kind: 'options', options: parseTableOptions(cursor) }
}

function parseRenames(cursor: CqlCursor): [string, string][] {
  const names: [string, string][] = []
  do {
    const from = expectName(cursor)
    expect(cursor, 'to')
    names.push([from, expectName(cursor)])
  } while (accept(cursor, 'and'))
  return names
}

function parseRetype(cursor: CqlCursor): FieldDefinition {
  const name = expectName(cursor)
  expect(cursor, 'type')
  return { name, type: skipType(cursor) }
}

/** One item, several with commas, or several in parentheses. */
function parseList<Item>(cursor: CqlCursor, item: (cursor: CqlCursor) => Item): Item[] {
  const parenthesised = accept(cursor, '(')
  const items = [item(cursor)]
  while (accept(cursor, ',')) items.push(item(cursor))
  if (parenthesised) expect(cursor, ')')
  return items
}

function skipObject(cursor: CqlCursor, expected: string): undefined {
  if (!SKIPPED_OBJECTS.some((word) => isWord(peek(cursor), word))) throw cqlFault(cursor, expected)
  skipStatement(cursor)
  return undefined
}

// Function bodies are one string token, so that the next semicolon ends the statement.
function skipStatement(cursor: CqlCursor): void {
  while (peek(cursor).kind !== 'end' && !isWord(peek(cursor), ';')) next(cursor)
}
