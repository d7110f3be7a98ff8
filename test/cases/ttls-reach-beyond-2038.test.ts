// CASSANDRA-14092, CASSANDRA-14227; scylladb#3182, #3353, #15116: an expiry beyond 2038-01-19 must not make a row vanish. Up to nb Cassandra caps
// it there (policy CAP), from oa it goes on to 2106.

import { expect } from 'vitest'
import { testCase } from './case-table.ts'

const CAP = 2 ** 31 - 2 // 2038-01-19T03:14:06Z

testCase('TTLs reach beyond 2038', 'beyond_2038', async ({ rows, now, format }) => {
  const keys = async (at: number) => (await rows({ now: at })).map((row) => row.pk)
  expect(await keys(CAP - 1)).toEqual([1, 2])
  const end = format === 'da' ? now + 630_720_000 : CAP
  expect(await keys(end - 3600)).toEqual([1, 2])
  expect(await rows({ now: end + 3600 })).toEqual([{ pk: 2, a: 2, b: null }])
})
