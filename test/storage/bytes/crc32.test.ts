import { expect, it } from 'vitest'
import { crc32, crc32OfU32 } from '../../../storage/bytes/crc32.ts'

it('computes the CRC32 of java.util.zip, whole or in pieces', () => {
  const text = new TextEncoder().encode('123456789')
  expect(crc32(text)).toBe(0xcbf43926) // the check value of CRC-32/ISO-HDLC
  expect(crc32(text.subarray(4), crc32(text.subarray(0, 4)))).toBe(0xcbf43926)
  expect(crc32OfU32(0x31323334)).toBe(crc32(text.subarray(0, 4)))
})
