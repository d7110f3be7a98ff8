// CREATE TABLE and CREATE MATERIALIZED VIEW, behind those words.

import { accept, type CqlCursor, cqlFault, expect, expectName, next, peek } from './cql-cursor.ts'
import { isWord } from './cql-lexer.ts'
import { parseColumn, parseName, parseTimestamp } from './ddl-columns.ts'
import type { ColumnDefinition, DdlStatement, DroppedDefinition, PrimaryKey, TableOptions } from './ddl-statements.ts'

export function parseCreateTable(cursor: CqlCursor, position: number): DdlStatement {
  const ifNotExists = accept(cursor, 'if', 'not', 'exists')
  const name = parseName(cursor)
  const columns: ColumnDefinition[] = []
  const dropped: DroppedDefinition[] = []
  let key: PrimaryKey | undefined
  const setKey = (found: PrimaryKey): void => {
    if (key !== undefined) throw cqlFault(cursor, 'one primary key')
    key = found
  }
  expect(cursor, '(')
  do {
    if (accept(cursor, 'primary', 'key')) setKey(parsePrimaryKey(cursor))
    else if (isDroppedRecord(cursor)) dropped.push(parseDroppedRecord(cursor))
    else {
      const column = parseColumn(cursor)
      columns.push(column)
      if (accept(cursor, 'primary', 'key')) setKey({ partitionKey: [column.name], clustering: [] })
    }
  } while (accept(cursor, ','))
  expect(cursor, ')')
  if (key === undefined) throw cqlFault(cursor, 'a primary key in the table')
  const options = accept(cursor, 'with') ? parseTableOptions(cursor) : noOptions()
  options.dropped.unshift(...dropped)
  return { kind: 'create_table', position, name, ifNotExists, columns, key, options }
}

/** `CREATE MATERIALIZED VIEW v AS SELECT ... FROM base WHERE ... PRIMARY KEY (...) WITH ...`. */
export function parseCreateView(cursor: CqlCursor, position: number): DdlStatement {
  const ifNotExists = accept(cursor, 'if', 'not', 'exists')
  const name = parseName(cursor)
  expect(cursor, 'as', 'select')
  let columns: string[] | undefined
  if (!accept(cursor, '*')) {
    columns = [expectName(cursor, 'a column')]
    while (accept(cursor, ',')) columns.push(expectName(cursor, 'a column'))
  }
  expect(cursor, 'from')
  const base = parseName(cursor)
  // The WHERE clause decides which rows Cassandra puts into the view, not how they lie there.
  while (!isWord(peek(cursor), 'primary')) {
    if (peek(cursor).kind === 'end' || isWord(peek(cursor), ';')) throw cqlFault(cursor, 'PRIMARY KEY')
    next(cursor)
  }
  expect(cursor, 'primary', 'key')
  const key = parsePrimaryKey(cursor)
  const options = accept(cursor, 'with') ? parseTableOptions(cursor) : noOptions()
  return { kind: 'create_view', position, name, ifNotExists, base, columns, key, options }
}

/** Behind WITH: properties joined by AND, up to the statement's end. */
export function parseTableOptions(cursor: CqlCursor): TableOptions {
  const options = noOptions()
  do parseOption(cursor, options)
  while (accept(cursor, 'and'))
  return options
}

function parseOption(cursor: CqlCursor, options: TableOptions): void {
  if (accept(cursor, 'compact', 'storage')) options.compact = true
  else if (accept(cursor, 'clustering', 'order', 'by')) options.descending = parseClusteringOrder(cursor)
  else if (isDroppedRecord(cursor)) options.dropped.push(parseDroppedRecord(cursor))
  else {
    const name = expectName(cursor, 'a table option')
    expect(cursor, '=')
    if (name === 'id') options.id = parseId(cursor)
    else skipValue(cursor)
  }
}

// ((a, b), c, d) or (a, c, d): the first is the partition key.
function parsePrimaryKey(cursor: CqlCursor): PrimaryKey {
  expect(cursor, '(')
  const partitionKey: string[] = []
  if (accept(cursor, '(')) {
    do partitionKey.push(expectName(cursor, 'a column'))
    while (accept(cursor, ','))
    expect(cursor, ')')
  } else partitionKey.push(expectName(cursor, 'a column'))
  const clustering: string[] = []
  while (accept(cursor, ',')) clustering.push(expectName(cursor, 'a column'))
  expect(cursor, ')')
  return { partitionKey, clustering }
}

function parseClusteringOrder(cursor: CqlCursor): string[] {
  const descending: string[] = []
  expect(cursor, '(')
  do {
    const name = expectName(cursor, 'a column')
    if (accept(cursor, 'desc')) descending.push(name)
    else accept(cursor, 'asc')
  } while (accept(cursor, ','))
  expect(cursor, ')')
  return descending
}

function isDroppedRecord(cursor: CqlCursor): boolean {
  return isWord(peek(cursor), 'dropped') && isWord(peek(cursor, 1), 'column') && isWord(peek(cursor, 2), 'record')
}

// DROPPED COLUMN RECORD c type [STATIC] USING TIMESTAMP n: how some descendants of Cassandra 4 describe dropped columns.
function parseDroppedRecord(cursor: CqlCursor): DroppedDefinition {
  expect(cursor, 'dropped', 'column', 'record')
  const column = parseColumn(cursor)
  expect(cursor, 'using', 'timestamp')
  return { ...column, droppedAt: parseTimestamp(cursor) }
}

function parseId(cursor: CqlCursor): string {
  const token = peek(cursor)
  const id = token.value.replaceAll('-', '').toLowerCase()
  if ((token.kind !== 'uuid' && token.kind !== 'string') || !/^[0-9a-f]{32}$/.test(id)) throw cqlFault(cursor, 'a uuid')
  next(cursor)
  return id
}

/** A literal, up to the AND or the end that follows it. */
function skipValue(cursor: CqlCursor): void {
  const start = cursor.at
  let open = 0
  for (; ; next(cursor)) {
    const token = peek(cursor)
    if (token.kind === 'end' || isWord(token, ';')) break
    if (open === 0 && isWord(token, 'and')) break
    if (isWord(token, '{') || isWord(token, '[') || isWord(token, '(')) open++
    if (isWord(token, '}') || isWord(token, ']') || isWord(token, ')')) open--
  }
  if (cursor.at === start) throw cqlFault(cursor, 'a value')
}

function noOptions(): TableOptions {
  return { compact: false, descending: [], dropped: [] }
}
