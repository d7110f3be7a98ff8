// scylladb#2766, #4206, #4219, #2334; cqlite#1008: the shards of a counter in several SSTables are merged by their clocks before they are summed, and
// a tombstone wins over a counter whatever the timestamps.

import { expect } from 'vitest'
import { testCase } from './case-table.ts'

testCase('counters add up over SSTables', 'counted', async ({ lines, pinned }) => {
  expect(pinned.sstables.length).toBeGreaterThan(3)
  // As text: the second is beyond what a double holds, and wraps around as Java's long does.
  expect([...(await lines())].sort()).toEqual([
    '{"pk": 1, "m": null, "n": 30}',
    '{"pk": 2, "m": null, "n": -4611686018427387904}',
  ])
})
