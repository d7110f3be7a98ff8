// NDJSON: a line per row, as Cassandra's SELECT JSON * prints it (o.a.c.cql3.selection.Selection.rowToJson), in UTF-8.

import type { Batch, BatchSchema } from '../../storage/rows/batch.ts'
import type { Allocate, Discard, Exporter, Parts } from '../exporter.ts'
import { jsonColumn, keyHead } from '../text/column-text.ts'
import { type RowFrame, rowParts } from '../text/row-text.ts'

export interface NdjsonOptions {
  /** Where parts are encoded; default: memory of this thread. */
  allocate?: Allocate
  /** Where the buffers go that a part has outgrown. */
  discard?: Discard
}

export function ndjsonExporter(options: NdjsonOptions = {}): Exporter {
  let frame: RowFrame
  return {
    mediaType: 'application/x-ndjson',
    extension: '.ndjson',
    head(schema: BatchSchema): Parts {
      frame = {
        columns: schema.fields.map(jsonColumn),
        heads: schema.fields.map((field, i) => keyHead(field.name, i)),
        end: Buffer.from(schema.fields.length === 0 ? '{}\n' : '}\n'),
      }
      return []
    },
    batch: (batch: Batch): Parts => rowParts(batch, frame, options),
    tail: () => [],
  }
}
