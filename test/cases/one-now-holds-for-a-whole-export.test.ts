// CASSANDRA-19452; jberragan/spark-cassandra-bulkreader PR #3: tasks of one job judged TTLs by their own clocks. `now` is part of the
// request: whatever the hour, the same `now` gives the same rows.

import { expect } from 'vitest'
import { testCase } from './case-table.ts'

const DAY = 86_400

testCase('one now holds for a whole export', 'one_now', async ({ rows, now }) => {
  const values = async (at: number) => (await rows({ now: at })).filter((row) => row.pk === 1).map((row) => row.v)
  expect(await values(now)).toEqual(Array(5).fill('later'))
  // The row's own liveness ended after one day; the newer cell, which lives for two, keeps it.
  expect(await values(now + DAY + 60)).toEqual(Array(5).fill('later'))
  expect(await values(now + 2 * DAY + 60)).toEqual([])
  expect((await rows({ now: now + 20 * 365 * DAY })).map((row) => row.v)).toEqual(Array(5).fill('stays'))
})
