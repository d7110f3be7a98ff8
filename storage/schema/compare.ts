// Order of values by their on-disk bytes, exactly as Cassandra's AbstractType subclasses compare them: what clusterings, set
// elements and map keys are sorted by. Ascending always: a reversed column is the caller's business. An empty value (length 0)
// sorts first in every type. No scalar comparison allocates, except decimals of more than 6 bytes.

import { SluiceError } from '../errors.ts'
import { compareBytes } from './compare-bytes.ts'
import { listComparator, mapComparator, tupleComparator, vectorComparator } from './compare-composed.ts'
import { compositeComparator, dynamicCompositeComparator } from './compare-composite.ts'
import { compareDecimals, compareVarints } from './compare-numbers.ts'
import { partitionerOrder } from './compare-partitioner-order.ts'
import { compareLexicalUuids, compareTimeuuids, compareUuids } from './compare-uuids.ts'
import type { CqlType } from './cql-type.ts'
import { damagedValue } from './damaged-value.ts'
import { fixedLength } from './fixed-length.ts'
import { compositeComponents, dynamicCompositeAliases } from './marshal.ts'

/**
 * Negative, zero or positive as value `a` sorts before, with or after `b`. A value is `length` bytes at `offset` of its array;
 * the view lies over the same bytes from the same start.
 * @throws SluiceError CORRUPT_SSTABLE where a value is no value of its type
 */
export type ValueComparator = (
  a: Uint8Array,
  aView: DataView,
  aOffset: number,
  aLength: number,
  b: Uint8Array,
  bView: DataView,
  bOffset: number,
  bLength: number,
) => number

export { compareBytes }

/**
 * The order of a type.
 * @throws SluiceError UNSUPPORTED_TYPE for a class whose order is not known
 */
export function comparator(type: CqlType): ValueComparator {
  switch (type.kind) {
    case 'ascii':
    case 'blob':
    case 'counter':
    case 'date':
    case 'duration':
    case 'inet':
    case 'text':
    case 'time':
      return compareBytes
    case 'bigint':
      return compareInt64
    case 'boolean':
      return compareBooleans
    case 'decimal':
      return compareDecimals
    case 'double':
      return compareDoubles
    case 'empty':
      return compareNothing
    case 'float':
      return compareFloats
    case 'int':
      return compareInt32
    case 'smallint':
      return compareInt16
    case 'timestamp':
      return type.legacy === 'DateType' ? compareBytes : compareInt64
    case 'timeuuid':
      return compareTimeuuids
    case 'tinyint':
      return compareInt8
    case 'uuid':
      return type.legacy === 'LexicalUUIDType' ? compareLexicalUuids : compareUuids
    case 'varint':
      return compareVarints
    case 'list':
    case 'set':
      return listComparator(comparator(type.element))
    case 'map':
      return mapComparator(comparator(type.key), comparator(type.value))
    case 'tuple':
    case 'udt':
      return tupleComparator(type.fields.map(comparator))
    case 'vector':
      return vectorComparator(comparator(type.element), fixedLength(type.element), type.dimension)
    case 'custom':
      return customComparator(type.className)
  }
}

const compareNothing: ValueComparator = () => 0

const compareInt8: ValueComparator = (_a, aView, aOffset, aLength, _b, bView, bOffset, bLength) => {
  if (aLength !== 1 || bLength !== 1) return compareEmpty(aLength, bLength, 1)
  return aView.getInt8(aOffset) - bView.getInt8(bOffset)
}

const compareInt16: ValueComparator = (_a, aView, aOffset, aLength, _b, bView, bOffset, bLength) => {
  if (aLength !== 2 || bLength !== 2) return compareEmpty(aLength, bLength, 2)
  return aView.getInt16(aOffset) - bView.getInt16(bOffset)
}

const compareInt32: ValueComparator = (_a, aView, aOffset, aLength, _b, bView, bOffset, bLength) => {
  if (aLength !== 4 || bLength !== 4) return compareEmpty(aLength, bLength, 4)
  return aView.getInt32(aOffset) - bView.getInt32(bOffset)
}

const compareInt64: ValueComparator = (_a, aView, aOffset, aLength, _b, bView, bOffset, bLength) => {
  if (aLength !== 8 || bLength !== 8) return compareEmpty(aLength, bLength, 8)
  const high = aView.getInt32(aOffset) - bView.getInt32(bOffset)
  return high !== 0 ? high : aView.getUint32(aOffset + 4) - bView.getUint32(bOffset + 4)
}

// Any byte but 0 is true, and all of them are equal.
const compareBooleans: ValueComparator = (a, _aView, aOffset, aLength, b, _bView, bOffset, bLength) => {
  if (aLength !== 1 || bLength !== 1) return compareEmpty(aLength, bLength, 1)
  return (a[aOffset] === 0 ? 0 : 1) - (b[bOffset] === 0 ? 0 : 1)
}

const compareFloats: ValueComparator = (_a, aView, aOffset, aLength, _b, bView, bOffset, bLength) => {
  if (aLength !== 4 || bLength !== 4) return compareEmpty(aLength, bLength, 4)
  return compareAsJava(aView.getFloat32(aOffset), bView.getFloat32(bOffset))
}

const compareDoubles: ValueComparator = (_a, aView, aOffset, aLength, _b, bView, bOffset, bLength) => {
  if (aLength !== 8 || bLength !== 8) return compareEmpty(aLength, bLength, 8)
  return compareAsJava(aView.getFloat64(aOffset), bView.getFloat64(bOffset))
}

// Double.compareTo: -0 before 0, NaN (any of its bit patterns, all equal) last.
function compareAsJava(x: number, y: number): number {
  if (x < y) return -1
  if (x > y) return 1
  if (x === y) return x !== 0 ? 0 : (1 / x > 0 ? 1 : 0) - (1 / y > 0 ? 1 : 0)
  return (Number.isNaN(x) ? 1 : 0) - (Number.isNaN(y) ? 1 : 0)
}

/** For values of which not both have the one length of their type. */
function compareEmpty(aLength: number, bLength: number, length: number): number {
  if (aLength !== 0 && aLength !== length) throw damagedValue(`${length} bytes`, aLength)
  if (bLength !== 0 && bLength !== length) throw damagedValue(`${length} bytes`, bLength)
  return aLength - bLength
}

function customComparator(className: string): ValueComparator {
  const components = compositeComponents(className)
  if (components !== undefined) {
    return compositeComparator(components.map(({ type, reversed }) => ({ compare: comparator(type), reversed })))
  }
  const aliases = dynamicCompositeAliases(className)
  if (aliases !== undefined) return dynamicCompositeComparator(aliases, comparator)
  const keys = partitionerOrder(className)
  if (keys !== undefined) return keys
  throw new SluiceError('UNSUPPORTED_TYPE', { type: className, reason: 'the order of its values is not known' })
}
