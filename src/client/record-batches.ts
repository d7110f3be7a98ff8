// Messages as the record batches that apache-arrow knows.

import { CompressionType, compressionRegistry, type RecordBatch, RecordBatchReader } from 'apache-arrow'
import { decompressFrameSync } from 'lz4-napi'
import { SluiceError } from '../../storage/errors.ts'

const END_OF_STREAM = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)

/** The batch lies over the bytes of its message. */
export function recordBatchOf(schema: Uint8Array, message: Uint8Array): RecordBatch {
  if (compressionRegistry.get(CompressionType.LZ4_FRAME) === null) {
    compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: (bytes) => decompressFrameSync(Buffer.from(bytes)) })
  }
  const [batch] = RecordBatchReader.from([schema, message, END_OF_STREAM])
  if (batch === undefined) throw new SluiceError('REMOTE', { reason: 'a message holds no batch' })
  return batch
}
