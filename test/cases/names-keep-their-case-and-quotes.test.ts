// CASSANDRA-19024 (apache/cassandra-analytics#19): tables and columns with names that CQL must quote.

import { expect } from 'vitest'
import { openScan } from '../../storage/scan/scan.ts'
import { testCase } from './case-table.ts'

testCase('names keep their case and quotes', 'Order', async ({ rows, pinned, now }) => {
  const scan = await openScan(pinned, { now })
  const names = scan.schema.fields.map((field) => field.name)
  await scan.close()
  // As they are, without the quotes of CQL: `ORDER` and `order` are two columns.
  expect(names).toEqual(['token', 'Select', 'ORDER', 'order', 'with space'])
  // JSON keys have quotes where the case of letters asks for them.
  expect(await rows()).toEqual([{ token: 1, '"Select"': 's', '"ORDER"': 2, order: 3, 'with space': 'w' }])
  expect(await rows({ columns: '"ORDER", "token"' })).toEqual([{ '"ORDER"': 2, token: 1 }])
})
