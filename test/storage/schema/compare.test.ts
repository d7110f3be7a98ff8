import { describe, expect, test } from 'vitest'
import type { ValueComparator } from '../../../storage/schema/compare.ts'
import { comparator, compareBytes } from '../../../storage/schema/compare.ts'
import { formatCqlType } from '../../../storage/schema/cql-type-text.ts'
import { fixedLength } from '../../../storage/schema/fixed-length.ts'
import { parseMarshalType } from '../../../storage/schema/marshal.ts'
import { fieldsOf } from './faults.ts'
import { typeFacts } from './type-facts.ts'

/** Compares two values that lie inside larger arrays, at offsets of their own. */
function compareHex(compare: ValueComparator, a: string, b: string): number {
  const x = Buffer.from(`a5${a}ff`, 'hex')
  const y = Buffer.from(`7f0102${b}00`, 'hex')
  return compare(x, view(x), 1, a.length / 2, y, view(y), 3, b.length / 2)
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

describe('comparator orders values as Cassandra does', () => {
  test.each(typeFacts.map((fact) => [fact.type, fact] as const))('%s', (name, fact) => {
    const { type } = parseMarshalType(name)
    const compare = comparator(type)
    const { values, ranks } = fact
    expect(values.length).toBeGreaterThan(name === 'EmptyType' ? 0 : 30)
    const wrong: string[] = []
    for (let i = 0; i < values.length; i++) {
      for (let j = 0; j < values.length; j++) {
        const found = Math.sign(compareHex(compare, values[i], values[j]))
        if (found !== Math.sign(ranks[i] - ranks[j])) wrong.push(`${values[i]} ${values[j]}: ${found}`)
      }
    }
    expect(wrong).toEqual([])
  })

  test.each(typeFacts.map((fact) => [fact.type, fact] as const))('%s has the CQL text and length', (name, fact) => {
    const { type } = parseMarshalType(name)
    expect(formatCqlType(type)).toBe(fact.cql)
    expect(fixedLength(type)).toBe(fact.fixed)
  })
})

describe('comparator', () => {
  const order = (name: string): ValueComparator => comparator(parseMarshalType(name).type)

  test('NaN of any bits is one value, the last', () => {
    const compare = order('DoubleType')
    expect(compareHex(compare, '7ff8000000000000', 'fff0000000000001')).toBe(0)
    expect(compareHex(compare, '7ff0000000000000', 'fff0000000000001')).toBeLessThan(0)
  })

  test('decimals with scales far apart are compared without building them', () => {
    const compare = order('DecimalType')
    expect(compareHex(compare, '8000000001', '7fffffff01')).toBeGreaterThan(0)
    expect(compareHex(compare, '80000000ff', '7fffffff01')).toBeLessThan(0)
    expect(compareHex(compare, '80000000ff', '7fffffffff')).toBeLessThan(0)
    expect(compareHex(compare, '8000000000', '7fffffff00')).toBe(0)
    expect(compareHex(compare, `80000000${'11'.repeat(20)}`, `7fffffff${'22'.repeat(20)}`)).toBeGreaterThan(0)
  })

  test('compareBytes is unsigned, a prefix first', () => {
    expect(compareHex(compareBytes, '', '')).toBe(0)
    expect(compareHex(compareBytes, '0102030405', '0102030405')).toBe(0)
    expect(compareHex(compareBytes, '01020304', '0102030400')).toBeLessThan(0)
    expect(compareHex(compareBytes, '80000000', '7fffffff')).toBeGreaterThan(0)
    expect(compareHex(compareBytes, '0102030405', '01020304ff')).toBeLessThan(0)
  })

  test.each([
    ['Int32Type', '00', '00000000'],
    ['UUIDType', '00', ''],
    ['DecimalType', '00000000', '0000000001'],
    ['ListType(Int32Type)', '000000', '00000000'],
    ['ListType(Int32Type)', '0000000100000005', '000000010000000400000000'],
    ['ListType(Int32Type)', '7fffffff', '7fffffff'],
    ['MapType(UTF8Type,UTF8Type)', '000000010000000161', '00000001000000016100000000'],
    ['TupleType(Int32Type)', '7fffffff', '00000000'],
    ['VectorType(FloatType,2)', '00000000', '0000000000000000'],
    ['VectorType(UTF8Type,2)', '0161', '0161'],
    ['VectorType(UTF8Type,1)', 'ffffffffffffffffff', '0161'],
    ['CompositeType(UTF8Type)', '000261', '00016100'],
    ['DynamicCompositeType(a=>UTF8Type)', '807a000000', '8061000000'],
    ['DynamicCompositeType(a=>UTF8Type)', '0fff', '8061000000'],
  ])('%s: damaged bytes %s against %s end in an error', (name, a, b) => {
    expect(fieldsOf(() => compareHex(order(name), a, b))).toMatchObject({ code: 'CORRUPT_SSTABLE' })
    expect(fieldsOf(() => compareHex(order(name), b, a))).toMatchObject({ code: 'CORRUPT_SSTABLE' })
  })

  test('fields that the type lacks still tell values apart', () => {
    const compare = order('TupleType(Int32Type)')
    const [a, b] = ['00000004000000010000000161', '00000004000000010000000162']
    expect(compareHex(compare, a, a)).toBe(0)
    expect(compareHex(compare, a, b)).toBeLessThan(0)
    expect(compareHex(compare, b, a)).toBeGreaterThan(0)
  })

  test('a class of unknown order is refused by name', () => {
    expect(fieldsOf(() => order('com.example.MyType'))).toMatchObject({
      code: 'UNSUPPORTED_TYPE',
      type: 'com.example.MyType',
    })
  })
})
