// Rows as plain objects: for the few hundred rows of the schema tables, never for a user's data.

import type { Batch, Vector } from '../rows/batch.ts'
import type { Scan } from './scan-request.ts'

/** null; string (text, uuid as 32 hex digits), number, bigint (64-bit), boolean, Buffer (blob), array, Map. */
export type RowValue = null | string | number | bigint | boolean | Buffer | RowValue[] | Map<RowValue, RowValue>
export type RowObject = Record<string, RowValue>

/** All rows of a scan, which is closed. */
export async function readRowObjects(scan: Scan): Promise<RowObject[]> {
  const rows: RowObject[] = []
  try {
    for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
      for (let i = 0; i < batch.rows; i++) rows.push(rowObject(batch, i))
      batch.release()
    }
  } finally {
    await scan.close()
  }
  return rows
}

function rowObject(batch: Batch, row: number): RowObject {
  const result: RowObject = {}
  for (const vector of batch.columns) result[vector.field.name] = valueAt(vector, row)
  return result
}

function valueAt(vector: Vector, i: number): RowValue {
  if (vector.validity !== null && ((vector.validity[i >> 3] >> (i & 7)) & 1) === 0) return null
  const values = Buffer.from(vector.values.buffer, vector.values.byteOffset, vector.values.byteLength)
  const { layout } = vector.field
  switch (layout.kind) {
    case 'utf8':
      return values.toString('utf8', vector.offsets![i], vector.offsets![i + 1])
    case 'binary':
      return Buffer.from(values.subarray(vector.offsets![i], vector.offsets![i + 1]))
    case 'int8':
      return values.readInt8(i)
    case 'int16':
      return values.readInt16LE(2 * i)
    case 'int32':
      return values.readInt32LE(4 * i)
    case 'float64':
      return values.readDoubleLE(8 * i)
    case 'int64':
    case 'timestamp_ms':
      return values.readBigInt64LE(8 * i)
    case 'bool':
      return ((values[i >> 3] >> (i & 7)) & 1) === 1
    case 'uuid':
      return values.toString('hex', 16 * i, 16 * i + 16)
    case 'list':
      return range(vector, i).map((j) => valueAt(vector.children[0], j))
    case 'map': {
      const [keys, items] = vector.children[0].children
      return new Map(range(vector, i).map((j) => [valueAt(keys, j), valueAt(items, j)]))
    }
    default:
      return null // no schema table has such a column
  }
}

function range(vector: Vector, i: number): number[] {
  const start = vector.offsets![i]
  return Array.from({ length: vector.offsets![i + 1] - start }, (_, k) => start + k)
}
