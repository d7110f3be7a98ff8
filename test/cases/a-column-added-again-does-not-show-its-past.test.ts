// scylladb#3924, #9930; CASSANDRA-14843, CASSANDRA-14913; cqlite#904, #923: cells written before a column was dropped stay hidden when it is added
// again, also those written later with an older timestamp.

import { expect } from 'vitest'
import { testCase } from './case-table.ts'

testCase('a column added again does not show its past', 'readded', async ({ rows }) => {
  const past = { b: null, m: null }
  const after = { b: 'after', m: { after: 1 } }
  expect(await rows()).toEqual([
    ...[0, 1, 2].map((ck) => ({ pk: 1, ck, a: ck, ...past })),
    ...[3, 4].map((ck) => ({ pk: 1, ck, a: ck, ...after })),
    ...[5, 6, 7].map((ck) => ({ pk: 1, ck, a: null, ...after })),
  ])
})
