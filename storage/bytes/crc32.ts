// CRC32 (IEEE 802.3) as java.util.zip.CRC32 computes it: chunks of Data.db, Statistics.db, transaction logs, Digest.crc32.

import { crc32 as zlibCrc32 } from 'node:zlib'

/** CRC32 of the bytes, continued from `before` (the CRC of what came earlier). Unsigned 32-bit. */
export function crc32(bytes: Uint8Array, before = 0): number {
  return zlibCrc32(bytes, before)
}

/** CRC32 continued over one big-endian u32, as Java's FBUtilities.updateChecksumInt does. */
export function crc32OfU32(value: number, before = 0): number {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value)
  return zlibCrc32(bytes, before)
}
