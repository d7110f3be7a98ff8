// CSV by RFC 4180: a header line, CRLF, fields quoted where they must be. Null is the marker, never quoted (by default nothing at all);
// a quoted empty field is the empty text, or in a column of another type an empty value. Numbers read back as the same numbers (NaN,
// Infinity and -Infinity included), timestamps are ISO 8601, blobs 0x and hex digits; collections, tuples, UDTs and vectors are their
// JSON text in quotes, as in NDJSON.

import { SluiceError } from '../../storage/errors.ts'
import type { Batch, BatchSchema } from '../../storage/rows/batch.ts'
import type { Allocate, Discard, Exporter, Parts } from '../exporter.ts'
import { csvColumn } from '../text/column-text.ts'
import { type RowFrame, rowParts } from '../text/row-text.ts'
import { putBytes, TextSink } from '../text/sink.ts'
import { putCsvField } from '../text/strings.ts'

export interface CsvOptions {
  /** What stands for null. Default: nothing. Not with characters that need quotes, nor what a value could look like. */
  nullMarker?: string
  /** Where parts are encoded; default: memory of this thread. */
  allocate?: Allocate
  /** Where the buffers go that a part has outgrown. */
  discard?: Discard
}

const CRLF = Buffer.from('\r\n')
const COMMA = Buffer.from(',')
const NOTHING = new Uint8Array(0)

/** Would change how a line is cut, or stand for null and for a number, date, blob or boolean at once. */
const BAD_MARKER = /[",\r\n]|^[-+]?[0-9]|^(true|false|NaN|-?Infinity)$/

/** BAD_PARAMETER: a null marker that could not be told from a value. */
export function csvExporter(options: CsvOptions = {}): Exporter {
  const marker = options.nullMarker ?? ''
  if (BAD_MARKER.test(marker)) {
    throw new SluiceError('BAD_PARAMETER', { parameter: 'null', value: marker, reason: 'a value could look like it' })
  }
  let frame: RowFrame
  return {
    mediaType: 'text/csv; charset=utf-8; header=present',
    extension: '.csv',
    head(schema: BatchSchema): Parts {
      const nullText = Buffer.from(marker)
      frame = {
        columns: schema.fields.map((field) => csvColumn(field, nullText)),
        heads: schema.fields.map((_, i) => (i === 0 ? NOTHING : COMMA)),
        end: CRLF,
      }
      return [headerLine(schema)]
    },
    batch: (batch: Batch): Parts => rowParts(batch, frame, options),
    tail: () => [],
  }
}

function headerLine(schema: BatchSchema): Uint8Array {
  const out = new TextSink()
  out.start(0)
  schema.fields.forEach((field, i) => {
    const name = Buffer.from(field.name)
    if (i > 0) putBytes(out, COMMA, 0, 1)
    putCsvField(out, name, 0, name.length, name.length === 0)
  })
  putBytes(out, CRLF, 0, 2)
  return out.take()
}
