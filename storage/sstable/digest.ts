// Digest.crc32: the CRC32 of the whole Data.db as stored, in decimal (o.a.c.io.sstable.format.DataComponent, since 3.0).

import { crc32 } from '../bytes/crc32.ts'
import { readInto } from '../bytes/read-at.ts'
import { SluiceError } from '../errors.ts'

/** The stored value, an unsigned 32-bit number. */
export function parseDigest(text: string, file: string): number {
  const digits = text.trim()
  const value = /^\d{1,10}$/.test(digits) ? Number(digits) : Number.POSITIVE_INFINITY
  if (value > 0xffffffff) throw new SluiceError('CORRUPT_SSTABLE', { file, reason: 'not a decimal CRC32' })
  return value
}

const BLOCK = 1024 * 1024

/**
 * Reads Data.db once from front to back and compares. CHECKSUM_MISMATCH when it differs. `onBytes` is told of each block,
 * for progress; a throw from it ends the reading.
 */
export async function verifyDigest(
  fd: number,
  file: string,
  fileLength: number,
  expected: number,
  onBytes: (bytes: number) => void = () => {},
): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.min(BLOCK, Math.max(1, fileLength)))
  let value = 0
  for (let offset = 0; offset < fileLength; offset += buffer.length) {
    const block = buffer.subarray(0, Math.min(buffer.length, fileLength - offset))
    await readInto(fd, file, offset, block)
    value = crc32(block, value)
    onBytes(block.length)
  }
  if (value !== expected) {
    throw new SluiceError('CHECKSUM_MISMATCH', {
      file,
      reason: 'Data.db differs from Digest.crc32',
      expected: String(expected),
      found: String(value),
    })
  }
}
