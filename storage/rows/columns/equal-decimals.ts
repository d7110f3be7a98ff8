// Decimals that compare equal, such as 1.5 and 1.50, are one clustering, and which of the two forms a row keeps depends on how its
// SSTables were merged. A digest takes them in their shortest form (BigDecimal.stripTrailingZeros).

import { bigIntegerHex } from './big-integer.ts'
import { putBytes, putInt32, type WireBuffer } from './wire-buffer.ts'

/** Shortens the decimal that was written last, at `at`: i32 length, i32 scale, unscaled value; or null, or empty. */
export function shortenDecimal(out: WireBuffer, at: number): void {
  const length = out.view.getInt32(at)
  // A number that ends in a zero is a multiple of ten, so of two.
  if (length < 5 || (out.bytes[at + 3 + length] & 1) === 1) return
  let scale = out.view.getInt32(at + 4)
  const hex = Buffer.from(out.bytes.buffer, out.bytes.byteOffset + at + 8, length - 4).toString('hex')
  let value = BigInt.asIntN(8 * (length - 4), BigInt(`0x${hex}`))
  if (value === 0n) scale = 0
  while (value !== 0n && value % 10n === 0n) {
    value /= 10n
    scale--
  }
  const bytes = Buffer.from(bigIntegerHex(value), 'hex')
  out.length = at
  putInt32(out, 4 + bytes.length)
  putInt32(out, scale)
  putBytes(out, bytes, 0, bytes.length)
}
