// Parquet: batches go to an encoding thread as Arrow, row groups come back. The file holds the Arrow schema too (ARROW:schema), so that
// readers that know Arrow restore types and field metadata.

import { SluiceError } from '../../storage/errors.ts'
import type { Batch, BatchSchema, Field } from '../../storage/rows/batch.ts'
import type { Compression } from '../compression.ts'
import type { Exporter, Hold, Parts } from '../exporter.ts'
import { Encoder } from './encoder.ts'

export interface ParquetOptions {
  /** Of pages. Default 'zstd'. */
  compression?: Compression
  /** Of the memory of the encoding thread. */
  hold?: Hold
}

/** Encoded bytes of a row group, which the encoding thread holds twice while it is sent. */
const ROW_GROUP_BYTES = 8 * 1024 * 1024

export function parquetExporter(options: ParquetOptions = {}): Exporter {
  let encoder: Encoder | undefined
  return {
    mediaType: 'application/vnd.apache.parquet',
    extension: '.parquet',
    head(schema: BatchSchema): Parts {
      for (const field of schema.fields) refuseIntervals(field)
      const encoding = {
        compression: options.compression ?? 'zstd',
        rowGroupBytes: ROW_GROUP_BYTES,
        metadata: [...schema.metadata],
      }
      encoder = new Encoder(schema, encoding, options.hold)
      return []
    },
    batch: (batch: Batch): Parts => encoder!.encode(batch),
    tail: (): Parts => encoder!.finish(),
    close(): void {
      encoder?.stop()
    },
  }
}

/** Parquet's own interval has milliseconds and 32 bits, so a duration has to be a struct or text. */
function refuseIntervals(field: Field): void {
  if (field.layout.kind === 'interval') {
    throw new SluiceError('BAD_PARAMETER', {
      parameter: 'duration',
      value: 'interval',
      column: field.name,
      expected: 'struct or text',
      reason: 'Parquet has no such type',
    })
  }
  field.children.forEach(refuseIntervals)
}
