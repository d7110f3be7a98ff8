// Values as CQL literals: what a statement would have to say to name them. For the elements of collections that deletions name:
// a string for each, so not for the rows of a table.

import { quoteName } from '../../schema/cql-names.ts'
import type { Vector } from '../batch.ts'

const DAY_MS = 86_400_000
const DAY_NANOS = 86_400_000_000_000n
/** Years 0001 to 9999 are written as dates; all else as a number, which CQL takes too. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z')
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * The literal of a slot; `null` for null and `''` for an empty value (which CQL itself can write of a few types only). The vector's
 * fields are made with text for durations and decimals.
 */
export function literalText(vector: Vector, index: number): string {
  if (!isSet(vector.validity, index, true) || vector.field.layout.kind === 'null') {
    return isSet(vector.empty, index, false) ? "''" : 'null'
  }
  const { field, values, offsets, children } = vector
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength)
  const { type } = field
  switch (type.kind) {
    case 'boolean':
      return String(isSet(values, index, false))
    case 'tinyint':
      return String(view.getInt8(index))
    case 'smallint':
      return String(view.getInt16(2 * index, true))
    case 'int':
      return String(view.getInt32(4 * index, true))
    case 'bigint':
    case 'counter':
      return String(view.getBigInt64(8 * index, true))
    case 'float':
      return float32Text(view.getFloat32(4 * index, true))
    case 'double':
      return floatText(view.getFloat64(8 * index, true))
    case 'date':
      return dateText(view.getInt32(4 * index, true))
    case 'time':
      return timeText(view.getBigInt64(8 * index, true))
    case 'timestamp':
      return timestampText(view.getBigInt64(8 * index, true))
    case 'uuid':
    case 'timeuuid':
      return uuidText(values.subarray(16 * index, 16 * index + 16))
    case 'text':
    case 'ascii':
    case 'inet':
      return quoted(textOf(vector, index))
    case 'decimal':
    case 'varint':
      return textOf(vector, index)
    case 'duration':
      return textOf(vector, index) || '0s'
    case 'list':
      return `[${items(children[0], offsets![index], offsets![index + 1]).join(', ')}]`
    case 'set':
      return `{${items(children[0], offsets![index], offsets![index + 1]).join(', ')}}`
    case 'map':
      return mapText(vector, index)
    case 'tuple':
      return `(${children.map((child) => literalText(child, index)).join(', ')})`
    case 'udt': {
      const fields = children.map((child, i) => `${quoteName(type.fieldNames[i])}: ${literalText(child, index)}`)
      return `{${fields.join(', ')}}`
    }
    case 'vector':
      return `[${items(children[0], index * type.dimension, (index + 1) * type.dimension).join(', ')}]`
    default:
      return `0x${Buffer.from(values.subarray(offsets![index], offsets![index + 1])).toString('hex')}`
  }
}

/** Dashed, lower case. */
export function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

function isSet(bits: Uint8Array | null, index: number, otherwise: boolean): boolean {
  return bits === null ? otherwise : ((bits[index >>> 3] >>> (index & 7)) & 1) === 1
}

function textOf({ values, offsets }: Vector, index: number): string {
  return Buffer.from(values.subarray(offsets![index], offsets![index + 1])).toString('utf8')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function items(item: Vector, from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) => literalText(item, from + i))
}

function mapText({ children, offsets }: Vector, index: number): string {
  const [key, value] = children[0].children
  const keys = items(key, offsets![index], offsets![index + 1])
  const values = items(value, offsets![index], offsets![index + 1])
  return `{${keys.map((text, i) => `${text}: ${values[i]}`).join(', ')}}`
}

function floatText(value: number): string {
  return Object.is(value, -0) ? '-0.0' : String(value)
}

/** The shortest digits that read back as the same float32; nine always do. */
function float32Text(value: number): string {
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Object.is(Math.fround(short), value)) return floatText(short)
  }
  return floatText(Number(value.toPrecision(9)))
}

function dateText(days: number): string {
  const ms = days * DAY_MS
  if (ms < FIRST_MS || ms > LAST_MS) return String(days + 2 ** 31)
  return quoted(new Date(ms).toISOString().slice(0, 10))
}

function timestampText(ms: bigint): string {
  if (ms < BigInt(FIRST_MS) || ms > BigInt(LAST_MS)) return String(ms)
  return quoted(new Date(Number(ms)).toISOString())
}

function timeText(nanos: bigint): string {
  if (nanos < 0n || nanos >= DAY_NANOS) return String(nanos)
  const seconds = Number(nanos / 1_000_000_000n)
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const parts = clock.map((part) => String(part).padStart(2, '0'))
  return quoted(`${parts.join(':')}.${String(nanos % 1_000_000_000n).padStart(9, '0')}`)
}
