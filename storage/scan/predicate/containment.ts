// CONTAINS, CONTAINS KEY and m[k] = v. A multi-cell collection is a run of cells and its elements are compared in their type's
// order. A frozen one is a single value (i32 count, then i32 length and bytes of each element, a map's keys and values in turn) and
// Cassandra compares its elements as Java objects (RowFilter.SimpleExpression: compose, then Collection.contains), which tells
// decimal 1.0 from 1.00 and takes tuples and UDTs by their bytes. Keys are looked up in their type's order in both.

import { comparator } from '../../schema/compare.ts'
import { compareBytes } from '../../schema/compare-bytes.ts'
import { type CqlType, isMultiCell } from '../../schema/cql-type.ts'
import { damagedValue } from '../../schema/damaged-value.ts'
import type { RowAccess, RowTest } from './filter.ts'

/** The value in `row`'s fields equals a given one. */
type Match = (bytes: Uint8Array, view: DataView, offset: number, length: number) => boolean

export function containsTest(
  kind: 'contains' | 'contains_key',
  type: CqlType,
  slot: number,
  value: Uint8Array,
): RowTest {
  if (type.kind === 'map') {
    const isKey = kind === 'contains_key'
    if (!isMultiCell(type)) {
      const match = isKey ? equalInOrder(type.key, value) : equalAsObject(type.value, value)
      return (row) => row.value(slot) && frozenMapHas(row, isKey ? match : anything, isKey ? anything : match)
    }
    const match = equalInOrder(isKey ? type.key : type.value, value)
    return (row) => anyCell(row, slot, isKey, match)
  }
  if (type.kind !== 'list' && type.kind !== 'set') throw new TypeError(`CONTAINS on ${type.kind}`)
  if (isMultiCell(type)) {
    const match = equalInOrder(type.element, value)
    return (row) => anyCell(row, slot, type.kind === 'set', match)
  }
  const match = equalAsObject(type.element, value)
  return (row) => row.value(slot) && frozenListHas(row, match)
}

export function entryTest(type: CqlType, slot: number, key: Uint8Array, value: Uint8Array): RowTest {
  if (type.kind !== 'map') throw new TypeError(`map entry of ${type.kind}`)
  const isKey = equalInOrder(type.key, key)
  const isValue = equalInOrder(type.value, value)
  if (!isMultiCell(type)) return (row) => row.value(slot) && frozenMapHas(row, isKey, isValue)
  return (row) => {
    for (let i = 0, n = row.cells(slot); i < n; i++) {
      row.cellPath(slot, i)
      if (!isKey(row.bytes, row.view, row.offset, row.length)) continue
      row.cellValue(slot, i)
      return isValue(row.bytes, row.view, row.offset, row.length)
    }
    return false
  }
}

const anything: Match = () => true

function equalInOrder(type: CqlType, value: Uint8Array): Match {
  const compare = comparator(type)
  const valueView = new DataView(value.buffer, value.byteOffset, value.byteLength)
  return (bytes, view, offset, length) => compare(bytes, view, offset, length, value, valueView, 0, value.length) === 0
}

/** Equality of what Java makes of the bytes: `equals` of the composed values. */
function equalAsObject(type: CqlType, value: Uint8Array): Match {
  if (!comparesByBytes(type)) return equalInOrder(type, value)
  const valueView = new DataView(value.buffer, value.byteOffset, value.byteLength)
  return (bytes, view, offset, length) =>
    compareBytes(bytes, view, offset, length, value, valueView, 0, value.length) === 0
}

/** BigDecimal.equals wants the same scale too, and tuples and UDTs stay ByteBuffers. */
function comparesByBytes(type: CqlType): boolean {
  switch (type.kind) {
    case 'decimal':
    case 'tuple':
    case 'udt':
      return true
    case 'list':
    case 'set':
    case 'vector':
      return comparesByBytes(type.element)
    case 'map':
      return comparesByBytes(type.key) || comparesByBytes(type.value)
    default:
      return false
  }
}

function anyCell(row: RowAccess, slot: number, ofPath: boolean, match: Match): boolean {
  for (let i = 0, n = row.cells(slot); i < n; i++) {
    if (ofPath) row.cellPath(slot, i)
    else row.cellValue(slot, i)
    if (match(row.bytes, row.view, row.offset, row.length)) return true
  }
  return false
}

function frozenListHas(row: RowAccess, match: Match): boolean {
  const { bytes, view, offset } = row
  const end = offset + row.length
  let at = offset + 4
  for (let left = count(view, offset, end); left > 0; left--) {
    const length = elementLength(view, at, end)
    if (length >= 0 && match(bytes, view, at + 4, length)) return true
    at += 4 + Math.max(0, length)
  }
  return false
}

/** Some entry has such a key and such a value. */
function frozenMapHas(row: RowAccess, isKey: Match, isValue: Match): boolean {
  const { bytes, view, offset } = row
  const end = offset + row.length
  let at = offset + 4
  for (let left = count(view, offset, end); left > 0; left--) {
    const keyLength = elementLength(view, at, end)
    const valueAt = at + 4 + Math.max(0, keyLength)
    const valueLength = elementLength(view, valueAt, end)
    if (
      keyLength >= 0 &&
      valueLength >= 0 &&
      isKey(bytes, view, at + 4, keyLength) &&
      isValue(bytes, view, valueAt + 4, valueLength)
    ) {
      return true
    }
    at = valueAt + 4 + Math.max(0, valueLength)
  }
  return false
}

/** An empty value is an empty collection here. */
function count(view: DataView, at: number, end: number): number {
  if (at === end) return 0
  if (end - at < 4) throw damagedValue('a collection', end - at)
  return view.getInt32(at)
}

function elementLength(view: DataView, at: number, end: number): number {
  if (end - at < 4) throw damagedValue('an element', Math.max(0, end - at))
  const length = view.getInt32(at)
  if (length > end - at - 4) throw damagedValue(`an element of ${length} bytes`, end - at - 4)
  return length
}
