// CASSANDRA-19411: a row whose columns are all null lives by its key's liveness, or by a live cell in a column that was not asked for.

import { expect } from 'vitest'
import { testCase } from './case-table.ts'

testCase('a row lives by its key alone', 'key_alone', async ({ rows }) => {
  const alive = [1, 2, 3, 7]
  expect((await rows()).map((row) => row.ck)).toEqual(alive)
  // 3 was inserted and lost its cells; 4 and 5 were made by UPDATE and went with theirs; the cell of 6 expired.
  expect((await rows())[2]).toEqual({ pk: 1, ck: 3, a: null, b: null, s: null })
  // `a` has no live cell anywhere; what keeps row 7 is in `b`.
  expect(await rows({ columns: 'ck, a' })).toEqual(alive.map((ck) => ({ ck, a: null })))
  expect(await rows({ columns: 'ck' })).toEqual(alive.map((ck) => ({ ck })))
  expect(await rows({ columns: 'ck', plainDecoder: true })).toEqual(alive.map((ck) => ({ ck })))
})
