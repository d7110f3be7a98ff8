import { describe, expect, test } from 'vitest'
import { cqlCursor, peek } from '../../../storage/schema/cql-cursor.ts'
import { readLiteral } from '../../../storage/schema/cql-literals.ts'
import { parseMarshalType } from '../../../storage/schema/marshal.ts'
import { fieldsOf } from './faults.ts'
import { type LiteralFact, literalFacts } from './type-facts.ts'

function read(type: string, literal: string): string {
  const cursor = cqlCursor(literal, { code: 'BAD_PREDICATE' })
  const bytes = readLiteral(cursor, parseMarshalType(type).type)
  if (peek(cursor).kind !== 'end') throw new Error('more text behind the literal')
  return Buffer.from(bytes).toString('hex')
}

/** Where Cassandra does what nobody would ask for, or what only its arithmetic explains. */
function isQuirk({ type, literal }: LiteralFact): boolean {
  // Terms with a minus in front are arithmetic, of a type of their own.
  if (literal.startsWith('-(') || literal.startsWith('- ')) return true
  // A blob passes for a tinyint (the preferred type of hex is ByteType), a number for a tuple, '5' for 0.0.0.5.
  if (type === 'ByteType' && literal.startsWith('0')) return /^0x/i.test(literal)
  if (type.startsWith('TupleType(Int32Type') && literal === '1') return true
  if (type === 'InetAddressType' && literal === "'5'") return true
  // Numbers beyond double fail even as decimals: Cassandra asks first whether a double would do.
  return type === 'DecimalType' && /^-?1e(400|2147483647|2147483648)$/.test(literal)
}

describe('readLiteral makes of literals what Cassandra makes of them', () => {
  const byType = groupByType(literalFacts())
  test.each([...byType])('%s', (_type, facts) => {
    const wrong: string[] = []
    for (const fact of facts) {
      if (isQuirk(fact) || fact.bytes === null) continue
      let found: string | undefined
      const fields = fieldsOf(() => {
        found = readOrUndefined(fact)
      })
      if (fields !== undefined && fields.code !== 'BAD_PREDICATE') wrong.push(`${fact.literal}: ${fields.code}`)
      if (found !== fact.bytes)
        wrong.push(`${fact.literal}: ${found ?? JSON.stringify(fields)}, not ${fact.bytes ?? fact.error}`)
    }
    expect(wrong).toEqual([])
  })

  test('the facts hold values and refusals', () => {
    const facts = literalFacts()
    expect(facts.filter((fact) => fact.bytes !== undefined).length).toBeGreaterThan(1200)
    expect(facts.filter((fact) => fact.error !== undefined).length).toBeGreaterThan(3000)
  })
})

function readOrUndefined(fact: LiteralFact): string | undefined {
  try {
    return read(fact.type, fact.literal)
  } catch (error) {
    if (error instanceof Error && error.message === 'more text behind the literal') return undefined
    throw error
  }
}

function groupByType(facts: LiteralFact[]): Map<string, LiteralFact[]> {
  const groups = new Map<string, LiteralFact[]>()
  for (const fact of facts) groups.set(fact.type, [...(groups.get(fact.type) ?? []), fact])
  return groups
}

describe('readLiteral', () => {
  test('a minus may stand apart from its number', () => {
    expect(read('Int32Type', '- 5')).toBe(read('Int32Type', '-5'))
    expect(read('DoubleType', '- 1.5')).toBe(read('DoubleType', '-1.5'))
    expect(fieldsOf(() => read('Int32Type', '- -5'))).toMatchObject({ code: 'BAD_PREDICATE', position: 0 })
  })

  test('decimals may be larger than any double', () => {
    expect(read('DecimalType', '1e400')).toBe('fffffe7001')
    expect(fieldsOf(() => read('DecimalType', '1e-2147483648'))).toMatchObject({ code: 'BAD_PREDICATE' })
    expect(fieldsOf(() => read('DoubleType', '1e400'))).toMatchObject({ reason: 'out of range' })
  })

  test.each([
    ['Int32Type', "'5'", 0, 'a value of type int', undefined],
    ['Int32Type', '2147483648', 0, 'a value of type int', 'out of range'],
    ['FrozenType(ListType(Int32Type))', "[1, 'a']", 4, 'a value of type int', undefined],
    ['FrozenType(ListType(Int32Type))', '[1, null]', 4, 'a value of type int', 'null is no value here'],
    ['TupleType(Int32Type)', '(1, 2)', 0, 'a value of type frozen<tuple<int>>', 'it has more than 1 fields'],
    ['FrozenType(UserType(ks,74,61:Int32Type))', '{b: 1}', 1, 'a value of type frozen<t>', 'it has no field b'],
    ['VectorType(FloatType , 2)', '[1]', 0, 'a value of type vector<float, 2>', 'it has 1 elements'],
    ['TimestampType', 'now()', 0, 'a value of type timestamp', 'functions are not called here'],
    ['TimeUUIDType', 'aaaaaaaa-1111-4222-b333-444444444444', 0, 'a value of type timeuuid', 'a timeuuid has version 1'],
    ['UTF8Type', '', 0, 'a value of type text', undefined],
    ['UTF8Type', '?', 0, 'a value of type text', undefined],
  ])('%s: %s is refused with its place', (type, literal, position, expected, reason) => {
    const fields = fieldsOf(() => read(type, literal))
    expect(fields).toMatchObject({ code: 'BAD_PREDICATE', position, expected })
    expect(fields?.reason).toBe(reason)
  })

  test('deep nesting ends in an error', () => {
    expect(fieldsOf(() => read('Int32Type', '('.repeat(100_000)))).toMatchObject({ code: 'BAD_PREDICATE' })
  })
})
