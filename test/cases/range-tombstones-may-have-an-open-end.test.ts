// scylladb#4113: `DELETE ... WHERE ck <= 2` begins before all clusterings and `ck > 5` ends behind all: bounds without values.

import { expect } from 'vitest'
import { testCase } from './case-table.ts'

testCase('range tombstones may have an open end', 'open_end', async ({ rows }) => {
  const found = await rows()
  const clusterings = (pk: number) => found.filter((row) => row.pk === pk).map((row) => row.ck)
  expect(clusterings(1)).toEqual([3, 4, 5, 6, 7, 8, 9])
  expect(clusterings(2)).toEqual([0, 1, 2, 3, 4, 5])
  expect(clusterings(3)).toEqual([3, 4, 5])
})
