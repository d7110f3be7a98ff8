// Batches as record batch messages, with or without buffer compression (Arrow: "Recordbatch body compression"): a compressed
// buffer is preceded by the length that it unpacks to, 64 bits; -1 says that the bytes follow as they are.

import { CompressionType } from 'apache-arrow/fb/compression-type'
import type { Batch } from '../../storage/rows/batch.ts'
import { type Compress, type Compression, compressLz4Frame, compressZstd } from '../compression.ts'
import type { Parts } from '../exporter.ts'
import { batchBody } from './body.ts'
import { gather, zeros } from './gather.ts'
import { type MessageBlock, padded, recordBatchMessage } from './message.ts'

/** Key of a record batch's custom metadata: where the batch ends, as `after` takes it. */
export const POSITION_KEY = 'sluice.position'

/** Smaller buffers are stored: a frame's own header eats what they could save. */
const SMALLEST_COMPRESSED = 128

const CODECS: Record<Exclude<Compression, 'none'>, { type: CompressionType; compress: Compress }> = {
  lz4: { type: CompressionType.LZ4_FRAME, compress: compressLz4Frame },
  zstd: { type: CompressionType.ZSTD, compress: compressZstd },
}

/**
 * The parts of one batch's message, which starts `at` bytes into the stream. `written` hears where the message lies as soon as
 * it is known, before the first part is handed out.
 */
export function encodeBatch(
  batch: Batch,
  compression: Compression,
  at: number,
  written: (block: MessageBlock) => void,
): Parts {
  const body = batchBody(batch)
  if (compression === 'none') {
    return assemble(batch, body.nodes, body.buffers, null, at, written)
  }
  return compressed(batch, body.nodes, body.buffers, compression, at, written)
}

async function* compressed(
  batch: Batch,
  nodes: number[],
  buffers: Uint8Array[],
  compression: Exclude<Compression, 'none'>,
  at: number,
  written: (block: MessageBlock) => void,
): AsyncGenerator<Uint8Array> {
  const { type, compress } = CODECS[compression]
  const packed = await Promise.all(buffers.map((buffer) => packBuffer(buffer, compress)))
  yield* assemble(batch, nodes, packed, type, at, written)
}

/** A buffer as its pieces in the body, without padding. */
async function packBuffer(buffer: Uint8Array, compress: Compress): Promise<Uint8Array[]> {
  if (buffer.length === 0) return [buffer]
  const prefix = Buffer.alloc(8, 0xff)
  if (buffer.length < SMALLEST_COMPRESSED) return [prefix, buffer]
  const frame = await compress(buffer)
  if (frame.length >= buffer.length) return [prefix, buffer]
  prefix.writeBigInt64LE(BigInt(buffer.length))
  return [prefix, frame]
}

function assemble(
  batch: Batch,
  nodes: number[],
  packed: readonly (Uint8Array | Uint8Array[])[],
  compression: CompressionType | null,
  at: number,
  written: (block: MessageBlock) => void,
): Uint8Array[] {
  // The head comes first, when the rest is known.
  const pieces: Uint8Array[] = [zeros(0)]
  const buffers: number[] = []
  let bodyBytes = 0
  for (const parts of packed) {
    let length = 0
    if (parts instanceof Uint8Array) {
      pieces.push(parts)
      length = parts.length
    } else {
      for (const part of parts) {
        pieces.push(part)
        length += part.length
      }
    }
    buffers.push(bodyBytes, length)
    pieces.push(zeros(padded(length) - length))
    bodyBytes += padded(length)
  }
  const metadata: [string, string][] = [[POSITION_KEY, batch.position]]
  const head = recordBatchMessage({ rows: batch.rows, nodes, buffers, bodyBytes, compression, metadata }, at)
  written({ offset: at, metadataBytes: head.length, bodyBytes })
  pieces[0] = head
  return gather(pieces)
}
