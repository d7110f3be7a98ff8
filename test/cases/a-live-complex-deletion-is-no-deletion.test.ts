// CASSANDRA-21333 (datastax/cassandra#2285): in a row that replaces one collection and adds to another, the second has a deletion that says "live",
// whose local deletion time wraps around.

import { expect } from 'vitest'
import { testCase } from './case-table.ts'

testCase('a live complex deletion is no deletion', 'live_complex', async ({ rows }) => {
  const found = await rows()
  const row = (pk: number) => found.find((candidate) => candidate.pk === pk)
  expect(row(1)).toEqual({ pk: 1, l: [2], m: { a: 1, b: 2 }, s: [1, 2], v: 1 })
  expect(row(2)).toEqual({ pk: 2, l: [1, 3], m: { z: 9 }, s: [1], v: 1 })
  expect(row(3)).toEqual({ pk: 3, l: [1], m: { a: 1 }, s: null, v: 2 })
})
