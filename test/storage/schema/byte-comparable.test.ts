import { describe, expect, test } from 'vitest'
import { partitionerByName } from '../../../storage/ring/partitioner.ts'
import { encodeClusteringPrefix, encodeValue } from '../../../storage/schema/byte-comparable.ts'
import { parseMarshalType } from '../../../storage/schema/marshal.ts'
import { encodeKey } from '../../../storage/sstable/bti-keys.ts'
import { fieldsOf } from './faults.ts'
import { clusteringFacts, keyFacts, typeFacts } from './type-facts.ts'

const hex = (bytes: Uint8Array | undefined): string | null =>
  bytes === undefined ? null : Buffer.from(bytes).toString('hex')
const bytes = (text: string): Uint8Array => Buffer.from(text, 'hex')

describe('encodeValue gives the bytes that Cassandra gives', () => {
  test.each(typeFacts.map((fact) => [fact.type, fact] as const))('%s', (name, fact) => {
    const { type } = parseMarshalType(name)
    fact.values.forEach((value, i) => {
      const expected = fact.comparable[i]
      const found = hex(encodeValue(type, bytes(value)))
      if (expected !== false) expect([value, found]).toEqual([value, expected])
    })
  })

  test('their order is the order of the values, also where Cassandra cannot encode one', () => {
    for (const { type: name, values, ranks } of typeFacts) {
      // Bytes of composed values of different length in front of nothing need a separator to sort; a clustering has one.
      const { type } = parseMarshalType(name)
      const encoded = values.map((value) => encodeClusteringPrefix([type], [false], [bytes(value)], 4))
      for (let i = 1; i < encoded.length; i++) {
        const order = Math.sign(Buffer.compare(encoded[i - 1], encoded[i]))
        expect([name, values[i - 1], values[i], order]).toEqual([
          name,
          values[i - 1],
          values[i],
          ranks[i - 1] - ranks[i],
        ])
      }
    }
  })
})

test('encodeClusteringPrefix gives the bytes that Cassandra gives', () => {
  expect(clusteringFacts.length).toBeGreaterThan(300)
  for (const fact of clusteringFacts) {
    const types = fact.clustering.map(parseMarshalType)
    const found = encodeClusteringPrefix(
      types.map(({ type }) => type),
      types.map(({ reversed }) => reversed),
      fact.values.map((value) => (value === null ? null : bytes(value))),
      fact.kind,
    )
    expect([fact, hex(found)]).toEqual([fact, fact.comparable])
  }
})

test.each([
  ['Int32Type', '00'],
  ['LongType', '00'],
  ['UUIDType', '00'],
  ['DecimalType', '00000000'],
  ['ListType(Int32Type)', '0000000100000005'],
  ['TupleType(Int32Type)', '7fffffff'],
  ['VectorType(UTF8Type , 2)', '0161'],
  ['CompositeType(UTF8Type)', '000261'],
  ['CompositeType(UTF8Type)', '00016100000162'],
  ['DynamicCompositeType(a=>UTF8Type)', '807a000000'],
])('%s: damaged bytes %s end in an error', (name, value) => {
  expect(fieldsOf(() => encodeValue(parseMarshalType(name).type, bytes(value)))).toMatchObject({
    code: 'CORRUPT_SSTABLE',
  })
})

test.each(['Murmur3Partitioner', 'RandomPartitioner', 'ByteOrderedPartitioner', 'LocalPartitioner'])(
  'keys under %s have the bytes that Cassandra gives',
  (name) => {
    const facts = keyFacts.filter((fact) => fact.partitioner === name)
    expect(facts.length).toBeGreaterThan(20)
    for (const fact of facts) {
      const keyType = parseMarshalType(fact.keyType).type
      const found = encodeKey({ partitioner: partitionerByName(name, keyType), keyType }, bytes(fact.key))
      expect([fact, hex(found)]).toEqual([fact, fact.comparable])
    }
  },
)
