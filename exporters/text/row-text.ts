// Rows of a batch as lines of text, made part by part as they are pulled.

import type { Batch } from '../../storage/rows/batch.ts'
import type { Allocate, Discard } from '../exporter.ts'
import { bind, type ColumnText } from './column-text.ts'
import { putBytes, TextSink } from './sink.ts'
import { putValue } from './value-text.ts'

/** How rows are framed: before each column its own bytes, after the last one `end`. */
export interface RowFrame {
  columns: readonly ColumnText[]
  heads: readonly Uint8Array[]
  end: Uint8Array
}

/** Where parts are encoded; by default memory of this thread. */
export interface PartMemory {
  allocate?: Allocate
  discard?: Discard
}

/** Text grows by some factor over Arrow's buffers; a part that is too small grows, one that is too large only costs memory. */
const EXPECTED_GROWTH = 3

export function* rowParts(batch: Batch, frame: RowFrame, memory: PartMemory): Generator<Uint8Array> {
  for (let c = 0; c < frame.columns.length; c++) bind(frame.columns[c], batch.columns[c])
  const out = new TextSink(memory.allocate, memory.discard)
  const fixed = frame.heads.reduce((sum, head) => sum + head.length, frame.end.length)
  const expected = EXPECTED_GROWTH * batch.bytes + fixed * batch.rows
  for (let row = 0; row < batch.rows; ) {
    out.start(expected)
    row = writeRows(out, frame, row, batch.rows)
    yield out.take()
  }
}

/** Writes rows until the part is full; returns the first that is not written. */
function writeRows(out: TextSink, { columns, heads, end }: RowFrame, row: number, rows: number): number {
  while (row < rows && !out.isFull) {
    for (let c = 0; c < columns.length; c++) {
      putBytes(out, heads[c], 0, heads[c].length)
      putValue(out, columns[c], row)
    }
    putBytes(out, end, 0, end.length)
    row++
  }
  return row
}
