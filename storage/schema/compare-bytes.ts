// Unsigned lexicographic order of bytes (ValueAccessor.compare): that of text, blob, inet, date, time and of partition keys.

import type { ValueComparator } from './compare.ts'

/** Unsigned lexicographic; a prefix sorts first. */
export const compareBytes: ValueComparator = (_a, aView, aOffset, aLength, _b, bView, bOffset, bLength) => {
  const shared = Math.min(aLength, bLength)
  let i = 0
  for (const words = shared - 3; i < words; i += 4) {
    const x = aView.getUint32(aOffset + i)
    const y = bView.getUint32(bOffset + i)
    if (x !== y) return x < y ? -1 : 1
  }
  for (; i < shared; i++) {
    const d = aView.getUint8(aOffset + i) - bView.getUint8(bOffset + i)
    if (d !== 0) return d
  }
  return aLength - bLength
}
