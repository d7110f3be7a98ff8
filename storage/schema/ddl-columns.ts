// The pieces that DDL statements share: qualified names, types (stepped over, read later), columns.

import { accept, type CqlCursor, cqlFault, expect, expectName, next, peek } from './cql-cursor.ts'
import { isWord } from './cql-lexer.ts'
import type { ColumnDefinition, FieldDefinition, QualifiedName, TypePlace } from './ddl-statements.ts'

export function parseField(cursor: CqlCursor): FieldDefinition {
  return { name: expectName(cursor), type: skipType(cursor) }
}

/** `name type [STATIC] [MASKED WITH ...]`. */
export function parseColumn(cursor: CqlCursor): ColumnDefinition {
  const name = expectName(cursor, 'a column')
  const type = skipType(cursor)
  const isStatic = accept(cursor, 'static')
  if (accept(cursor, 'masked', 'with')) skipMask(cursor)
  return { name, type, isStatic }
}

// MASKED WITH DEFAULT | [ks.]function(arguments): a mask changes what some users see, not what is stored.
function skipMask(cursor: CqlCursor): void {
  if (accept(cursor, 'default')) return
  parseName(cursor)
  expect(cursor, '(')
  for (let open = 1; open > 0; next(cursor)) {
    if (peek(cursor).kind === 'end') throw cqlFault(cursor, ')')
    if (isWord(peek(cursor), '(')) open++
    if (isWord(peek(cursor), ')')) open--
  }
}

/** `[keyspace.]name`. */
export function parseName(cursor: CqlCursor): QualifiedName {
  const name = expectName(cursor)
  return accept(cursor, '.') ? { keyspace: name, name: expectName(cursor) } : { keyspace: undefined, name }
}

/** Steps over a type and says where it stands. */
export function skipType(cursor: CqlCursor): TypePlace {
  const place = cursor.at
  if (peek(cursor).kind === 'string') {
    next(cursor)
    return place
  }
  expectName(cursor, 'a type')
  if (accept(cursor, '.')) expectName(cursor, 'a type')
  if (!accept(cursor, '<')) return place
  for (let open = 1; open > 0; next(cursor)) {
    const token = peek(cursor)
    if (token.kind === 'end' || isWord(token, ';')) throw cqlFault(cursor, '>')
    if (isWord(token, '<')) open++
    if (isWord(token, '>')) open--
  }
  return place
}

/** Microseconds. */
export function parseTimestamp(cursor: CqlCursor): bigint {
  const token = peek(cursor)
  if (token.kind !== 'integer') throw cqlFault(cursor, 'a timestamp in microseconds')
  return BigInt(next(cursor).value)
}
