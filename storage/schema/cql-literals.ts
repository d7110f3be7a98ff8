// CQL literals to on-disk bytes, typed by what they are compared with: Cassandra's Constants, Lists, Sets, Maps, Tuples, UserTypes
// and Vectors. Which literal suits which type follows Constants.Literal.testAssignment.
//
//   literal := constant | [ - ] number | '(' literal ')'
//            | '[' [ literal { ',' literal } ] ']'                          list, vector
//            | '{' [ literal { ',' literal } ] '}'                          set
//            | '{' [ literal ':' literal { ',' literal ':' literal } ] '}'  map
//            | '{' name ':' term { ',' name ':' term } '}'                  user-defined type
//            | '(' term { ',' term } ')'                                    tuple, user-defined type
//            | minTimeuuid '(' timestamp ')' | maxTimeuuid '(' timestamp ')'
//   term    := literal | NULL

import { SluiceError } from '../errors.ts'
import { type ByteSink, newSink, pushBytes, sinkBytes } from './byte-sink.ts'
import { comparator } from './compare.ts'
import { accept, type CqlCursor, cqlFault, expect, expectName, next, peek } from './cql-cursor.ts'
import { type CqlToken, faultFields, isWord } from './cql-lexer.ts'
import type { CqlType, ListType, MapType, UdtType, VectorType } from './cql-type.ts'
import { formatCqlType } from './cql-type-text.ts'
import { fixedLength } from './fixed-length.ts'
import { constantBytes, timeuuidAt } from './literal-constants.ts'
import { parseTimestamp } from './literal-times.ts'

const MAX_DEPTH = 32

/**
 * Reads a literal of this type from where the cursor stands.
 * @returns the value's on-disk bytes; of a multi-cell type, those of its frozen form
 * @throws SluiceError of the cursor's code with position, expected (the type) and found
 */
export function readLiteral(cursor: CqlCursor, type: CqlType, depth = 0): Uint8Array {
  const token = peek(cursor)
  if (depth > MAX_DEPTH) throw cqlFault(cursor, `at most ${MAX_DEPTH} levels`)
  if (isWord(token, 'null')) throw literalFault(cursor, type, token, 'null is no value here')
  switch (type.kind) {
    case 'tuple':
      return readTuple(cursor, type, type.fields, depth)
    case 'udt':
      if (isWord(token, '{')) return readUdt(cursor, type, depth)
      if (isWord(token, '(')) return readTuple(cursor, type, type.fields, depth)
      break
    case 'list':
      if (isWord(token, '[')) return readList(cursor, type, depth)
      break
    case 'set':
      if (isWord(token, '{')) return readSet(cursor, type, depth)
      break
    case 'map':
      if (isWord(token, '{')) return readMap(cursor, type, depth)
      break
    case 'vector':
      if (isWord(token, '[')) return readVector(cursor, type, depth)
      break
    case 'timeuuid':
      if (isWord(token, 'mintimeuuid') || isWord(token, 'maxtimeuuid')) return readTimeuuidFunction(cursor)
  }
  // A parenthesised term is the term, except for tuples.
  if (accept(cursor, '(')) {
    const bytes = readLiteral(cursor, type, depth + 1)
    expect(cursor, ')')
    return bytes
  }
  return readConstant(cursor, type)
}

function readConstant(cursor: CqlCursor, type: CqlType): Uint8Array {
  let token = peek(cursor)
  const sign = peek(cursor, 1)
  if (isWord(token, '-') && ['integer', 'float', 'duration'].includes(sign.kind) && !sign.value.startsWith('-')) {
    next(cursor)
    token = { ...sign, position: token.position, value: `-${sign.value}` }
  }
  const result = constantBytes(token, type)
  if (typeof result === 'string') throw literalFault(cursor, type, token, result || undefined)
  next(cursor)
  return result
}

function readList(cursor: CqlCursor, type: ListType, depth: number): Uint8Array {
  return counted(readElements(cursor, type.element, '[', ']', depth))
}

function readSet(cursor: CqlCursor, type: ListType, depth: number): Uint8Array {
  const elements = readElements(cursor, type.element, '{', '}', depth)
  // Of equal elements (1.0 and 1.00) the first stays.
  return counted(sortedDistinct(elements.reverse(), (element) => element, type.element))
}

function readMap(cursor: CqlCursor, type: MapType, depth: number): Uint8Array {
  const entries: [Uint8Array, Uint8Array][] = []
  expect(cursor, '{')
  if (!accept(cursor, '}')) {
    do {
      const key = readLiteral(cursor, type.key, depth + 1)
      expect(cursor, ':')
      entries.push([key, readLiteral(cursor, type.value, depth + 1)])
    } while (accept(cursor, ','))
    expect(cursor, '}')
  }
  const distinct = sortedDistinct(entries, ([key]) => key, type.key)
  return counted(distinct.flat(), distinct.length)
}

function readVector(cursor: CqlCursor, type: VectorType, depth: number): Uint8Array {
  const token = peek(cursor)
  const elements = readElements(cursor, type.element, '[', ']', depth)
  if (elements.length !== type.dimension) throw literalFault(cursor, type, token, `it has ${elements.length} elements`)
  const sink = newSink()
  const isFixed = fixedLength(type.element) >= 0
  for (const element of elements) {
    // A fixed length leaves no room for an empty element.
    if (isFixed && element.length === 0) throw literalFault(cursor, type, token, 'an element is empty')
    if (!isFixed) pushUvint(sink, element.length)
    pushBytes(sink, element)
  }
  return sinkBytes(sink)
}

function readTuple(cursor: CqlCursor, type: CqlType, fields: CqlType[], depth: number): Uint8Array {
  const token = peek(cursor)
  if (!accept(cursor, '(')) throw literalFault(cursor, type, token)
  const values: (Uint8Array | null)[] = []
  do {
    if (values.length === fields.length)
      throw literalFault(cursor, type, token, `it has more than ${fields.length} fields`)
    values.push(readTerm(cursor, fields[values.length], depth + 1))
  } while (accept(cursor, ','))
  expect(cursor, ')')
  return fieldBytes(values)
}

function readUdt(cursor: CqlCursor, type: UdtType, depth: number): Uint8Array {
  const values: (Uint8Array | null)[] = type.fields.map(() => null)
  expect(cursor, '{')
  do {
    const token = peek(cursor)
    const i = type.fieldNames.indexOf(expectName(cursor, 'a field'))
    if (i < 0) throw literalFault(cursor, type, token, `it has no field ${token.value}`)
    expect(cursor, ':')
    values[i] = readTerm(cursor, type.fields[i], depth + 1)
  } while (accept(cursor, ','))
  expect(cursor, '}')
  return fieldBytes(values)
}

function readTerm(cursor: CqlCursor, type: CqlType, depth: number): Uint8Array | null {
  return accept(cursor, 'null') ? null : readLiteral(cursor, type, depth)
}

function readTimeuuidFunction(cursor: CqlCursor): Uint8Array {
  const isMax = next(cursor).value === 'maxtimeuuid'
  expect(cursor, '(')
  const token = peek(cursor)
  const isTime = token.kind === 'string' || token.kind === 'integer'
  const time = isTime ? parseTimestamp(token.value) : undefined
  if (time === undefined) throw literalFault(cursor, { kind: 'timestamp' }, token)
  next(cursor)
  expect(cursor, ')')
  return timeuuidAt(time, isMax)
}

function readElements(cursor: CqlCursor, type: CqlType, open: string, close: string, depth: number): Uint8Array[] {
  const elements: Uint8Array[] = []
  expect(cursor, open)
  if (accept(cursor, close)) return elements
  do elements.push(readLiteral(cursor, type, depth + 1))
  while (accept(cursor, ','))
  expect(cursor, close)
  return elements
}

/** In the order of the type; of equal ones the last. */
function sortedDistinct<Item>(items: Item[], keyOf: (item: Item) => Uint8Array, type: CqlType): Item[] {
  const order = comparator(type)
  const compare = (a: Item, b: Item): number => {
    const [x, y] = [keyOf(a), keyOf(b)]
    return order(x, viewOf(x), 0, x.length, y, viewOf(y), 0, y.length)
  }
  const sorted = items.toSorted(compare)
  return sorted.filter((item, i) => i === sorted.length - 1 || compare(item, sorted[i + 1]) !== 0)
}

function counted(values: Uint8Array[], count = values.length): Uint8Array {
  const sink = newSink()
  pushInt(sink, count)
  for (const value of values) pushPart(sink, value)
  return sinkBytes(sink)
}

function fieldBytes(values: (Uint8Array | null)[]): Uint8Array {
  const sink = newSink()
  for (const value of values) pushPart(sink, value)
  return sinkBytes(sink)
}

function pushPart(sink: ByteSink, value: Uint8Array | null): void {
  pushInt(sink, value === null ? -1 : value.length)
  if (value !== null) pushBytes(sink, value)
}

function pushInt(sink: ByteSink, value: number): void {
  pushBytes(sink, Uint8Array.of(value >> 24, value >> 16, value >> 8, value))
}

// Lengths of elements that a user typed in: at most 3 bytes by the length of a request.
function pushUvint(sink: ByteSink, value: number): void {
  if (value < 0x80) pushBytes(sink, Uint8Array.of(value))
  else if (value < 0x4000) pushBytes(sink, Uint8Array.of(0x80 | (value >> 8), value))
  else if (value < 0x200000) pushBytes(sink, Uint8Array.of(0xc0 | (value >> 16), value >> 8, value))
  else pushBytes(sink, Uint8Array.of(0xe0 | (value >> 24), value >> 16, value >> 8, value))
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function literalFault(cursor: CqlCursor, type: CqlType, token: CqlToken, reason?: string): SluiceError {
  const found =
    token.kind === 'end' ? 'end of text' : cursor.text.slice(token.position, Math.min(token.end, token.position + 40))
  return new SluiceError(cursor.source.code, {
    ...faultFields(cursor.text, token.position, cursor.source),
    expected: `a value of type ${formatCqlType(type)}`,
    found,
    reason,
  })
}
