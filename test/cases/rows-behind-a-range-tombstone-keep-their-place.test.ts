// cqlite#714 (#672): a marker has a u16 count of values and then two sizes of its own; read otherwise, all rows behind it shift.

import { expect } from 'vitest'
import { testCase } from './case-table.ts'

testCase('rows behind a range tombstone keep their place', 'marker_frame', async ({ rows }) => {
  const values = (await rows()).map((row) => row.v)
  expect(values).toEqual(['a0', 'a1', 'a2', 'a3', 'b0', 'b3', 'c0', 'c1', 'c2', 'c3'])
})
