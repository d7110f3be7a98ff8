// CASSANDRA-13337, CASSANDRA-12582: an SSTable still holds a column that was dropped since. It is decoded by the type in the file's header, and then
// left out; a row that had nothing else goes with it.

import { expect } from 'vitest'
import { testCase } from './case-table.ts'

testCase('a dropped column does not disturb the others', 'dropped', async ({ rows, pinned }) => {
  const header = pinned.sstables[0].statistics.header
  expect([...header.statics, ...header.regulars].map((column) => column.name)).toEqual(['b', 'a', 'd', 'e', 'c'])
  const found = await rows()
  expect(found).toEqual([0, 1, 2, 3, 4, 20].map((ck) => ({ pk: 1, ck, a: ck, e: ck === 0 ? 0 : -ck })))
})
