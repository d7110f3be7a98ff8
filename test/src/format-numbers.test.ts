// Numbers for people.

import { expect, test } from 'vitest'
import { formatBytes, formatCount, formatShort } from '../../src/format-numbers.ts'

test.each([
  [0, '0 B', '0'],
  [999, '999 B', '999'],
  [1000, '1.0 kB', '1.0 k'],
  [12_345, '12.3 kB', '12.3 k'],
  [99_960, '100 kB', '100 k'],
  [999_499, '999 kB', '999 k'],
  [999_999, '1.0 MB', '1.0 M'],
  [140_486_590, '140 MB', '140 M'],
  [4e18, '4000 PB', '4000 P'],
])('%i', (value, bytes, short) => {
  expect(formatBytes(value)).toBe(bytes)
  expect(formatShort(value)).toBe(short)
})

test('counts have their thousands apart', () => {
  expect(formatCount(1234567)).toBe('1,234,567')
})
