// Stepping through the tokens of a CQL text: what the type, DDL and literal parsers share.

import { SluiceError } from '../errors.ts'
import type { CqlTextSource, CqlToken } from './cql-lexer.ts'
import { faultFields, isWord, tokenize } from './cql-lexer.ts'

export interface CqlCursor {
  text: string
  tokens: CqlToken[]
  /** Index of the next token; the last one is of kind 'end'. */
  at: number
  source: CqlTextSource
}

/** @throws SluiceError of the source's code where no token starts */
export function cqlCursor(text: string, source: CqlTextSource): CqlCursor {
  return { text, tokens: tokenize(text, source), at: 0, source }
}

export function peek(cursor: CqlCursor, ahead = 0): CqlToken {
  return cursor.tokens[Math.min(cursor.at + ahead, cursor.tokens.length - 1)]
}

/** The next token, stepped over. The end stays where it is. */
export function next(cursor: CqlCursor): CqlToken {
  const token = cursor.tokens[cursor.at]
  if (token.kind !== 'end') cursor.at++
  return token
}

/** Steps over these words or punctuation if they come next, in this order; else stays. */
export function accept(cursor: CqlCursor, ...words: string[]): boolean {
  if (!words.every((word, i) => isWord(peek(cursor, i), word))) return false
  cursor.at += words.length
  return true
}

export function expect(cursor: CqlCursor, ...words: string[]): void {
  for (const word of words) if (!accept(cursor, word)) throw cqlFault(cursor, word.toUpperCase())
}

/** @throws SluiceError unless an identifier comes next (quoted or not, keyword or not) */
export function expectName(cursor: CqlCursor, expected = 'a name'): string {
  const token = peek(cursor)
  if (token.kind !== 'identifier') throw cqlFault(cursor, expected)
  return next(cursor).value
}

/** The error for the next token: another one was expected. */
export function cqlFault(cursor: CqlCursor, expected: string, token: CqlToken = peek(cursor)): SluiceError {
  const found =
    token.kind === 'end' ? 'end of text' : cursor.text.slice(token.position, Math.min(token.end, token.position + 40))
  return new SluiceError(cursor.source.code, {
    ...faultFields(cursor.text, token.position, cursor.source),
    expected,
    found,
  })
}
