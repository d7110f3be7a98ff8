import { describe, expect, test } from 'vitest'
import { formatCqlType } from '../../../storage/schema/cql-type-text.ts'
import { fixedLength } from '../../../storage/schema/fixed-length.ts'
import {
  compositeComponents,
  dynamicCompositeAliases,
  parseMarshalType,
  repairFrozen,
} from '../../../storage/schema/marshal.ts'
import { fieldsOf } from './faults.ts'

const M = 'org.apache.cassandra.db.marshal.'
const cql = (text: string): string => {
  const { type, reversed } = parseMarshalType(text)
  return (reversed ? 'reversed ' : '') + formatCqlType(type)
}
/** Writes the package before every class, as headers do. */
const full = (text: string): string => text.replace(/\b[A-Z]\w*Type\b/g, (name) => M + name)

describe('parseMarshalType', () => {
  test.each([
    ['AsciiType', 'ascii'],
    ['BooleanType', 'boolean'],
    ['BytesType', 'blob'],
    ['ByteType', 'tinyint'],
    ['CounterColumnType', 'counter'],
    ['DateType', 'timestamp'],
    ['DecimalType', 'decimal'],
    ['DoubleType', 'double'],
    ['DurationType', 'duration'],
    ['EmptyType', 'empty'],
    ['FloatType', 'float'],
    ['InetAddressType', 'inet'],
    ['Int32Type', 'int'],
    ['IntegerType', 'varint'],
    ['LexicalUUIDType', `'${M}LexicalUUIDType'`],
    ['LongType', 'bigint'],
    ['ShortType', 'smallint'],
    ['SimpleDateType', 'date'],
    ['TimestampType', 'timestamp'],
    ['TimeType', 'time'],
    ['TimeUUIDType', 'timeuuid'],
    ['UTF8Type', 'text'],
    ['UUIDType', 'uuid'],
    ['ReversedType(Int32Type)', 'reversed int'],
    ['ReversedType(ListType(Int32Type))', 'reversed frozen<list<int>>'],
    ['ListType(Int32Type)', 'list<int>'],
    ['FrozenType(ListType(Int32Type))', 'frozen<list<int>>'],
    ['MapType(UTF8Type,FrozenType(ListType(Int32Type)))', 'map<text, frozen<list<int>>>'],
    ['FrozenType(MapType(UTF8Type,ListType(Int32Type)))', 'frozen<map<text, frozen<list<int>>>>'],
    ['SetType(TupleType(Int32Type,SetType(UUIDType)))', 'set<frozen<tuple<int, frozen<set<uuid>>>>>'],
    ['VectorType(FloatType , 3)', 'vector<float, 3>'],
    ['VectorType(FrozenType(ListType(IntegerType)) , 2)', 'vector<frozen<list<varint>>, 2>'],
    ['UserType(ks,4d7954797065,61:Int32Type,62:UTF8Type)', '"MyType"'],
    ['ListType(UserType(ks,74,61:ListType(Int32Type)))', 'list<frozen<t>>'],
    [
      'CompositeType(UTF8Type, ReversedType(Int32Type))',
      `'${M}CompositeType(${M}UTF8Type,${M}ReversedType(${M}Int32Type))'`,
    ],
    ['DynamicCompositeType(a=>BytesType,b=>LongType)', `'${M}DynamicCompositeType(a=>${M}BytesType,b=>${M}LongType)'`],
    ['com.example.MyClass', `'com.example.MyClass'`],
    ['com.example.My(x, (y))', `'com.example.My(x,(y))'`],
  ])('%s', (text, expected) => {
    expect(cql(full(text))).toBe(expected)
    expect(cql(text)).toBe(expected)
  })

  test('a UDT has keyspace, name, fields; those nested in it are frozen', () => {
    expect(
      parseMarshalType(full('UserType(CaseKs,4d79,61:FrozenType(SetType(UTF8Type)),c3a9:Int32Type)')).type,
    ).toEqual({
      kind: 'udt',
      keyspace: 'CaseKs',
      name: 'My',
      fieldNames: ['a', 'é'],
      fields: [{ kind: 'set', element: { kind: 'text' }, frozen: true }, { kind: 'int' }],
      frozen: false,
    })
  })

  test.each([
    ['', 0],
    ['(', 0],
    ['Int32Type)', 9],
    ['Int32Type(x)', 10],
    ['ListType', 8],
    ['ListType(', 9],
    ['ListType()', 10],
    ['ListType(Int32Type', 18],
    ['ListType(Int32Type Int32Type)', 19],
    ['ListType(ReversedType(Int32Type))', 9],
    ['MapType(Int32Type)', 18],
    ['TupleType()', 11],
    ['UserType(ks)', 12],
    ['UserType(ks,6)', 13],
    ['UserType(ks,61,62)', 17],
    ['VectorType(FloatType)', 21],
    ['VectorType(FloatType,0)', 22],
    ['VectorType(FloatType,99999999999)', 32],
    ['DynamicCompositeType(ab=>BytesType)', 23],
    ['com.example.X(y', 15],
    ['ListType('.repeat(100), 585],
  ])('refuses %j', (text, position) => {
    const fields = fieldsOf(() => parseMarshalType(text))
    expect(fields).toMatchObject({ code: 'SCHEMA_INVALID', position })
  })

  test('a hostile depth ends in an error, in custom classes too', () => {
    for (const name of [
      'FrozenType(',
      'CompositeType(',
      'ReversedType(',
      'UserType(k,61,61:',
      'DynamicCompositeType(a=>',
    ]) {
      expect(fieldsOf(() => parseMarshalType(name.repeat(50_000)))).toMatchObject({ code: 'SCHEMA_INVALID' })
    }
  })
})

test('repairFrozen freezes a UDT that the schema has frozen', () => {
  const udt = parseMarshalType('UserType(ks,74,61:Int32Type)').type
  const frozen = parseMarshalType('FrozenType(UserType(ks,74,61:Int32Type,62:Int32Type))').type
  expect(formatCqlType(repairFrozen(udt, frozen))).toBe('frozen<t>')
  expect(formatCqlType(repairFrozen(udt, udt))).toBe('t')
  expect(repairFrozen(frozen, udt)).toBe(frozen)
  expect(formatCqlType(repairFrozen(parseMarshalType('ListType(Int32Type)').type, frozen))).toBe('list<int>')
})

test('arguments of composites', () => {
  expect(compositeComponents(`${M}CompositeType(${M}UTF8Type,${M}ReversedType(${M}Int32Type))`)).toEqual([
    { type: { kind: 'text' }, reversed: false },
    { type: { kind: 'int' }, reversed: true },
  ])
  expect(compositeComponents('com.example.CompositeType(x)')).toBeUndefined()
  expect(
    dynamicCompositeAliases(`${M}DynamicCompositeType(b=>${M}BytesType,B=>${M}ReversedType(${M}BytesType))`),
  ).toEqual(
    new Map([
      ['b', { type: { kind: 'blob' }, reversed: false }],
      ['B', { type: { kind: 'blob' }, reversed: true }],
    ]),
  )
})

test.each([
  ['EmptyType', 0],
  ['BooleanType', 1],
  ['Int32Type', 4],
  ['FloatType', 4],
  ['LongType', 8],
  ['DoubleType', 8],
  ['TimestampType', 8],
  ['DateType', 8],
  ['UUIDType', 16],
  ['TimeUUIDType', 16],
  ['LexicalUUIDType', 16],
  ['VectorType(FloatType , 3)', 12],
  ['VectorType(VectorType(UUIDType , 2) , 3)', 96],
  ['VectorType(SimpleDateType , 3)', -1],
  ['ByteType', -1],
  ['ShortType', -1],
  ['SimpleDateType', -1],
  ['TimeType', -1],
  ['CounterColumnType', -1],
  ['InetAddressType', -1],
  ['UTF8Type', -1],
  ['TupleType(Int32Type)', -1],
])('fixedLength of %s', (text, expected) => {
  expect(fixedLength(parseMarshalType(text).type)).toBe(expected)
})
