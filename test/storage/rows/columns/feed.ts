// Takes values in and out of builders the way the row code does: the bytes lie somewhere inside a larger buffer.

import type { Vector } from '../../../../storage/rows/batch.ts'
import type { ColumnBuilder } from '../../../../storage/rows/column-builder.ts'
import { writeWireValue } from '../../../../storage/rows/columns/wire.ts'
import { createWireBuffer, type WireBuffer } from '../../../../storage/rows/columns/wire-buffer.ts'
import type { CqlType } from '../../../../storage/schema/cql-type.ts'

const BEFORE = 5
const AFTER = 9

/** The value amid bytes that no builder may read: 0xfe is no UTF-8, no small length and no short vint. */
export function surround(value: Uint8Array): { bytes: Uint8Array; view: DataView; offset: number } {
  const bytes = new Uint8Array(BEFORE + value.length + AFTER).fill(0xfe)
  bytes.set(value, BEFORE)
  return { bytes, view: new DataView(bytes.buffer), offset: BEFORE }
}

/** null: appendNull; hex: append. */
export function feed(builder: ColumnBuilder, value: Uint8Array | string | null): void {
  if (value === null) {
    builder.appendNull()
    return
  }
  const plain = typeof value === 'string' ? Buffer.from(value, 'hex') : value
  const { bytes, view, offset } = surround(plain)
  builder.append(bytes, view, offset, plain.length)
}

/** One cell of a multi-cell value. */
export function feedCell(builder: ColumnBuilder, path: Uint8Array, value: Uint8Array): void {
  const p = surround(path)
  const v = surround(value)
  builder.appendCell(p.bytes, p.view, p.offset, path.length, v.bytes, v.view, v.offset, value.length)
}

const out: WireBuffer = createWireBuffer(0)

/** The slot's wire bytes in hex, without their own length; null for null. */
export function wireHex(vector: Vector, index: number): string | null {
  out.length = 0
  writeWireValue(vector, index, out)
  const length = out.view.getInt32(0)
  if (length < 0) return null
  if (out.length !== length + 4) throw new Error(`length ${length}, but ${out.length - 4} bytes`)
  return Buffer.from(out.bytes.subarray(4, out.length)).toString('hex')
}

/** A frozen value's parts: i32 length and bytes each; null for a negative length. */
function splitParts(bytes: Buffer, at: number): (Buffer | null)[] {
  const parts: (Buffer | null)[] = []
  while (at < bytes.length) {
    const size = bytes.readInt32BE(at)
    at += 4
    parts.push(size < 0 ? null : bytes.subarray(at, at + size))
    at += Math.max(size, 0)
  }
  return parts
}

/** Feeds a list, set, map or UDT given in frozen form as the cells that Cassandra would store for it. */
export function feedAsCells(builder: ColumnBuilder, type: CqlType, frozen: Uint8Array): void {
  const bytes = Buffer.from(frozen)
  const nothing = new Uint8Array(0)
  builder.beginCells()
  if (type.kind === 'udt') {
    splitParts(bytes, 0).forEach((part, i) => {
      if (part !== null) feedCell(builder, Uint8Array.of(i >> 8, i), part)
    })
  } else {
    const parts = splitParts(bytes, 4).map((part) => part ?? nothing)
    if (type.kind === 'map') for (let i = 0; i < parts.length; i += 2) feedCell(builder, parts[i], parts[i + 1])
    else if (type.kind === 'set') for (const part of parts) feedCell(builder, part, nothing)
    else for (const [i, part] of parts.entries()) feedCell(builder, new Uint8Array(16).fill(i), part)
  }
  builder.endCells()
}

/** The same value with the fields that a short tuple or UDT lacks, at every level. */
export function complete(type: CqlType, value: Buffer): Buffer {
  if (value.length === 0) return value
  const parts = (types: (i: number) => CqlType, from: number, least: number): Buffer => {
    const found = splitParts(value, from)
    while (found.length < least) found.push(null)
    const pieces = found.flatMap((part, i) => {
      const whole = part === null ? Buffer.alloc(0) : complete(types(i), part)
      const size = Buffer.alloc(4)
      size.writeInt32BE(part === null ? -1 : whole.length)
      return [size, whole]
    })
    return Buffer.concat([value.subarray(0, from), ...pieces])
  }
  switch (type.kind) {
    case 'tuple':
    case 'udt':
      return parts((i) => type.fields[i], 0, type.fields.length)
    case 'list':
    case 'set':
      return parts(() => type.element, 4, 0)
    case 'map':
      return parts((i) => (i % 2 === 0 ? type.key : type.value), 4, 0)
    default:
      return value
  }
}
