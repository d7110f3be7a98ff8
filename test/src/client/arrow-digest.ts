// The content digest of Arrow record batches, to be compared with a server's own (GET .../digest): buffers of apache-arrow as the vectors
// that storage hashes. For tables without empty values, which Arrow does not tell from null.

import type { Data, RecordBatch } from 'apache-arrow'
import type { Batch, BatchSchema, Field, Vector } from '../../../storage/rows/batch.ts'
import { createRowDigest } from '../../../storage/scan/digest.ts'

export interface ArrowDigest {
  add(batch: RecordBatch): void
  /** Call once, last. */
  finish(): { digest: string; rows: number }
}

/** @param schema of a scan of the same columns */
export async function arrowDigest(schema: BatchSchema): Promise<ArrowDigest> {
  const digest = await createRowDigest()
  let rows = 0
  return {
    add(batch) {
      rows += batch.numRows
      const columns = schema.fields.map((field, i) => vectorOf(field, batch.data.children[i]))
      digest.add({ schema, rows: batch.numRows, columns, position: '', bytes: 0, release() {} } satisfies Batch)
    },
    finish: () => ({ digest: digest.finish(), rows }),
  }
}

function vectorOf(field: Field, data: Data): Vector {
  if (data.offset !== 0) throw new Error('a batch that begins inside its buffers')
  const { length, nullCount, nullBitmap, valueOffsets, values, children } = data
  return {
    field,
    length,
    nullCount,
    validity: nullCount === 0 || nullBitmap === undefined || nullBitmap.length === 0 ? null : nullBitmap,
    empty: null,
    offsets: valueOffsets === undefined ? null : Int32Array.from(valueOffsets, Number),
    values: bytesOf(values),
    children: field.children.map((child, i) => vectorOf(child, children[i])),
  }
}

function bytesOf(values: ArrayBufferView | undefined): Uint8Array {
  return values === undefined ? new Uint8Array(0) : new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
}
