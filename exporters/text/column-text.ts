// What a column's values are written from: one record per field, bound to the vector at hand. Records of all fields have one shape,
// and the writer switches on `op`: a class for each type, called through one interface, took twice the time per row.

import type { Field, Vector } from '../../storage/rows/batch.ts'

/** JSON: strings are quoted, NaN is null. CSV: bare fields; nested values are JSON in a quoted field. */
export type Form = 'json' | 'csv'

export const NULL = 0
export const BOOL = 1
export const INT8 = 2
export const INT16 = 3
export const INT32 = 4
export const INT64 = 5
export const FLOAT32 = 6
export const FLOAT64 = 7
export const DATE = 8
export const TIME = 9
export const TIMESTAMP = 10
export const UUID = 11
export const INTERVAL = 12
export const DECIMAL = 13
/** UTF-8 that has to be escaped. */
export const STRING = 14
/** UTF-8 that has not: decimal, varint, inet, duration. */
export const PLAIN = 15
/** UTF-8 of a duration: the empty text is a value. */
export const DURATION = 16
export const HEX = 17
export const LIST = 18
export const FIXED_LIST = 19
export const MAP = 20
export const TUPLE = 21
export const OBJECT = 22
/** A nested value in CSV; the child is the same value as JSON. */
export const QUOTED_JSON = 23

export interface ColumnText {
  readonly op: number
  readonly csv: boolean
  /** Every value is a JSON string. */
  readonly quoted: boolean
  /** Written in place of null. */
  readonly nullText: Uint8Array
  /** Written in place of an empty value. */
  readonly emptyText: Uint8Array
  /** fixed_list: items; decimal: 64-bit words. */
  readonly size: number
  /** Of decimals. */
  readonly scale: number
  /** list, fixed_list: the item; map: key and value; tuple, object: the fields. */
  readonly children: ColumnText[]
  /** Of objects: what stands before each field, `{"a": ` or `, "b": `. */
  readonly heads: Uint8Array[]
  validity: Uint8Array | null
  empty: Uint8Array | null
  values: Uint8Array
  view: DataView
  offsets: Int32Array
}

const JSON_NULL = Buffer.from('null')
const TWO_QUOTES = Buffer.from('""')
const NO_BYTES = new Uint8Array(0)
const NO_VIEW = new DataView(NO_BYTES.buffer)
const NO_OFFSETS = new Int32Array(0)

/** Values as SELECT JSON prints them. */
export function jsonColumn(field: Field): ColumnText {
  return columnText(field, JSON_NULL, 'json')
}

/** Values as CSV fields, null as `nullText`. */
export function csvColumn(field: Field, nullText: Uint8Array): ColumnText {
  const column = columnText(field, nullText, 'csv')
  return column.op < LIST ? column : { ...column, op: QUOTED_JSON, children: [jsonColumn(field)] }
}

function columnText(field: Field, nullText: Uint8Array, form: Form): ColumnText {
  const { layout } = field
  const op = operation(field)
  const nested = layout.kind === 'map' ? field.children[0].children : field.children
  const heads = op === OBJECT ? field.children.map((child, i) => keyHead(child.name, i)) : []
  return {
    op,
    csv: form === 'csv',
    quoted: form === 'json' && STRINGS.has(op) && !isNumberText(field),
    nullText,
    emptyText: op === OBJECT && field.type.kind === 'udt' ? nullFields(heads) : TWO_QUOTES,
    size: layout.kind === 'fixed_list' ? layout.size : layout.kind === 'decimal128' ? 2 : 4,
    scale: 'scale' in layout ? layout.scale : 0,
    children: nested.map(jsonColumn),
    heads,
    validity: null,
    empty: null,
    values: NO_BYTES,
    view: NO_VIEW,
    offsets: NO_OFFSETS,
  }
}

const STRINGS = new Set([DATE, TIME, TIMESTAMP, UUID, INTERVAL, STRING, PLAIN, DURATION, HEX])

function operation(field: Field): number {
  switch (field.layout.kind) {
    case 'null':
      return NULL
    case 'bool':
      return BOOL
    case 'int8':
      return INT8
    case 'int16':
      return INT16
    case 'int32':
      return INT32
    case 'int64':
      return INT64
    case 'float32':
      return FLOAT32
    case 'float64':
      return FLOAT64
    case 'date32':
      return DATE
    case 'time64ns':
      return TIME
    case 'timestamp_ms':
      return TIMESTAMP
    case 'uuid':
      return UUID
    case 'interval':
      return INTERVAL
    case 'decimal128':
    case 'decimal256':
      return DECIMAL
    case 'utf8':
      if (field.type.kind === 'duration') return DURATION
      return field.type.kind === 'inet' || isNumberText(field) ? PLAIN : STRING
    case 'binary':
      return HEX
    case 'list':
      return LIST
    case 'fixed_list':
      return FIXED_LIST
    case 'map':
      return MAP
    case 'struct':
      return field.type.kind === 'tuple' ? TUPLE : OBJECT
  }
}

/** decimal and varint as exact text are JSON numbers. */
function isNumberText(field: Field): boolean {
  return field.type.kind === 'decimal' || field.type.kind === 'varint'
}

/** A name as a key of SELECT JSON, with quotes and colon: names that CQL would have to quote keep those quotes. */
export function keyHead(name: string, index: number): Uint8Array {
  const key = JSON.stringify(name === name.toLowerCase() ? name : `"${name}"`)
  return Buffer.from(`${index === 0 ? '{' : ', '}${key}: `)
}

/** A UDT of no bytes has no fields yet, so each is null (o.a.c.db.marshal.UserType.toJSONString over TupleType.split). */
function nullFields(heads: Uint8Array[]): Uint8Array {
  return Buffer.concat([...heads.flatMap((head) => [head, JSON_NULL]), Buffer.from('}')])
}

/** Values come from this vector from now on. */
export function bind(column: ColumnText, vector: Vector): void {
  column.validity = vector.validity
  column.empty = vector.empty
  column.values = vector.values
  column.view = new DataView(vector.values.buffer, vector.values.byteOffset, vector.values.byteLength)
  column.offsets = vector.offsets ?? NO_OFFSETS
  const { children } = column
  if (column.op === QUOTED_JSON) {
    bind(children[0], vector)
    return
  }
  const nested = column.op === MAP ? vector.children[0].children : vector.children
  for (let i = 0; i < children.length; i++) bind(children[i], nested[i])
}
