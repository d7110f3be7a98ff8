// cqlite#1487, #1785; aws-samples/cql-replicator#184; arrow-js#321: varints and decimals of any length, the decimal's scale, and the nanoseconds of a
// duration.

import { expect } from 'vitest'
import { testCase } from './case-table.ts'

const DIGITS = '1234567890'.repeat(6)

testCase('numbers keep all their digits', 'large_numbers', async ({ lines }) => {
  const found = (await lines()).join('\n')
  expect(found).toContain(`"v": ${DIGITS},`)
  expect(found).toContain(`"v": -${DIGITS},`)
  expect(found).toContain(`"d": ${DIGITS}.${DIGITS},`)
  expect(found).toContain('"v": -170141183460469231731687303715884105729')
  for (const text of ['"d": 1.000,', '"d": -0.10,', '"d": 1E-50,']) expect(found).toContain(text)
  expect(found).toContain('"b": 9007199254740993,')
  expect(found).toContain('"x": "-1y2mo3d2562047h47m16s854ms775us807ns"')
  expect(found).toContain('"x": "1mo2d3ns"')
})
