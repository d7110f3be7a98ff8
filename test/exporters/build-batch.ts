/**
 * Batches for tests, built from plain values: by the letter of Arrow's layout and as slowly as need be, so that what the
 * exporters write can be held against something that shares no code with storage/rows.
 *
 * Values by layout: bool: boolean; int8, int16, int32, date32, float32, float64: number; int64, time64ns, timestamp_ms,
 * decimal128, decimal256 (unscaled): bigint; utf8: string; binary, uuid: Uint8Array; interval: [months, days, nanoseconds];
 * list, fixed_list: values; map: [key, value] pairs; struct: the fields' values; null anywhere; EMPTY for an empty value.
 */
import { type Batch, type BatchSchema, byteWidth, type Field, type Vector } from '../../storage/rows/batch.ts'
import type { CqlType } from '../../storage/schema/cql-type.ts'

export const EMPTY = Symbol('empty value')
export type Value =
  | null
  | typeof EMPTY
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly Value[]
  | readonly [Value, Value][]

export function field(name: string, type: CqlType, layout: Field['layout'], children: Field[] = []): Field {
  return { name, type, layout, nullable: true, children }
}

/** `slack`: bytes of room beyond the used length of every buffer, full of rubbish, as a reused builder has. */
export interface BuildOptions {
  slack?: number
  shared?: boolean
}

export function vectorOf(of: Field, values: readonly Value[], options: BuildOptions = {}): Vector {
  const kind = of.layout.kind
  const length = values.length
  const missing = values.map((value) => value === null || value === EMPTY)
  const nullCount = missing.filter(Boolean).length
  const vector: Vector = {
    field: of,
    length,
    nullCount,
    validity:
      nullCount === 0
        ? null
        : bits(
            missing.map((gone) => !gone),
            options,
          ),
    empty: values.includes(EMPTY)
      ? bits(
          values.map((value) => value === EMPTY),
          options,
        )
      : null,
    offsets: null,
    values: new Uint8Array(0),
    children: [],
  }
  switch (kind) {
    case 'null':
      break
    case 'bool':
      vector.values = bits(
        values.map((value) => value === true),
        options,
      )
      break
    case 'utf8':
    case 'binary': {
      const pieces = values.map((value) =>
        typeof value === 'string'
          ? Buffer.from(value, 'utf8')
          : value instanceof Uint8Array
            ? value
            : new Uint8Array(0),
      )
      vector.offsets = offsetsOf(
        pieces.map((piece) => piece.length),
        options,
      )
      vector.values = room(Buffer.concat(pieces), options)
      break
    }
    case 'list':
    case 'map': {
      const lists = values.map((value) => (Array.isArray(value) ? (value as Value[]) : []))
      vector.offsets = offsetsOf(
        lists.map((list) => list.length),
        options,
      )
      vector.children = [vectorOf(of.children[0], lists.flat(1) as Value[], options)]
      break
    }
    case 'fixed_list': {
      const size = of.layout.size
      const nothing = new Array<Value>(size).fill(null)
      vector.children = [
        vectorOf(
          of.children[0],
          values.flatMap((value) => (Array.isArray(value) ? value : nothing)),
          options,
        ),
      ]
      break
    }
    case 'struct':
      vector.children = of.children.map((child, i) =>
        vectorOf(
          child,
          values.map((value) => (Array.isArray(value) ? (value[i] as Value) : null)),
          options,
        ),
      )
      break
    default: {
      const width = byteWidth(of.layout)
      const bytes = Buffer.alloc(width * length)
      values.forEach((value, i) => {
        if (!missing[i]) writeFixed(kind, bytes.subarray(i * width, (i + 1) * width), value)
      })
      vector.values = room(bytes, options)
    }
  }
  return vector
}

export function batchOf(
  schema: BatchSchema,
  columns: readonly (readonly Value[])[],
  position: string,
  options: BuildOptions = {},
): Batch {
  const vectors = columns.map((values, i) => vectorOf(schema.fields[i], values, options))
  return {
    schema,
    rows: columns.length === 0 ? 0 : columns[0].length,
    columns: vectors,
    position,
    bytes: vectors.reduce((sum, vector) => sum + bytesOf(vector), 0),
    release() {},
  }
}

/** The columns of some rows, one schema. */
export function transpose(schema: BatchSchema, rows: readonly (readonly Value[])[]): Value[][] {
  return schema.fields.map((_, i) => rows.map((row) => row[i]))
}

function bytesOf(vector: Vector): number {
  const own = vector.values.length + (vector.offsets?.byteLength ?? 0) + (vector.validity?.length ?? 0)
  return vector.children.reduce((sum, child) => sum + bytesOf(child), own)
}

function writeFixed(kind: Field['layout']['kind'], to: Buffer, value: Value): void {
  switch (kind) {
    case 'int8':
      to.writeInt8(value as number)
      break
    case 'int16':
      to.writeInt16LE(value as number)
      break
    case 'int32':
    case 'date32':
      to.writeInt32LE(value as number)
      break
    case 'float32':
      to.writeFloatLE(value as number)
      break
    case 'float64':
      to.writeDoubleLE(value as number)
      break
    case 'int64':
    case 'time64ns':
    case 'timestamp_ms':
      to.writeBigInt64LE(value as bigint)
      break
    case 'decimal128':
    case 'decimal256':
      for (let i = 0; i < to.length; i += 8)
        to.writeBigInt64LE(BigInt.asIntN(64, (value as bigint) >> BigInt(8 * i)), i)
      break
    case 'uuid':
      to.set(value as Uint8Array)
      break
    case 'interval': {
      const [months, days, nanoseconds] = value as unknown as [number, number, bigint]
      to.writeInt32LE(months, 0)
      to.writeInt32LE(days, 4)
      to.writeBigInt64LE(nanoseconds, 8)
      break
    }
    default:
      throw new Error(`not of fixed width: ${kind}`)
  }
}

function bits(values: readonly boolean[], options: BuildOptions): Uint8Array {
  const bytes = new Uint8Array((values.length + 7) >> 3)
  values.forEach((value, i) => {
    if (value) bytes[i >> 3] |= 1 << (i & 7)
  })
  return room(bytes, options)
}

function offsetsOf(lengths: readonly number[], options: BuildOptions): Int32Array {
  const offsets = new Int32Array(lengths.length + 1)
  lengths.forEach((length, i) => {
    offsets[i + 1] = offsets[i] + length
  })
  const bytes = room(new Uint8Array(offsets.buffer), options)
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)
}

function room(bytes: Uint8Array, options: BuildOptions): Uint8Array {
  const size = bytes.length + (options.slack ?? 0)
  const whole = new Uint8Array(options.shared ? new SharedArrayBuffer(size) : new ArrayBuffer(size)).fill(0xa5)
  whole.set(bytes)
  return whole
}
