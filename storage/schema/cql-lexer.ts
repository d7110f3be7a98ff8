// Splits CQL text into tokens, for the DDL parser and the predicate parser alike. Follows Cassandra's Lexer.g: unquoted
// identifiers are lower-cased, "" and '' escape a quote, $$...$$ is a string, comments are --, // and /* */.

import type { ErrorCode, ErrorFields } from '../errors.ts'
import { SluiceError } from '../errors.ts'

export type CqlTokenKind =
  | 'identifier'
  | 'string'
  | 'integer'
  | 'float'
  | 'boolean'
  | 'blob'
  | 'uuid'
  | 'duration'
  | 'punctuation'
  | 'end'

export interface CqlToken {
  kind: CqlTokenKind
  /**
   * identifier: the name (lower-cased unless quoted); string: its content; boolean: 'true' or 'false'; float: digits, 'NaN',
   * 'Infinity' or '-Infinity'; blob: the hex digits without 0x; punctuation: one of the operators; end: ''; else the source text.
   */
  value: string
  /** identifier: written in double quotes. Never a keyword then. */
  quoted: boolean
  /** 0-based UTF-16 offset of the first character in the text. */
  position: number
  /** Offset behind the last character. */
  end: number
}

/** Which error a fault in the text raises, and what to say beside the position. */
export interface CqlTextSource {
  code: ErrorCode
  fields?: ErrorFields
}

const DEFAULT_SOURCE: CqlTextSource = { code: 'BAD_PREDICATE' }

const DURATION_UNIT = '(?:y|mo|w|d|h|m|s|ms|us|\u00b5s|ns)'
const ISO_TIME = '(?:T(?:\\d+H)?(?:\\d+M)?(?:\\d+S)?)'
const NOT_A_NAME = '(?![A-Za-z0-9_])'
const HEX = '[0-9a-fA-F]'

const SKIPPED = /(?:[\s\ufeff]+|(?:--|\/\/)[^\n\r]*|\/\*[\s\S]*?\*\/)+/y
const UUID = new RegExp(`${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}${NOT_A_NAME}`, 'y')
const BLOB = new RegExp(`0[xX]${HEX}*${NOT_A_NAME}`, 'y')
// 3d12h, P1Y2M, P2W, P0001-02-03T04:05:06. A lone P is a name.
const DURATION = new RegExp(
  `-?(?:(?:\\d+${DURATION_UNIT})+|P\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}|P(?=\\d|T\\d)(?:\\d+W|(?:\\d+Y)?(?:\\d+M)?(?:\\d+D)?${ISO_TIME}?))${NOT_A_NAME}`,
  'iy',
)
const FLOAT = /-?\d+(?:\.\d*(?:[eE][+-]?\d+)?|[eE][+-]?\d+)/y
const SPECIAL_FLOAT = new RegExp(`-?(?:nan|infinity)${NOT_A_NAME}`, 'iy')
const INTEGER = /-?\d+/y
const NAME = /[A-Za-z][A-Za-z0-9_]*/y
const QUOTED_NAME = /"(?:[^"]|"")*"/y
const STRING = /'(?:[^']|'')*'/y
const DOLLAR_STRING = /\$\$[\s\S]*?\$\$/y
// A comment that does not end is no slash.
const PUNCTUATION = /<=|>=|!=|\+=|-=|[=<>()[\]{},;:.?*+\-%]|\/(?!\*)/y

/**
 * The tokens of a CQL text, closed by one of kind 'end'.
 * @throws SluiceError of the source's code, with position and found, where no token starts
 */
export function tokenize(text: string, source: CqlTextSource = DEFAULT_SOURCE): CqlToken[] {
  const tokens: CqlToken[] = []
  let at = matchEnd(SKIPPED, text, 0)
  while (at < text.length) {
    const token = tokenAt(text, at)
    if (token === undefined) throw unexpected(text, at, source)
    tokens.push(token)
    at = matchEnd(SKIPPED, text, token.end)
  }
  tokens.push({ kind: 'end', value: '', quoted: false, position: text.length, end: text.length })
  return tokens
}

/** The token is this unquoted word (given in lower case) or punctuation. */
export function isWord(token: CqlToken, word: string): boolean {
  if (token.kind === 'identifier') return !token.quoted && token.value === word
  return (token.kind === 'punctuation' || token.kind === 'boolean') && token.value === word
}

/** The fields of an error about the text at `position`: those of the source, and the line where it is a file. */
export function faultFields(text: string, position: number, source: CqlTextSource): ErrorFields {
  const line = source.fields?.file === undefined ? undefined : lineOf(text, position)
  return { ...source.fields, line, position }
}

/** 1-based line of an offset. */
export function lineOf(text: string, position: number): number {
  let line = 1
  for (let i = text.indexOf('\n'); i >= 0 && i < position; i = text.indexOf('\n', i + 1)) line++
  return line
}

function tokenAt(text: string, at: number): CqlToken | undefined {
  let end: number
  const token = (kind: CqlTokenKind, value: string, quoted = false): CqlToken => ({
    kind,
    value,
    quoted,
    position: at,
    end,
  })
  const matches = (pattern: RegExp): boolean => (end = matchEnd(pattern, text, at)) > at
  if (matches(UUID)) return token('uuid', text.slice(at, end!))
  if (matches(BLOB)) return token('blob', text.slice(at + 2, end!))
  if (matches(DURATION)) return token('duration', text.slice(at, end!))
  if (matches(FLOAT)) return token('float', text.slice(at, end!))
  if (matches(SPECIAL_FLOAT)) return token('float', specialFloat(text.slice(at, end!)))
  if (matches(INTEGER)) return token('integer', text.slice(at, end!))
  if (matches(NAME)) {
    const name = text.slice(at, end!).toLowerCase()
    return token(name === 'true' || name === 'false' ? 'boolean' : 'identifier', name)
  }
  if (matches(QUOTED_NAME)) return token('identifier', text.slice(at + 1, end! - 1).replaceAll('""', '"'), true)
  if (matches(STRING)) return token('string', text.slice(at + 1, end! - 1).replaceAll("''", "'"))
  if (matches(DOLLAR_STRING)) return token('string', text.slice(at + 2, end! - 2))
  if (matches(PUNCTUATION)) return token('punctuation', text.slice(at, end!))
  return undefined
}

function specialFloat(text: string): string {
  if (text.toLowerCase().endsWith('nan')) return 'NaN'
  return text.startsWith('-') ? '-Infinity' : 'Infinity'
}

function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

function unexpected(text: string, at: number, source: CqlTextSource): SluiceError {
  const found = text.slice(at, at + 20)
  const open: Record<string, string> = { "'": "closing '", '"': 'closing "', $: 'closing $$', '/': 'closing */' }
  const expected = open[text[at]]
  return new SluiceError(source.code, { ...faultFields(text, at, source), expected, found })
}
