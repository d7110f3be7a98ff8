// cqlite#1743, #2041: cells of INSERT ... USING TTL carry no expiry of their own (flag USE_ROW_TTL) and came back after they had expired.

import { expect } from 'vitest'
import { testCase } from './case-table.ts'

testCase('cells inherit the TTL of their row', 'row_ttl', async ({ rows, now }) => {
  expect((await rows()).map((row) => row.ck)).toEqual([2, 3])
  expect(await rows({ now: now + 600_000_000 })).toEqual([{ pk: 1, ck: 3, a: 3, b: 'three', s: [3] }])
  // A `now` from before the row was written shows it whole.
  expect((await rows({ now: now - 3600 }))[0]).toEqual({ pk: 1, ck: 1, a: 1, b: 'one', s: [1] })
  const ttls = await rows({ columns: 'ck, ttl(a), ttl(b)' })
  // 600,000,000 s, which nb and me cap at 2038.
  expect(ttls[0]['ttl(a)']).toBeGreaterThan(300_000_000)
  expect(ttls[0]['ttl(b)']).toBe(ttls[0]['ttl(a)'])
  expect(ttls[1]).toEqual({ ck: 3, 'ttl(a)': null, 'ttl(b)': null })
})
