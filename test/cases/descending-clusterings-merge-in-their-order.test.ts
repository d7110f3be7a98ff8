// cqlite#863; scylladb#3741, #6171, #31235; scylla-tools-java#218: with CLUSTERING ORDER BY (ck DESC), rows of two SSTables came in disorder or twice,
// and ranges took the wrong rows.

import { expect } from 'vitest'
import { testCase } from './case-table.ts'

testCase('descending clusterings merge in their order', 'descending', async ({ rows }) => {
  const found = await rows()
  const written = [15, 14, 13, 12, 11, 10, 9, 8, 7, 3, 2, 1, 0] // > 15 and [4, 7) are deleted
  expect(found.map((row) => row.ck)).toEqual(written)
  expect(found.find((row) => row.ck === 10)).toEqual({ pk: 1, ck: 10, c2: 'even', v: 3 })
})
