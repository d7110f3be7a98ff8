// Decimals as Java's stripTrailingZeros leaves them.

import { expect, test } from 'vitest'
import { shortenDecimal } from '../../../../storage/rows/columns/equal-decimals.ts'
import { createWireBuffer, putBytes } from '../../../../storage/rows/columns/wire-buffer.ts'

test.each([
  ['0000000500000002' + '0f', '0000000500000002' + '0f'], // 0.15
  ['0000000600000002' + '0096', '0000000500000001' + '0f'], // 1.50
  ['0000000500000001' + 'f6', '0000000500000000' + 'ff'], // -1.0
  ['0000000500000000' + '0a', '00000005ffffffff' + '01'], // 10
  ['0000000500000007' + '00', '0000000500000000' + '00'], // 0E-7
  ['0000000500000001' + '02', '0000000500000001' + '02'], // 0.2
  ['0000000d00000000' + '008ac7230489e80000', '00000005ffffffed' + '01'], // 10^19
  ['ffffffff', 'ffffffff'],
  ['00000000', '00000000'],
])('%s becomes %s', (given, expected) => {
  const out = createWireBuffer(4)
  const bytes = Buffer.from(`aabb${given}`, 'hex')
  putBytes(out, bytes, 0, bytes.length)
  shortenDecimal(out, 2)
  expect(Buffer.from(out.bytes.subarray(2, out.length)).toString('hex')).toBe(expected)
})
