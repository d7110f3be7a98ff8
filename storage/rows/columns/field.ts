// From CQL types to Arrow layouts: the table "CQL to Arrow". decimal and varint are exact text unless a decimal layout is
// asked for; a duration is an interval unless a struct or text is.

import { SluiceError } from '../../errors.ts'
import type { CqlType, VectorType } from '../../schema/cql-type.ts'
import type { Field, Layout } from '../batch.ts'

export interface FieldOptions {
  /** Arrow decimals for decimal columns, with this scale, and for varint columns, with scale 0. */
  decimal?: { kind: 'decimal128' | 'decimal256'; scale: number }
  /** Default: interval. */
  duration?: 'interval' | 'struct' | 'text'
}

/** A null vector takes as much room as any: a dimension that only damage explains must not ask for all memory. */
const MAX_VECTOR_ELEMENTS = 1024 * 1024

const PRECISION = { decimal128: 38, decimal256: 76 } as const

/**
 * The field of a column or of a nested value. Children: list `item`; map `entries` of `key` and `value`; UDT its fields' names;
 * tuple `field_0`, `field_1`...; duration struct `months`, `days`, `nanoseconds`. Only map keys and entries are not nullable.
 * BAD_PARAMETER: a decimal scale outside 0 to the layout's precision. UNSUPPORTED_TYPE: a vector of no elements, or of more than a million.
 */
export function fieldOf(name: string, type: CqlType, options: FieldOptions = {}, column?: Field['column']): Field {
  const field: Field = {
    name,
    type,
    layout: layoutOf(type, options),
    nullable: true,
    children: childrenOf(type, options),
  }
  if (column !== undefined) field.column = column
  return field
}

function layoutOf(type: CqlType, options: FieldOptions): Layout {
  switch (type.kind) {
    case 'ascii':
    case 'text':
    case 'inet':
      return { kind: 'utf8' }
    case 'blob':
    case 'custom':
      return { kind: 'binary' }
    case 'boolean':
      return { kind: 'bool' }
    case 'tinyint':
      return { kind: 'int8' }
    case 'smallint':
      return { kind: 'int16' }
    case 'int':
      return { kind: 'int32' }
    case 'bigint':
    case 'counter':
      return { kind: 'int64' }
    case 'float':
      return { kind: 'float32' }
    case 'double':
      return { kind: 'float64' }
    case 'date':
      return { kind: 'date32' }
    case 'time':
      return { kind: 'time64ns' }
    case 'timestamp':
      return { kind: 'timestamp_ms' }
    case 'uuid':
    case 'timeuuid':
      return { kind: 'uuid' }
    case 'empty':
      return { kind: 'null' }
    case 'decimal':
    case 'varint':
      return numberLayout(type.kind === 'decimal', options)
    case 'duration':
      if (options.duration === 'struct') return { kind: 'struct' }
      return { kind: options.duration === 'text' ? 'utf8' : 'interval' }
    case 'list':
    case 'set':
      return { kind: 'list' }
    case 'map':
      return { kind: 'map' }
    case 'tuple':
    case 'udt':
      return { kind: 'struct' }
    case 'vector':
      return { kind: 'fixed_list', size: vectorSize(type) }
  }
}

function vectorSize(type: VectorType): number {
  let elements = 1
  for (let t: CqlType = type; t.kind === 'vector'; t = t.element) elements *= t.dimension
  if (!Number.isInteger(elements) || elements < 1 || elements > MAX_VECTOR_ELEMENTS) {
    throw new SluiceError('UNSUPPORTED_TYPE', { type: `vector of ${elements} elements`, limit: MAX_VECTOR_ELEMENTS })
  }
  return type.dimension
}

function numberLayout(scaled: boolean, options: FieldOptions): Layout {
  if (options.decimal === undefined) return { kind: 'utf8' }
  const { kind, scale } = options.decimal
  const precision = PRECISION[kind]
  if (!Number.isInteger(scale) || scale < 0 || scale > precision) {
    throw new SluiceError('BAD_PARAMETER', {
      parameter: 'decimal',
      value: String(scale),
      expected: `a scale of 0 to ${precision}`,
    })
  }
  return { kind, precision, scale: scaled ? scale : 0 }
}

function childrenOf(type: CqlType, options: FieldOptions): Field[] {
  switch (type.kind) {
    case 'list':
    case 'set':
    case 'vector':
      return [fieldOf('item', type.element, options)]
    case 'map': {
      const key: Field = { ...fieldOf('key', type.key, options), nullable: false }
      const value = fieldOf('value', type.value, options)
      const entries: CqlType = { kind: 'tuple', fields: [type.key, type.value] }
      return [{ name: 'entries', type: entries, layout: { kind: 'struct' }, nullable: false, children: [key, value] }]
    }
    case 'tuple':
      return type.fields.map((field, i) => fieldOf(`field_${i}`, field, options))
    case 'udt':
      return type.fields.map((field, i) => fieldOf(type.fieldNames[i], field, options))
    case 'duration':
      if (options.duration !== 'struct') return []
      return [
        fieldOf('months', { kind: 'int' }),
        fieldOf('days', { kind: 'int' }),
        fieldOf('nanoseconds', { kind: 'bigint' }),
      ]
    default:
      return []
  }
}
