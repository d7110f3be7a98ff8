// CQL type text, as in system_schema.columns.type and in DDL, to CqlType and back (Cassandra's CQL3Type). Only the outermost
// type can be multi-cell; tuples and vectors never are. Cassandra prints every frozen level: frozen<map<text, frozen<list<int>>>>.

import { isSluiceError, SluiceError } from '../errors.ts'
import type { CqlCursor } from './cql-cursor.ts'
import { accept, cqlCursor, cqlFault, expect, expectName, next, peek } from './cql-cursor.ts'
import { type CqlToken, faultFields } from './cql-lexer.ts'
import { quoteName } from './cql-names.ts'
import type { CqlType, ScalarKind, UdtType } from './cql-type.ts'
import { freeze } from './cql-type.ts'
import { parseMarshalType } from './marshal.ts'

/** Finds a UDT by name; keyspace is the one named in the text (`ks.type`) or the table's. */
export type UdtLookup = (keyspace: string, name: string) => UdtType | undefined

const MAX_DEPTH = 64

const SCALAR_NAMES: Record<string, ScalarKind> = {
  ascii: 'ascii',
  bigint: 'bigint',
  blob: 'blob',
  boolean: 'boolean',
  counter: 'counter',
  date: 'date',
  decimal: 'decimal',
  double: 'double',
  duration: 'duration',
  empty: 'empty',
  float: 'float',
  inet: 'inet',
  int: 'int',
  smallint: 'smallint',
  text: 'text',
  time: 'time',
  timestamp: 'timestamp',
  timeuuid: 'timeuuid',
  tinyint: 'tinyint',
  uuid: 'uuid',
  varchar: 'text',
  varint: 'varint',
}

/**
 * @param udts lookup of user-defined types; undefined results are errors
 * @param keyspace where unqualified type names are looked up
 * @throws SluiceError SCHEMA_INVALID with type (the text) and position
 */
export function parseCqlType(text: string, udts: UdtLookup, keyspace: string): CqlType {
  const cursor = cqlCursor(text, { code: 'SCHEMA_INVALID', fields: { type: text.slice(0, 200) } })
  const type = readCqlType(cursor, udts, keyspace)
  if (peek(cursor).kind !== 'end') throw cqlFault(cursor, 'end of type')
  return type
}

/** Reads a type from where the cursor stands and steps over it. */
export function readCqlType(cursor: CqlCursor, udts: UdtLookup, keyspace: string, depth = 0): CqlType {
  if (depth > MAX_DEPTH) throw cqlFault(cursor, `at most ${MAX_DEPTH} levels`)
  const token = peek(cursor)
  if (token.kind === 'string') {
    next(cursor)
    return readClassName(cursor, token)
  }
  const name = expectName(cursor, 'a type')
  const nested = (): CqlType => freeze(readCqlType(cursor, udts, keyspace, depth + 1))
  // A quoted name, or one with a keyspace, is a UDT's even if it spells a built-in type.
  if (!token.quoted && !accept(cursor, '.')) {
    if (accept(cursor, '<')) {
      const type = readParameters(cursor, name, nested)
      expect(cursor, '>')
      return type
    }
    if (Object.hasOwn(SCALAR_NAMES, name)) return { kind: SCALAR_NAMES[name] }
    return findUdt(cursor, udts, keyspace, name)
  }
  if (token.quoted && !accept(cursor, '.')) return findUdt(cursor, udts, keyspace, name)
  return findUdt(cursor, udts, name, expectName(cursor, 'the name of a type'))
}

/** The type as DESCRIBE and system_schema print it. */
export function formatCqlType(type: CqlType): string {
  switch (type.kind) {
    case 'list':
    case 'set':
      return formatFrozen(type.frozen, `${type.kind}<${formatCqlType(type.element)}>`)
    case 'map':
      return formatFrozen(type.frozen, `map<${formatCqlType(type.key)}, ${formatCqlType(type.value)}>`)
    case 'tuple':
      return `frozen<tuple<${type.fields.map(formatCqlType).join(', ')}>>`
    case 'udt':
      return formatFrozen(type.frozen, quoteName(type.name))
    case 'vector':
      return `vector<${formatCqlType(type.element)}, ${type.dimension}>`
    case 'custom':
      return `'${type.className}'`
    default:
      return type.legacy === 'LexicalUUIDType' ? "'org.apache.cassandra.db.marshal.LexicalUUIDType'" : type.kind
  }
}

function formatFrozen(frozen: boolean, text: string): string {
  return frozen ? `frozen<${text}>` : text
}

function readParameters(cursor: CqlCursor, name: string, nested: () => CqlType): CqlType {
  switch (name) {
    case 'frozen':
      return nested()
    case 'list':
    case 'set':
      return { kind: name, element: nested(), frozen: false }
    case 'map': {
      const key = nested()
      expect(cursor, ',')
      return { kind: 'map', key, value: nested(), frozen: false }
    }
    case 'tuple': {
      const fields = [nested()]
      while (accept(cursor, ',')) fields.push(nested())
      return { kind: 'tuple', fields }
    }
    case 'vector': {
      const element = nested()
      expect(cursor, ',')
      return { kind: 'vector', element, dimension: readDimension(cursor) }
    }
    default:
      cursor.at -= 2
      throw cqlFault(cursor, 'frozen, list, set, map, tuple or vector')
  }
}

function readClassName(cursor: CqlCursor, token: CqlToken): CqlType {
  try {
    return parseMarshalType(token.value).type
  } catch (error) {
    if (!isSluiceError(error)) throw error
    const { position } = error.fields
    const fault = cqlFault(cursor, error.fields.expected ?? 'a class name', token)
    throw fault.with({ type: token.value.slice(0, 200), reason: `at character ${position} of the class name` })
  }
}

function readDimension(cursor: CqlCursor): number {
  const token = peek(cursor)
  const dimension = token.kind === 'integer' ? Number(token.value) : 0
  if (dimension < 1 || dimension > 0x7fffffff) throw cqlFault(cursor, 'a positive dimension')
  next(cursor)
  return dimension
}

function findUdt(cursor: CqlCursor, udts: UdtLookup, keyspace: string, name: string): UdtType {
  const udt = udts(keyspace, name)
  if (udt !== undefined) return udt
  const { position } = cursor.tokens[cursor.at - 1]
  throw new SluiceError(cursor.source.code, {
    ...faultFields(cursor.text, position, cursor.source),
    keyspace,
    expected: 'a known type',
    found: name,
  })
}
