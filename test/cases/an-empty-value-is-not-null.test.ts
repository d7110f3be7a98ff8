// cqlite#3847, #4017; scylladb/cpp-driver#59: a value of no bytes in an int column, in text, in blob, and as a map's key. Text and blob have empty
// values; of the other types Arrow shows null, and the scan counts them.

import { expect } from 'vitest'
import { openScan } from '../../storage/scan/scan.ts'
import { testCase } from './case-table.ts'

testCase('an empty value is not null', 'empty_values', async ({ rows, pinned, now }) => {
  const found = await rows()
  expect(found.find((row) => row.pk === 1)).toEqual({
    pk: 1,
    a: '',
    b: '0x',
    f: [],
    i: '',
    l: [''],
    m: { '': '' },
    t: '',
    u: '',
  })
  expect(found.find((row) => row.pk === 2)).toEqual({
    pk: 2,
    a: null,
    b: null,
    f: null,
    i: null,
    l: null,
    m: null,
    t: null,
    u: null,
  })
  const scan = await openScan(pinned, { now })
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) batch.release()
  await scan.close()
  expect(scan.stats.emptyValues).toBe(2)
})
