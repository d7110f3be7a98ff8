// cqlite#1072, #1076: an SSTable that holds nothing but a partition's deletion was left out of the merge, and ten rows rose again.

import { expect } from 'vitest'
import { testCase } from './case-table.ts'

testCase('a partition tombstone without rows is merged', 'lone_tombstone', async ({ rows, pinned }) => {
  expect(pinned.sstables.map((sstable) => Number(sstable.statistics.totalRows))).toEqual([20, 0])
  expect((await rows()).map((row) => row.pk)).toEqual(Array(10).fill(2))
})
