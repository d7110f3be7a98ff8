// Marshal class strings, as SSTable headers and old schemas name types (Cassandra's TypeParser):
// `org.apache.cassandra.db.marshal.MapType(org.apache.cassandra.db.marshal.UTF8Type,...)`, short names likewise. Only the
// outermost type of a column can be multi-cell: whatever is nested is frozen, written so (FrozenType) or not.

import { SluiceError } from '../errors.ts'
import type { CqlType, ScalarType } from './cql-type.ts'
import { freeze } from './cql-type.ts'

const PACKAGE = 'org.apache.cassandra.db.marshal.'
// Cassandra has no limit; no real schema comes near. A hostile header must not exhaust the stack.
const MAX_DEPTH = 64

const SCALARS: Record<string, ScalarType> = {
  AsciiType: { kind: 'ascii' },
  BooleanType: { kind: 'boolean' },
  BytesType: { kind: 'blob' },
  ByteType: { kind: 'tinyint' },
  CounterColumnType: { kind: 'counter' },
  DateType: { kind: 'timestamp', legacy: 'DateType' },
  DecimalType: { kind: 'decimal' },
  DoubleType: { kind: 'double' },
  DurationType: { kind: 'duration' },
  EmptyType: { kind: 'empty' },
  FloatType: { kind: 'float' },
  InetAddressType: { kind: 'inet' },
  Int32Type: { kind: 'int' },
  IntegerType: { kind: 'varint' },
  LegacyTimeUUIDType: { kind: 'timeuuid' },
  LexicalUUIDType: { kind: 'uuid', legacy: 'LexicalUUIDType' },
  LongType: { kind: 'bigint' },
  ShortType: { kind: 'smallint' },
  SimpleDateType: { kind: 'date' },
  TimestampType: { kind: 'timestamp' },
  TimeType: { kind: 'time' },
  TimeUUIDType: { kind: 'timeuuid' },
  UTF8Type: { kind: 'text' },
  UUIDType: { kind: 'uuid' },
}

const SCALAR_CLASSES = new Map(
  Object.entries(SCALARS)
    .filter(([name, type]) => type.legacy === undefined && name !== 'LegacyTimeUUIDType')
    .map(([name, type]) => [type.kind, name]),
)

interface MarshalReader {
  text: string
  at: number
}

/** A type and whether the column sorts in reverse (ReversedType, allowed outermost only). */
export interface MarshalType {
  type: CqlType
  reversed: boolean
}

/**
 * The type that a marshal class string names. Classes this product does not know become `custom`.
 * @throws SluiceError SCHEMA_INVALID with type (the text) and position
 */
export function parseMarshalType(text: string): MarshalType {
  const reader: MarshalReader = { text, at: 0 }
  const parsed = readTopLevel(reader)
  skipBlanks(reader)
  if (reader.at < text.length) throw invalid(reader, 'end of type')
  return parsed
}

/**
 * 3.0 wrote frozen UDT columns as `UserType(...)` without FrozenType, which since 3.6 means a multi-cell UDT. Only the schema
 * tells them apart: the header's type, frozen if the schema's is.
 */
export function repairFrozen(headerType: CqlType, schemaType: CqlType): CqlType {
  return headerType.kind === 'udt' && schemaType.kind === 'udt' && schemaType.frozen ? freeze(headerType) : headerType
}

/** Full class name of a type, without arguments. */
export function marshalClassName(type: CqlType): string {
  switch (type.kind) {
    case 'list':
      return `${PACKAGE}ListType`
    case 'set':
      return `${PACKAGE}SetType`
    case 'map':
      return `${PACKAGE}MapType`
    case 'tuple':
      return `${PACKAGE}TupleType`
    case 'udt':
      return `${PACKAGE}UserType`
    case 'vector':
      return `${PACKAGE}VectorType`
    case 'custom':
      return type.className.split('(')[0]
    default:
      return PACKAGE + (type.legacy ?? SCALAR_CLASSES.get(type.kind))
  }
}

/** The component types of a `CompositeType(...)` class string; undefined for any other class. */
export function compositeComponents(className: string): MarshalType[] | undefined {
  const reader: MarshalReader = { text: className, at: 0 }
  if (fullName(readWord(reader)) !== `${PACKAGE}CompositeType`) return undefined
  return readArguments(reader, () => readReversible(reader, 1))
}

/** Types by alias character of a `DynamicCompositeType(a=>...,...)` class string; undefined for any other class. */
export function dynamicCompositeAliases(className: string): Map<string, MarshalType> | undefined {
  const reader: MarshalReader = { text: className, at: 0 }
  if (fullName(readWord(reader)) !== `${PACKAGE}DynamicCompositeType`) return undefined
  return new Map(readArguments(reader, () => readAlias(reader, 1)))
}

function readTopLevel(reader: MarshalReader): MarshalType {
  return readReversible(reader, 0)
}

function readReversible(reader: MarshalReader, depth: number): MarshalType {
  const start = reader.at
  skipBlanks(reader)
  if (fullName(readWord(reader)) === `${PACKAGE}ReversedType`) {
    return { type: freeze(readSingleArgument(reader, depth)), reversed: true }
  }
  reader.at = start
  return { type: readType(reader, depth), reversed: false }
}

function readType(reader: MarshalReader, depth: number): CqlType {
  if (depth > MAX_DEPTH) throw invalid(reader, `at most ${MAX_DEPTH} levels`)
  skipBlanks(reader)
  const start = reader.at
  const word = readWord(reader)
  if (word === '') throw invalid(reader, 'a class name')
  const name = fullName(word)
  if (!name.startsWith(PACKAGE)) return readCustom(reader, name, depth)
  const simple = name.slice(PACKAGE.length)
  if (Object.hasOwn(SCALARS, simple)) {
    skipEmptyArguments(reader)
    return SCALARS[simple]
  }
  switch (simple) {
    case 'FrozenType':
      return freeze(readSingleArgument(reader, depth))
    case 'ListType':
      return { kind: 'list', element: freeze(readSingleArgument(reader, depth)), frozen: false }
    case 'SetType':
      return { kind: 'set', element: freeze(readSingleArgument(reader, depth)), frozen: false }
    case 'MapType': {
      const [key, value] = readTypes(reader, depth, 2)
      return { kind: 'map', key, value, frozen: false }
    }
    case 'TupleType':
      return { kind: 'tuple', fields: readTypes(reader, depth) }
    case 'UserType':
      return readUserType(reader, depth)
    case 'VectorType':
      return readVector(reader, depth)
    case 'ReversedType':
      throw invalid({ ...reader, at: start }, 'ReversedType outermost only')
    default:
      return readCustom(reader, name, depth)
  }
}

function readTypes(reader: MarshalReader, depth: number, count?: number): CqlType[] {
  const types = readArguments(reader, () => freeze(readType(reader, depth + 1)))
  if (types.length === 0 || (count !== undefined && types.length !== count)) {
    throw invalid(reader, count === undefined ? 'type arguments' : `${count} type argument${count > 1 ? 's' : ''}`)
  }
  return types
}

function readSingleArgument(reader: MarshalReader, depth: number): CqlType {
  const types = readArguments(reader, () => readType(reader, depth + 1))
  if (types.length !== 1) throw invalid(reader, '1 type argument')
  return types[0]
}

// UserType(keyspace,hex of the name,hex of a field's name:type,...)
function readUserType(reader: MarshalReader, depth: number): CqlType {
  let keyspace: string | undefined
  let name: string | undefined
  const fieldNames: string[] = []
  const fields: CqlType[] = []
  readArguments(reader, () => {
    if (keyspace === undefined) keyspace = readWord(reader)
    else if (name === undefined) name = readHexName(reader)
    else {
      fieldNames.push(readHexName(reader))
      skipBlanks(reader)
      expect(reader, ':')
      fields.push(freeze(readType(reader, depth + 1)))
    }
  })
  if (name === undefined) throw invalid(reader, 'keyspace and name of the UDT')
  return { kind: 'udt', keyspace: keyspace!, name, fieldNames, fields, frozen: false }
}

// VectorType(element , dimension)
function readVector(reader: MarshalReader, depth: number): CqlType {
  let element: CqlType | undefined
  let dimension = 0
  readArguments(reader, () => {
    if (element === undefined) element = freeze(readType(reader, depth + 1))
    else if (dimension === 0) dimension = readDimension(reader)
    else throw invalid(reader, ')')
  })
  if (element === undefined || dimension === 0) throw invalid(reader, 'element type and dimension')
  return { kind: 'vector', element, dimension }
}

function readDimension(reader: MarshalReader): number {
  const digits = readWord(reader)
  const dimension = /^\d{1,10}$/.test(digits) ? Number(digits) : 0
  if (dimension < 1 || dimension > 0x7fffffff) throw invalid(reader, 'a positive dimension')
  return dimension
}

// A class we do not know keeps its arguments as text; a composite's are checked by reading them.
function readCustom(reader: MarshalReader, name: string, depth: number): CqlType {
  skipBlanks(reader)
  const start = reader.at
  if (reader.text[start] !== '(') return { kind: 'custom', className: name }
  const isDynamic = name === `${PACKAGE}DynamicCompositeType`
  const isComposite = isDynamic || name === `${PACKAGE}CompositeType`
  if (!isComposite) skipParentheses(reader)
  else readArguments(reader, () => (isDynamic ? readAlias(reader, depth + 1) : readReversible(reader, depth + 1)))
  const text = reader.text.slice(start, reader.at).replace(/[ \t\n]+/g, '')
  const named = isComposite ? text.replace(/(?<![\w.])[A-Z]\w*Type(?![\w.])/g, fullName) : text
  return { kind: 'custom', className: name + named }
}

function readAlias(reader: MarshalReader, depth: number): [string, MarshalType] {
  const alias = readWord(reader)
  if (alias.length !== 1) throw invalid(reader, 'an alias of one character')
  skipBlanks(reader)
  expect(reader, '=')
  expect(reader, '>')
  return [alias, readReversible(reader, depth)]
}

// '(' item, item ... ')': calls readItem at the start of each.
function readArguments<Item>(reader: MarshalReader, readItem: () => Item): Item[] {
  const items: Item[] = []
  skipBlanks(reader)
  expect(reader, '(')
  for (;;) {
    skipBlanks(reader)
    if (reader.text[reader.at] === ')') break
    if (items.length > 0) {
      expect(reader, ',')
      skipBlanks(reader)
    }
    items.push(readItem())
  }
  reader.at++
  return items
}

// `Int32Type()` is `Int32Type`; arguments (the pre-1.0 `reversed=true`) would change the meaning.
function skipEmptyArguments(reader: MarshalReader): void {
  skipBlanks(reader)
  if (reader.text[reader.at] !== '(') return
  reader.at++
  skipBlanks(reader)
  expect(reader, ')')
}

function skipParentheses(reader: MarshalReader): void {
  let open = 0
  for (; reader.at < reader.text.length; reader.at++) {
    const char = reader.text[reader.at]
    if (char === '(') open++
    else if (char === ')' && --open === 0) {
      reader.at++
      return
    }
  }
  throw invalid(reader, ')')
}

// [0-9a-zA-Z+._&-]: Cassandra's identifier characters here.
function readWord(reader: MarshalReader): string {
  const word = /[0-9a-zA-Z+._&-]*/y
  word.lastIndex = reader.at
  word.test(reader.text)
  const start = reader.at
  reader.at = word.lastIndex
  return reader.text.slice(start, reader.at)
}

function readHexName(reader: MarshalReader): string {
  const hex = readWord(reader)
  if (hex.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(hex)) throw invalid(reader, 'a name in hex')
  return Buffer.from(hex, 'hex').toString('utf8')
}

function fullName(word: string): string {
  return word.includes('.') ? word : PACKAGE + word
}

function skipBlanks(reader: MarshalReader): void {
  const { text } = reader
  while (text[reader.at] === ' ' || text[reader.at] === '\t' || text[reader.at] === '\n') reader.at++
}

function expect(reader: MarshalReader, char: string): void {
  if (reader.text[reader.at] !== char) throw invalid(reader, char)
  reader.at++
}

function invalid(reader: MarshalReader, expected: string): SluiceError {
  const found = reader.text.slice(reader.at, reader.at + 20) || 'end of type'
  const type = reader.text.length > 200 ? reader.text.slice(0, 200) + '...' : reader.text
  return new SluiceError('SCHEMA_INVALID', { type, position: reader.at, expected, found })
}
