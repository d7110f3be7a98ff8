import { describe, expect, test } from 'vitest'
import type { CqlType, UdtType } from '../../../storage/schema/cql-type.ts'
import { isMultiCell, sameValues } from '../../../storage/schema/cql-type.ts'
import type { UdtLookup } from '../../../storage/schema/cql-type-text.ts'
import { formatCqlType, parseCqlType } from '../../../storage/schema/cql-type-text.ts'
import { parseMarshalType } from '../../../storage/schema/marshal.ts'
import { fieldsOf } from './faults.ts'

const INT: CqlType = { kind: 'int' }
const udts: UdtLookup = (keyspace, name): UdtType | undefined => {
  const known = ['ks.t', 'ks.MyType', 'other.t', 'ks.int', 'ks.token']
  if (!known.includes(`${keyspace}.${name}`)) return undefined
  return { kind: 'udt', keyspace, name, fieldNames: ['a'], fields: [INT], frozen: false }
}
const parse = (text: string): CqlType => parseCqlType(text, udts, 'ks')

describe('parseCqlType', () => {
  test.each([
    'ascii',
    'counter',
    'empty',
    'list<int>',
    'frozen<list<int>>',
    'map<text, frozen<list<int>>>',
    'frozen<map<text, frozen<list<int>>>>',
    'set<frozen<tuple<int, frozen<set<uuid>>>>>',
    'vector<float, 3>',
    'vector<frozen<list<varint>>, 2>',
    't',
    'frozen<t>',
    '"MyType"',
    '"token"',
    'list<frozen<"MyType">>',
    "'org.apache.cassandra.db.marshal.DynamicCompositeType(a=>org.apache.cassandra.db.marshal.BytesType)'",
    "'org.apache.cassandra.db.marshal.LexicalUUIDType'",
  ])('%s comes back the same', (text) => {
    expect(formatCqlType(parse(text))).toBe(text)
  })

  test.each([
    ['VARCHAR', 'text'],
    ['Map < Text , List < INT > >', 'map<text, frozen<list<int>>>'],
    ['tuple<int>', 'frozen<tuple<int>>'],
    ['frozen<tuple<list<t>>>', 'frozen<tuple<frozen<list<frozen<t>>>>>'],
    ['T', 't'],
    ['ks.t', 't'],
    ['"int"', 'int'],
    ['frozen<int>', 'int'],
    ["'org.apache.cassandra.db.marshal.Int32Type'", 'int'],
  ])('%s is %s', (text, expected) => {
    expect(formatCqlType(parse(text))).toBe(expected)
  })

  test('finds a UDT in the keyspace it names', () => {
    expect(parse('frozen<other.t>')).toMatchObject({ kind: 'udt', keyspace: 'other', frozen: true })
    expect(parse('"int"')).toMatchObject({ kind: 'udt', name: 'int' })
  })

  test('only the outermost level is multi-cell', () => {
    expect(isMultiCell(parse('list<int>'))).toBe(true)
    expect(isMultiCell(parse('t'))).toBe(true)
    expect(isMultiCell(parse('frozen<t>'))).toBe(false)
    const nested = parse('map<text, list<t>>')
    expect(nested.kind === 'map' && nested.value).toMatchObject({
      kind: 'list',
      frozen: true,
      element: { frozen: true },
    })
  })

  test.each([
    ['', 0, 'a type'],
    ['nope', 0, 'a known type'],
    ['"Int"', 0, 'a known type'],
    ['list', 0, 'a known type'],
    ['list<int', 8, '>'],
    ['int<int>', 0, 'frozen, list, set, map, tuple or vector'],
    ['map<int>', 7, ','],
    ['vector<float, x>', 14, 'a positive dimension'],
    ['vector<float, 0>', 14, 'a positive dimension'],
    ['int int', 4, 'end of type'],
    ['int > ', 4, 'end of type'],
    ['list<'.repeat(70_000), 325, 'at most 64 levels'],
  ])('refuses %j', (text, position, expected) => {
    expect(fieldsOf(() => parse(text))).toMatchObject({ code: 'SCHEMA_INVALID', position, expected })
  })
})

describe('sameValues', () => {
  const same = (a: string, b: string, multiCell = true): boolean =>
    sameValues(parseMarshalType(a).type, parseMarshalType(b).type, multiCell)

  test('names of UDTs do not matter, fields do, up to the shorter', () => {
    expect(same('UserType(k,61,61:Int32Type)', 'UserType(k,62,62:Int32Type,63:UTF8Type)')).toBe(true)
    expect(same('UserType(k,61,61:Int32Type)', 'UserType(k,61,61:LongType)')).toBe(false)
    expect(same('FrozenType(UserType(k,61,61:Int32Type))', 'TupleType(Int32Type)')).toBe(true)
    expect(same('UserType(k,61,61:Int32Type)', 'TupleType(Int32Type)')).toBe(false)
  })

  test('multi-cell and frozen differ when asked', () => {
    expect(same('ListType(Int32Type)', 'FrozenType(ListType(Int32Type))')).toBe(false)
    expect(same('ListType(Int32Type)', 'FrozenType(ListType(Int32Type))', false)).toBe(true)
    expect(same('ListType(Int32Type)', 'SetType(Int32Type)', false)).toBe(false)
  })

  test('old classes have an order of their own', () => {
    expect(same('DateType', 'TimestampType')).toBe(false)
    expect(same('DateType', 'DateType')).toBe(true)
    expect(same('VectorType(FloatType,2)', 'VectorType(FloatType,3)')).toBe(false)
    expect(same('com.a.B', 'com.a.C')).toBe(false)
  })
})
