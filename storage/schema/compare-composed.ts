// Order of frozen collections, tuples, UDTs and vectors (ListType, MapType, TupleType, VectorType): element by element. Lengths
// inside a value are checked against its end, so that a damaged one ends in an error.

import { readUvint, vintSize } from '../bytes/vint.ts'
import type { ValueComparator } from './compare.ts'
import { compareBytes } from './compare-bytes.ts'
import { damagedValue } from './damaged-value.ts'

/** Frozen list or set: i32 count, then i32 length + bytes each. The one that runs out first is the smaller. */
export function listComparator(element: ValueComparator): ValueComparator {
  return counted(element, element)
}

/** Frozen map: i32 count of entries, then key and value, each i32 length + bytes. */
export function mapComparator(key: ValueComparator, value: ValueComparator): ValueComparator {
  return counted(key, value, 2)
}

function counted(even: ValueComparator, odd: ValueComparator, perEntry = 1): ValueComparator {
  return (a, aView, aOffset, aLength, b, bView, bOffset, bLength) => {
    if (aLength === 0 || bLength === 0) return aLength - bLength
    const aEnd = aOffset + aLength
    const bEnd = bOffset + bLength
    const aCount = lengthAt(aView, aOffset, aEnd)
    const bCount = lengthAt(bView, bOffset, bEnd)
    const values = Math.min(aCount, bCount) * perEntry
    let aAt = aOffset + 4
    let bAt = bOffset + 4
    for (let i = 0; i < values; i++) {
      const aSize = lengthAt(aView, aAt, aEnd)
      const bSize = lengthAt(bView, bAt, bEnd)
      aAt += 4
      bAt += 4
      if (aSize < 0 || bSize < 0) {
        if (aSize >= 0) return 1
        if (bSize >= 0) return -1
        continue
      }
      if (aSize > aEnd - aAt) throw damagedValue(`${aSize} bytes`, aEnd - aAt)
      if (bSize > bEnd - bAt) throw damagedValue(`${bSize} bytes`, bEnd - bAt)
      const compare = i % 2 === 0 ? even : odd
      const c = compare(a, aView, aAt, aSize, b, bView, bAt, bSize)
      if (c !== 0) return c
      aAt += aSize
      bAt += bSize
    }
    return aCount - bCount
  }
}

/** Tuple or UDT: i32 length + bytes per field, -1 = null, which sorts first and is what missing trailing fields are. */
export function tupleComparator(fields: ValueComparator[]): ValueComparator {
  return (a, aView, aOffset, aLength, b, bView, bOffset, bLength) => {
    if (aLength === 0 || bLength === 0) return aLength - bLength
    const aEnd = aOffset + aLength
    const bEnd = bOffset + bLength
    let aAt = aOffset
    let bAt = bOffset
    for (let i = 0; i < fields.length && aAt < aEnd && bAt < bEnd; i++) {
      const aSize = lengthAt(aView, aAt, aEnd)
      const bSize = lengthAt(bView, bAt, bEnd)
      aAt += 4
      bAt += 4
      if (aSize < 0 || bSize < 0) {
        if (aSize >= 0) return 1
        if (bSize >= 0) return -1
        continue
      }
      if (aSize > aEnd - aAt) throw damagedValue(`${aSize} bytes`, aEnd - aAt)
      if (bSize > bEnd - bAt) throw damagedValue(`${bSize} bytes`, bEnd - bAt)
      const c = fields[i](a, aView, aAt, aSize, b, bView, bAt, bSize)
      if (c !== 0) return c
      aAt += aSize
      bAt += bSize
    }
    const aMore = hasMore(aView, aAt, aEnd)
    const bMore = hasMore(bView, bAt, bEnd)
    if (!aMore || !bMore) return (aMore ? 1 : 0) - (bMore ? 1 : 0)
    // Both have fields that the type lacks: the schema is older than the data. Keep different values apart.
    return compareBytes(a, aView, aAt, aEnd - aAt, b, bView, bAt, bEnd - bAt)
  }
}

/**
 * Vector: elements of one length are concatenated, others are uvint length + bytes each; no count.
 * @param length of an element on disk, -1 where it varies
 */
export function vectorComparator(element: ValueComparator, length: number, dimension: number): ValueComparator {
  return length < 0 ? variableVector(element, dimension) : fixedVector(element, length, dimension)
}

function fixedVector(element: ValueComparator, length: number, dimension: number): ValueComparator {
  const whole = length * dimension
  return (a, aView, aOffset, aLength, b, bView, bOffset, bLength) => {
    if (aLength === 0 || bLength === 0) return aLength - bLength
    if (aLength !== whole) throw damagedValue(`${whole} bytes`, aLength)
    if (bLength !== whole) throw damagedValue(`${whole} bytes`, bLength)
    for (let at = 0; at < whole; at += length) {
      const c = element(a, aView, aOffset + at, length, b, bView, bOffset + at, length)
      if (c !== 0) return c
    }
    return 0
  }
}

function variableVector(element: ValueComparator, dimension: number): ValueComparator {
  return (a, aView, aOffset, aLength, b, bView, bOffset, bLength) => {
    if (aLength === 0 || bLength === 0) return aLength - bLength
    const aEnd = aOffset + aLength
    const bEnd = bOffset + bLength
    let aAt = aOffset
    let bAt = bOffset
    for (let i = 0; i < dimension; i++) {
      if (aAt >= aEnd) throw damagedValue(`${dimension} elements`, aLength)
      if (bAt >= bEnd) throw damagedValue(`${dimension} elements`, bLength)
      const aSize = readUvint(a, aAt)
      const bSize = readUvint(b, bAt)
      aAt += vintSize(a[aAt])
      bAt += vintSize(b[bAt])
      if (aSize > aEnd - aAt) throw damagedValue(`${aSize} bytes`, aEnd - aAt)
      if (bSize > bEnd - bAt) throw damagedValue(`${bSize} bytes`, bEnd - bAt)
      const c = element(a, aView, aAt, aSize, b, bView, bAt, bSize)
      if (c !== 0) return c
      aAt += aSize
      bAt += bSize
    }
    return 0
  }
}

function lengthAt(view: DataView, at: number, end: number): number {
  if (end - at < 4) throw damagedValue('4 bytes', end - at)
  return view.getInt32(at)
}

/** Whether any of the remaining fields is not null. */
function hasMore(view: DataView, at: number, end: number): boolean {
  for (; at < end; at += 4) if (lengthAt(view, at, end) >= 0) return true
  return false
}
