// pmcfadin/cqlite#3146, #3158, #3188: rows deleted in another SSTable came back as keys with nulls. A deletion takes a row's own marker
// when its timestamp is the same or later.

import { expect } from 'vitest'
import { testCase } from './case-table.ts'

testCase('a deletion in another SSTable takes the row marker', 'phantoms', async ({ rows }) => {
  const found = await rows()
  const clusterings = (pk: number) => found.filter((row) => row.pk === pk).map((row) => row.ck)
  expect(clusterings(1)).toEqual([]) // the partition
  expect(clusterings(2)).toEqual([0]) // a range
  expect(clusterings(3)).toEqual([0, 2]) // a row
  expect(clusterings(4)).toEqual([]) // the partition, at the rows' own timestamp
  expect(clusterings(5)).toEqual([0, 2]) // a row, likewise
  expect(clusterings(6)).toEqual([0, 1, 2]) // the deletion is older
  expect(found.filter((row) => row.pk === 7)).toEqual([{ pk: 7, ck: 1, a: 7 }]) // written over the deletion
})
