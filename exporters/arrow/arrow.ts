// Arrow IPC: the stream (.arrows) and the file for random access and memory mapping (.arrow).

import type { Batch, BatchSchema } from '../../storage/rows/batch.ts'
import type { Compression } from '../compression.ts'
import type { Exporter, Hold, Parts } from '../exporter.ts'
import { encodeBatch } from './encoder.ts'
import { END_OF_STREAM, fileEnd, fileStart, type MessageBlock, schemaMessage } from './message.ts'

export interface ArrowOptions {
  /** Of the buffers in record batches. Default 'none': every codec is slower than a scan. */
  compression?: Compression
  /** Of the memory that compressed buffers take. */
  hold?: Hold
}

export function arrowStreamExporter(options: ArrowOptions = {}): Exporter {
  const { compression = 'none', hold } = options
  let at = 0
  return {
    mediaType: 'application/vnd.apache.arrow.stream',
    extension: '.arrows',
    head(schema: BatchSchema): Parts {
      const message = schemaMessage(schema, at)
      at += message.length
      return [message]
    },
    batch(batch: Batch): Parts {
      holdCompressed(batch, compression, hold)
      return encodeBatch(batch, compression, at, (block) => {
        at += block.metadataBytes + block.bodyBytes
      })
    },
    tail: () => [END_OF_STREAM],
  }
}

export function arrowFileExporter(options: ArrowOptions = {}): Exporter {
  const { compression = 'none', hold } = options
  const blocks: MessageBlock[] = []
  let written: BatchSchema
  let at = 0
  return {
    mediaType: 'application/vnd.apache.arrow.file',
    extension: '.arrow',
    head(schema: BatchSchema): Parts {
      written = schema
      const start = fileStart()
      const message = schemaMessage(schema, start.length)
      at = start.length + message.length
      return [start, message]
    },
    batch(batch: Batch): Parts {
      holdCompressed(batch, compression, hold)
      return encodeBatch(batch, compression, at, (block) => {
        blocks.push(block)
        at += block.metadataBytes + block.bodyBytes
      })
    },
    tail: () => [END_OF_STREAM, fileEnd(written, blocks)],
  }
}

/** What a codec makes, and the room that it makes it in. */
function holdCompressed({ bytes }: Batch, compression: Compression, hold: Hold | undefined): void {
  if (compression !== 'none') hold?.(2 * bytes)
}
