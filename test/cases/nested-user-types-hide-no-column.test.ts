// cqlite#1078, #1234: a frozen user type that could not be resolved took its column away, and all columns behind it. Its whole definition
// stands in the header, to any depth; a type that is not known is an error by name.

import { expect, test } from 'vitest'
import { isSluiceError } from '../../storage/errors.ts'
import { headerSchema } from '../../storage/schema/header-schema.ts'
import { testCase } from './case-table.ts'

const INNER = { x: 1, y: ['p', 'q'] }
const OUTER = { name: 'n', one: INNER, many: { k: INNER } }

testCase('nested user types hide no column', 'user_types', async ({ rows }) => {
  const found = await rows()
  expect(found.find((row) => row.pk === 1)).toEqual({
    pk: 1,
    a: OUTER,
    b: 'b',
    c: [OUTER],
    d: [7, INNER],
    z: 'z',
  })
  expect(found.find((row) => row.pk === 2)).toEqual({
    pk: 2,
    a: { name: 'only', one: null, many: null },
    b: 'b',
    c: null,
    d: [7, null],
    z: 'z',
  })
})

test('an unknown type is an error that names it', () => {
  const column = { name: 'a', nameBytes: Buffer.from('a'), type: 'com.example.OwnType(org.apache' }
  const header = { keyType: 'org.apache.cassandra.db.marshal.Int32Type', clusteringTypes: [], statics: [] }
  try {
    headerSchema('k', 't', [{ ...header, regulars: [column] }])
    expect.unreachable()
  } catch (error) {
    expect(isSluiceError(error)).toBe(true)
    expect(String(error)).toContain('com.example.OwnType')
  }
})
