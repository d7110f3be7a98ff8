// A batch as the body of a RecordBatch message: nodes and buffers in pre-order (Arrow Columnar Format, "Recordbatch message").
// Buffers alias the batch's own; a vector may hold more room than it uses, so each is cut to its used length.

import { type Batch, byteWidth, type Vector } from '../../storage/rows/batch.ts'

export interface Body {
  /** Length and null count of each vector, in pairs. */
  nodes: number[]
  buffers: Uint8Array[]
}

const NONE = new Uint8Array(0)

export function batchBody(batch: Batch): Body {
  const body: Body = { nodes: [], buffers: [] }
  for (const column of batch.columns) addVector(body, column)
  return body
}

function addVector(body: Body, vector: Vector): void {
  const { length, nullCount } = vector
  const kind = vector.field.layout.kind
  body.nodes.push(length, kind === 'null' ? length : nullCount)
  if (kind === 'null') return
  body.buffers.push(nullCount === 0 || vector.validity === null ? NONE : vector.validity.subarray(0, bitBytes(length)))
  switch (kind) {
    case 'bool':
      body.buffers.push(vector.values.subarray(0, bitBytes(length)))
      break
    case 'utf8':
    case 'binary':
      body.buffers.push(offsetBytes(vector), vector.values.subarray(0, vector.offsets![length]))
      break
    case 'list':
    case 'map':
      body.buffers.push(offsetBytes(vector))
      addVector(body, vector.children[0])
      break
    case 'struct':
    case 'fixed_list':
      for (const child of vector.children) addVector(body, child)
      break
    default:
      body.buffers.push(vector.values.subarray(0, length * byteWidth(vector.field.layout)))
  }
}

function bitBytes(bits: number): number {
  return (bits + 7) >>> 3
}

function offsetBytes(vector: Vector): Uint8Array {
  const offsets = vector.offsets!
  return new Uint8Array(offsets.buffer, offsets.byteOffset, (vector.length + 1) * 4)
}
