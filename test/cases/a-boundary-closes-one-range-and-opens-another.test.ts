// scylladb/scylla-tools-java#205, #206: where two deleted ranges touch, one marker ends the first and begins the second, each with its own
// timestamp. [1, 5) was deleted at 2000, [5, 9) at 3000; partition 1 was written at 1500, 2 at 2500, 3 at 3500.

import { expect } from 'vitest'
import { testCase } from './case-table.ts'

testCase('a boundary closes one range and opens another', 'boundary', async ({ rows }) => {
  const found = await rows()
  const clusterings = (pk: number) => found.filter((row) => row.pk === pk).map((row) => row.ck)
  expect(clusterings(1)).toEqual([0, 9, 10, 11])
  expect(clusterings(2)).toEqual([0, 1, 2, 3, 4, 9, 10, 11])
  expect(clusterings(3)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
})
