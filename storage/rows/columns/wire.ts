// The way back: from a vector's slot to the value's bytes as CQL's binary protocol has them (native_protocol_v5.spec,
// section 6) and as frozen values have them on disk. Canonical: shortest varints and vints, true is 01, every field of a
// tuple or UDT is written. So equal values give equal bytes, whatever bytes Cassandra stored.

import { SluiceError } from '../../errors.ts'
import { fixedLength } from '../../schema/fixed-length.ts'
import { byteWidth, type Vector } from '../batch.ts'
import { bigIntegerHex, smallIntegerSize } from './big-integer.ts'
import { parseDecimal, parsed } from './decimal-text.ts'
import { parseDuration } from './duration-text.ts'
import { parseInetText } from './inet-text.ts'
import {
  littleInt32,
  prefixUvint,
  putBytes,
  putInt32,
  putReversed,
  putUvint,
  putVint,
  take,
  type WireBuffer,
} from './wire-buffer.ts'

/**
 * Appends i32 length and bytes of the value in slot `index`; length -1 for null, 0 for an empty value. Nested values are
 * in wire form, sets and maps in their stored order. What cannot be told from a vector: 4-byte from 16-byte forms of an
 * IPv4 address (4 bytes are written), and the scale of a decimal held as Arrow decimal (the column's is written).
 */
export function writeWireValue(vector: Vector, index: number, out: WireBuffer): void {
  if (isNullAt(vector, index)) {
    putInt32(out, isSet(vector.empty, index) ? 0 : -1)
    return
  }
  const at = take(out, 4)
  writeBody(vector, index, out)
  out.view.setInt32(at, out.length - at - 4)
}

/** Null or empty. */
function isNullAt(vector: Vector, index: number): boolean {
  if (vector.field.layout.kind === 'null') return true
  return vector.validity !== null && !isSet(vector.validity, index)
}

function isSet(bits: Uint8Array | null, index: number): boolean {
  return bits !== null && ((bits[index >>> 3] >>> (index & 7)) & 1) === 1
}

/** The value's bytes without their length; the slot is not null. */
function writeBody(vector: Vector, index: number, out: WireBuffer): void {
  const type = vector.field.type
  const { values, children } = vector
  switch (type.kind) {
    case 'boolean': {
      // take() may put another buffer in place of out.bytes.
      const at = take(out, 1)
      out.bytes[at] = isSet(values, index) ? 1 : 0
      return
    }
    case 'uuid':
    case 'timeuuid':
      putBytes(out, values, index * 16, index * 16 + 16)
      return
    case 'date': {
      // Arrow's signed days from 1970 back to unsigned ones with 1970 at 2^31.
      putReversed(out, values, index * 4, 4)
      out.bytes[out.length - 4] ^= 0x80
      return
    }
    case 'text':
    case 'ascii':
    case 'blob':
    case 'custom':
      putBytes(out, values, vector.offsets![index], vector.offsets![index + 1])
      return
    case 'inet':
      writeInet(vector, index, out)
      return
    case 'decimal':
    case 'varint':
      writeNumber(vector, index, out)
      return
    case 'duration':
      writeDuration(vector, index, out)
      return
    case 'list':
    case 'set': {
      const from = vector.offsets![index]
      const to = vector.offsets![index + 1]
      putInt32(out, to - from)
      for (let i = from; i < to; i++) writeWireValue(children[0], i, out)
      return
    }
    case 'map': {
      const from = vector.offsets![index]
      const to = vector.offsets![index + 1]
      const [key, value] = children[0].children
      putInt32(out, to - from)
      for (let i = from; i < to; i++) {
        writeWireValue(key, i, out)
        writeWireValue(value, i, out)
      }
      return
    }
    case 'tuple':
    case 'udt':
      for (const child of children) writeWireValue(child, index, out)
      return
    case 'vector':
      writeVector(vector, index, type.dimension, fixedLength(type.element) >= 0, out)
      return
    default: {
      const width = byteWidth(vector.field.layout)
      putReversed(out, values, index * width, width)
    }
  }
}

function writeVector(vector: Vector, index: number, dimension: number, fixed: boolean, out: WireBuffer): void {
  const item = vector.children[0]
  const from = index * dimension
  const width = byteWidth(item.field.layout)
  // No element of a vector is null, so numbers are moved at once; uuids keep their order of bytes.
  if (fixed && (width === 4 || width === 8)) {
    for (let i = from; i < from + dimension; i++) putReversed(out, item.values, i * width, width)
    return
  }
  for (let i = from; i < from + dimension; i++) {
    const start = out.length
    if (!isNullAt(item, i)) writeBody(item, i, out)
    if (!fixed) prefixUvint(out, start)
  }
}

/** Makes the fault of a vector that no builder here made. */
function unfit(vector: Vector, index: number): SluiceError {
  return new SluiceError('INTERNAL', {
    column: vector.field.name,
    type: vector.field.type.kind,
    reason: `slot ${index} does not hold such a value`,
  })
}

const address = new Uint8Array(16)

function writeInet(vector: Vector, index: number, out: WireBuffer): void {
  const size = parseInetText(vector.values, vector.offsets![index], vector.offsets![index + 1], address, 0)
  if (size === 0) throw unfit(vector, index)
  putBytes(out, address, 0, size)
}

function writeNumber(vector: Vector, index: number, out: WireBuffer): void {
  const { field, values, offsets } = vector
  const layout = field.layout
  const scaled = field.type.kind === 'decimal'
  if (layout.kind === 'utf8') {
    if (!parseDecimal(values, offsets![index], offsets![index + 1])) throw unfit(vector, index)
    if (scaled) putInt32(out, parsed.scale)
    else if (parsed.scale !== 0) throw unfit(vector, index)
    if (parsed.big === null) putSmallInteger(out, parsed.small)
    else putBigInteger(out, parsed.big)
    return
  }
  if (layout.kind !== 'decimal128' && layout.kind !== 'decimal256') throw unfit(vector, index)
  const width = byteWidth(layout)
  const view = new DataView(values.buffer, values.byteOffset + index * width, width)
  let value = view.getBigInt64(width - 8, true)
  for (let at = width - 16; at >= 0; at -= 8) value = (value << 64n) | view.getBigUint64(at, true)
  if (scaled) putInt32(out, layout.scale)
  putBigInteger(out, value)
}

function putSmallInteger(out: WireBuffer, value: number): void {
  const size = smallIntegerSize(value)
  const at = take(out, size)
  let rest = value
  for (let i = size - 1; i >= 0; i--) {
    const high = Math.floor(rest / 0x100)
    out.bytes[at + i] = rest - high * 0x100
    rest = high
  }
}

function putBigInteger(out: WireBuffer, value: bigint): void {
  const bytes = Buffer.from(bigIntegerHex(value), 'hex')
  putBytes(out, bytes, 0, bytes.length)
}

function writeDuration(vector: Vector, index: number, out: WireBuffer): void {
  const { values, offsets, children } = vector
  switch (vector.field.layout.kind) {
    case 'interval':
      putInt(out, littleInt32(values, index * 16))
      putInt(out, littleInt32(values, index * 16 + 4))
      putVint(out, littleInt32(values, index * 16 + 12), littleInt32(values, index * 16 + 8))
      return
    case 'struct': {
      const [months, days, nanoseconds] = children
      putInt(out, littleInt32(months.values, index * 4))
      putInt(out, littleInt32(days.values, index * 4))
      putVint(out, littleInt32(nanoseconds.values, index * 8 + 4), littleInt32(nanoseconds.values, index * 8))
      return
    }
    case 'utf8': {
      const text = Buffer.from(
        values.buffer,
        values.byteOffset + offsets![index],
        offsets![index + 1] - offsets![index],
      )
      const parts = parseDuration(text.toString('latin1'))
      if (parts === null) throw unfit(vector, index)
      for (const part of parts) {
        const zigzag = BigInt.asUintN(64, (part << 1n) ^ (part >> 63n))
        putUvint(out, Number(BigInt.asIntN(32, zigzag >> 32n)), Number(BigInt.asIntN(32, zigzag)))
      }
      return
    }
    default:
      throw unfit(vector, index)
  }
}

function putInt(out: WireBuffer, value: number): void {
  putVint(out, value >> 31, value)
}
