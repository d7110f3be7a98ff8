// The unit that leaves storage: a columnar run of rows in Arrow's physical layout (Arrow Columnar Format 1.5), little-endian.
// Exporters see Batch, Field and Vector and nothing else of storage/rows.

import type { CqlType } from '../schema/cql-type.ts'
import type { ColumnKind } from '../schema/table.ts'

/** Physical and logical Arrow type of a vector. */
export type Layout =
  | { kind: 'null' } // no buffers: every value is null or empty; EmptyType
  | { kind: 'bool' } // bit-packed values
  | { kind: 'int8' | 'int16' | 'int32' | 'int64' | 'float32' | 'float64' }
  | { kind: 'date32' | 'time64ns' | 'timestamp_ms' } // 4, 8, 8 bytes; timestamp is UTC
  | { kind: 'uuid' } // FixedSizeBinary(16), extension arrow.uuid
  | { kind: 'interval' } // MonthDayNano: i32 months, i32 days, i64 nanoseconds; 16 bytes
  | { kind: 'decimal128' | 'decimal256'; precision: number; scale: number } // 16, 32 bytes
  | { kind: 'utf8' | 'binary' } // offsets + values
  | { kind: 'list' } // offsets + 1 child
  | { kind: 'map' } // offsets + 1 child, a struct of key and value
  | { kind: 'struct' } // children
  | { kind: 'fixed_list'; size: number } // 1 child

/** One column, or one child of a nested column. */
export interface Field {
  name: string
  /** Of computed columns (token, writetime...) the CQL type that they have in CQL: bigint, int. */
  type: CqlType
  layout: Layout
  nullable: boolean
  /**
   * list, fixed_list: [item]; map: [entries], a struct of [key, value], of which only the value is nullable; struct: a UDT's
   * fields by their names, a tuple's as field_0, field_1..., a duration's months, days, nanoseconds.
   */
  children: Field[]
  /** Of top-level fields only. */
  column?: { kind: ColumnKind | 'computed'; position: number; reversed: boolean; cqlType: string }
}

export interface Vector {
  field: Field
  length: number
  nullCount: number
  /** Bit i (LSB first) = 1: value i is there. null: all are (of layout null: none is). Bits beyond the length are 0. */
  validity: Uint8Array | null
  /** Bit i = 1: value i is a zero-length value of a type other than text, ascii, blob, custom; it is null too. null: none is. */
  empty: Uint8Array | null
  /** length + 1 entries, the first 0: utf8, binary, list, map. */
  offsets: Int32Array | null
  /** Fixed-width values (length x width bytes), bits (bool), or the bytes of utf8 and binary; else of length 0. Nulls are 0. */
  values: Uint8Array
  /** Under a null, a struct's children are null, and so are a fixed_list's `size` slots. */
  children: Vector[]
}

export interface BatchSchema {
  fields: Field[]
  /** Key/value metadata of the whole stream: keyspace, table, now... */
  metadata: Map<string, string>
}

export interface Batch {
  schema: BatchSchema
  rows: number
  columns: Vector[]
  /** Position of the last row, as `after` takes it. */
  position: string
  /** Bytes in all buffers of all columns. */
  bytes: number
  /** Gives the buffers back for reuse; nothing of the batch may be read afterwards. Not calling it only costs memory. */
  release(): void
}

/** Bytes per value of fixed-width layouts; 0 for the others. */
export function byteWidth(layout: Layout): number {
  switch (layout.kind) {
    case 'int8':
      return 1
    case 'int16':
      return 2
    case 'int32':
    case 'float32':
    case 'date32':
      return 4
    case 'int64':
    case 'float64':
    case 'time64ns':
    case 'timestamp_ms':
      return 8
    case 'uuid':
    case 'interval':
    case 'decimal128':
      return 16
    case 'decimal256':
      return 32
    default:
      return 0
  }
}

/** Zero-length values of types other than text, ascii and blob in a column, inside of its values too. */
export function countEmptyValues({ empty, children, length }: Vector): number {
  let count = 0
  for (let i = 0; empty !== null && i < length; i++) count += (empty[i >>> 3] >>> (i & 7)) & 1
  for (const child of children) count += countEmptyValues(child)
  return count
}
