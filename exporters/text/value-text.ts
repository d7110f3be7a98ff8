// Values as text. JSON is what the toJSONString methods of o.a.c.db.marshal print. Values are read through a DataView over the vector's
// bytes (little-endian, any alignment), 64-bit ones as two halves.

import { formatDuration, LONGEST_DURATION } from '../../storage/rows/columns/duration-text.ts'
import {
  BOOL,
  type ColumnText,
  DATE,
  DECIMAL,
  DURATION,
  FIXED_LIST,
  FLOAT32,
  FLOAT64,
  HEX,
  INT8,
  INT16,
  INT32,
  INT64,
  INTERVAL,
  LIST,
  MAP,
  NULL,
  OBJECT,
  PLAIN,
  QUOTED_JSON,
  STRING,
  TIME,
  TIMESTAMP,
  TUPLE,
  UUID,
} from './column-text.ts'
import { putDate, putTime, putTimestamp } from './dates.ts'
import { putFloat32, putFloat64, putInt32, putInt64 } from './numbers.ts'
import { putAscii, putBytes, type TextSink } from './sink.ts'
import { putCsvField, putHex, putJsonString, putUuid, quoteSince } from './strings.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const SPACE = 0x20

/** The value in slot `index` of the vector that the column is bound to. */
export function putValue(out: TextSink, column: ColumnText, index: number): void {
  const { validity, op } = column
  if (op === NULL || (validity !== null && ((validity[index >>> 3] >>> (index & 7)) & 1) === 0)) {
    putMissing(out, column, index)
    return
  }
  switch (op) {
    case INT32:
      putInt32(out, column.view.getInt32(4 * index, true))
      return
    case INT64:
      putInt64(out, column.view.getInt32(8 * index + 4, true), column.view.getInt32(8 * index, true))
      return
    case FLOAT64:
      putFloating(out, column, column.view.getFloat64(8 * index, true))
      return
    case FLOAT32:
      putFloating(out, column, column.view.getFloat32(4 * index, true))
      return
    case STRING:
      if (column.csv) putCsvString(out, column, index)
      else putJsonString(out, column.values, column.offsets[index], column.offsets[index + 1])
      return
    case BOOL:
      putAscii(out, ((column.values[index >>> 3] >>> (index & 7)) & 1) === 1 ? 'true' : 'false')
      return
    case INT16:
      putInt32(out, column.view.getInt16(2 * index, true))
      return
    case INT8:
      putInt32(out, column.view.getInt8(index))
      return
    case DECIMAL:
      putDecimal(out, column, index)
      return
    case LIST:
      putArray(out, column.children[0], column.offsets[index], column.offsets[index + 1])
      return
    case FIXED_LIST:
      putArray(out, column.children[0], index * column.size, (index + 1) * column.size)
      return
    case MAP:
      putMap(out, column, index)
      return
    case TUPLE:
      putTuple(out, column, index)
      return
    case OBJECT:
      putObject(out, column, index)
      return
    case QUOTED_JSON: {
      const start = out.at
      putValue(out, column.children[0], index)
      quoteSince(out, start, 'csv')
      return
    }
  }
  if (column.quoted) putByte(out, QUOTE)
  putUnescaped(out, column, index)
  if (column.quoted) putByte(out, QUOTE)
}

function putMissing(out: TextSink, { empty, emptyText, nullText }: ColumnText, index: number): void {
  const isEmpty = empty !== null && ((empty[index >>> 3] >>> (index & 7)) & 1) === 1
  const text = isEmpty ? emptyText : nullText
  putBytes(out, text, 0, text.length)
}

/** What is a string in JSON and has no character that needs an escape. */
function putUnescaped(out: TextSink, column: ColumnText, index: number): void {
  const { view } = column
  switch (column.op) {
    case DATE:
      putDate(out, view.getInt32(4 * index, true))
      return
    case TIME:
      putTime(out, view.getInt32(8 * index + 4, true), view.getInt32(8 * index, true))
      return
    case TIMESTAMP:
      putTimestamp(out, view.getInt32(8 * index + 4, true), view.getInt32(8 * index, true), column.csv ? 'iso' : 'json')
      return
    case UUID:
      putUuid(out, column.values, 16 * index)
      return
    case INTERVAL:
      putInterval(out, column, 16 * index)
      return
    case HEX:
      putHex(out, column.values, column.offsets[index], column.offsets[index + 1])
      return
    case DURATION:
      if (column.csv && column.offsets[index] === column.offsets[index + 1]) putAscii(out, NO_DURATION)
      else putBytes(out, column.values, column.offsets[index], column.offsets[index + 1])
      return
    case PLAIN:
      putBytes(out, column.values, column.offsets[index], column.offsets[index + 1])
  }
}

function putByte(out: TextSink, byte: number): void {
  out.reserve(1)
  out.bytes[out.at++] = byte
}

/** A separator and the space behind it. */
function putSeparator(out: TextSink, byte: number): void {
  out.reserve(2)
  out.bytes[out.at++] = byte
  out.bytes[out.at++] = SPACE
}

/** JSON has no NaN and no infinities: null, as SELECT JSON prints them. */
function putFloating(out: TextSink, { op, csv }: ColumnText, value: number): void {
  if (!Number.isFinite(value)) putAscii(out, csv ? String(value) : 'null')
  else if (op === FLOAT32) putFloat32(out, value)
  else putFloat64(out, value)
}

/** Quoted where empty or equal to the null marker, so that neither is taken for null. */
function putCsvString(out: TextSink, { values, offsets, nullText }: ColumnText, index: number): void {
  const from = offsets[index]
  const to = offsets[index + 1]
  let quoted = to - from === nullText.length || from === to
  for (let i = 0; quoted && i < to - from; i++) quoted = values[from + i] === nullText[i]
  putCsvField(out, values, from, to, quoted)
}

/** No time at all is the empty text in Cassandra; in CSV, where that would be an empty value, it is this. */
const NO_DURATION = '0ns'

function putInterval(out: TextSink, { view, csv }: ColumnText, at: number): void {
  out.reserve(LONGEST_DURATION)
  const months = view.getInt32(at, true)
  const days = view.getInt32(at + 4, true)
  const high = view.getInt32(at + 12, true)
  const end = formatDuration(out.bytes, out.at, months, days, high, view.getInt32(at + 8, true))
  if (csv && end === out.at) putAscii(out, NO_DURATION)
  else out.at = end
}

/** Arrow decimals with all decimals of their scale. By BigInt: rare, on request only. */
function putDecimal(out: TextSink, { view, size, scale }: ColumnText, index: number): void {
  const at = 8 * size * index
  let value = view.getBigInt64(at + 8 * size - 8, true)
  for (let word = size - 2; word >= 0; word--) value = (value << 64n) | view.getBigUint64(at + 8 * word, true)
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  putAscii(out, `${value < 0n ? '-' : ''}${whole}${scale === 0 ? '' : `.${digits.slice(-scale)}`}`)
}

const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

function putArray(out: TextSink, item: ColumnText, from: number, to: number): void {
  putByte(out, OPEN_ARRAY)
  for (let i = from; i < to; i++) {
    if (i > from) putSeparator(out, COMMA)
    putValue(out, item, i)
  }
  putByte(out, CLOSE_ARRAY)
}

/** A key that is no string in JSON becomes one, its text quoted. */
function putMap(out: TextSink, { children, offsets }: ColumnText, index: number): void {
  const [key, value] = children
  const from = offsets[index]
  const to = offsets[index + 1]
  putByte(out, OPEN_OBJECT)
  for (let i = from; i < to; i++) {
    if (i > from) putSeparator(out, COMMA)
    const start = out.at
    putValue(out, key, i)
    if (!key.quoted) quoteSince(out, start, 'json')
    putSeparator(out, COLON)
    putValue(out, value, i)
  }
  putByte(out, CLOSE_OBJECT)
}

function putTuple(out: TextSink, { children }: ColumnText, index: number): void {
  putByte(out, OPEN_ARRAY)
  for (let i = 0; i < children.length; i++) {
    if (i > 0) putSeparator(out, COMMA)
    putValue(out, children[i], index)
  }
  putByte(out, CLOSE_ARRAY)
}

function putObject(out: TextSink, { children, heads }: ColumnText, index: number): void {
  for (let i = 0; i < children.length; i++) {
    putBytes(out, heads[i], 0, heads[i].length)
    putValue(out, children[i], index)
  }
  putByte(out, CLOSE_OBJECT)
}
