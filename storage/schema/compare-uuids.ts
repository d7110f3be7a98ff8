// The three orders of uuids: TimeUUIDType, UUIDType, LexicalUUIDType. Bytes of a uuid: time low (0-3), time mid (4-5), version
// and time high (6-7), then the low half (8-15).

import type { ValueComparator } from './compare.ts'
import { damagedValue } from './damaged-value.ts'

/** By time, then by the low half as signed bytes (kept for compatibility; UUIDType differs, CASSANDRA-8730). */
export const compareTimeuuids: ValueComparator = (_a, aView, aOffset, aLength, _b, bView, bOffset, bLength) => {
  if (aLength !== 16 || bLength !== 16) return compareEmpty(aLength, bLength)
  const time = compareTimes(aView, aOffset, bView, bOffset)
  if (time !== 0) return time
  // Signed bytes in order are unsigned bytes with every sign bit flipped.
  const high = ((aView.getUint32(aOffset + 8) ^ 0x80808080) >>> 0) - ((bView.getUint32(bOffset + 8) ^ 0x80808080) >>> 0)
  if (high !== 0) return high
  return ((aView.getUint32(aOffset + 12) ^ 0x80808080) >>> 0) - ((bView.getUint32(bOffset + 12) ^ 0x80808080) >>> 0)
}

/** By version, then by time (version 1) or the high half unsigned, then by the low half unsigned. */
export const compareUuids: ValueComparator = (a, aView, aOffset, aLength, b, bView, bOffset, bLength) => {
  if (aLength !== 16 || bLength !== 16) return compareEmpty(aLength, bLength)
  const version = a[aOffset + 6] >> 4
  const versions = version - (b[bOffset + 6] >> 4)
  if (versions !== 0) return versions
  if (version === 1) {
    const time = compareTimes(aView, aOffset, bView, bOffset)
    if (time !== 0) return time
  } else {
    let d = aView.getUint32(aOffset) - bView.getUint32(bOffset)
    if (d !== 0) return d
    d = aView.getUint32(aOffset + 4) - bView.getUint32(bOffset + 4)
    if (d !== 0) return d
  }
  const high = aView.getUint32(aOffset + 8) - bView.getUint32(bOffset + 8)
  return high !== 0 ? high : aView.getUint32(aOffset + 12) - bView.getUint32(bOffset + 12)
}

/** As Java's UUID.compareTo: each half as a signed number. */
export const compareLexicalUuids: ValueComparator = (_a, aView, aOffset, aLength, _b, bView, bOffset, bLength) => {
  if (aLength !== 16 || bLength !== 16) return compareEmpty(aLength, bLength)
  for (let i = 0; i < 16; i += 8) {
    const high = aView.getInt32(aOffset + i) - bView.getInt32(bOffset + i)
    if (high !== 0) return high
    const low = aView.getUint32(aOffset + i + 4) - bView.getUint32(bOffset + i + 4)
    if (low !== 0) return low
  }
  return 0
}

// The version nibble is left out: a TimeUUIDType value always has version 1.
function compareTimes(aView: DataView, aOffset: number, bView: DataView, bOffset: number): number {
  let d = (aView.getUint16(aOffset + 6) & 0x0fff) - (bView.getUint16(bOffset + 6) & 0x0fff)
  if (d !== 0) return d
  d = aView.getUint16(aOffset + 4) - bView.getUint16(bOffset + 4)
  return d !== 0 ? d : aView.getUint32(aOffset) - bView.getUint32(bOffset)
}

function compareEmpty(aLength: number, bLength: number): number {
  if (aLength !== 0 && aLength !== 16) throw damagedValue('16 bytes', aLength)
  if (bLength !== 0 && bLength !== 16) throw damagedValue('16 bytes', bLength)
  return aLength - bLength
}
