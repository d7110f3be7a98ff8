// Data.db as checksummed chunks for the window: offsets from CompressionInfo.db, or equal pieces with their CRC32s from CRC.db.

import { codecFor } from '../bytes/codecs.ts'
import type { ReadCounter } from '../bytes/paged-file.ts'
import type { ChunkSource } from '../bytes/window.ts'
import { ChunkOffsets } from './compression-info.ts'
import { ChunkCrcs } from './crc-db.ts'
import type { SSTableData } from './sstable.ts'

/** Piece size of an uncompressed Data.db whose CRC.db is missing: nothing is checked then. */
const UNCHECKED_PIECE = 64 * 1024

/** One reader's view of Data.db; not shared between scans. `counter`: of CompressionInfo.db or CRC.db. */
export function dataChunks(sstable: SSTableData, counter?: ReadCounter): ChunkSource {
  const { compression } = sstable
  return compression === null ? plainChunks(sstable, counter) : compressedChunks(sstable, compression, counter)
}

function compressedChunks(
  sstable: SSTableData,
  info: NonNullable<SSTableData['compression']>,
  counter?: ReadCounter,
): ChunkSource {
  const offsets = new ChunkOffsets(info, counter)
  const inflate = codecFor(info.codec, info.file)
  return {
    fd: sstable.dataFd,
    file: sstable.file,
    storedLength: sstable.dataFileLength,
    dataLength: sstable.dataLength,
    longestStored: info.chunkLength + 1024,
    chunkLength: info.chunkLength,
    load: (first, last) => (offsets.has(first, last + 1) ? undefined : offsets.load(first, last + 1)),
    chunkOffset: (chunk) => offsets.offset(chunk),
    chunkSize: (chunk) => offsets.storedLength(chunk),
    trailer: 4,
    expectedCrc: () => 0,
    inflate(stored, target, at, length) {
      if (stored.length < info.maxCompressedLength) return inflate(stored, target, at, length)
      // Stored raw; a short last chunk is padded with zeros (CompressedSequentialWriter.flushData).
      if (stored.length < length) return `a raw chunk of ${stored.length} bytes in place of ${length}`
      target.set(stored.subarray(0, length), at)
      return undefined
    },
  }
}

function plainChunks(sstable: SSTableData, counter?: ReadCounter): ChunkSource {
  const crcs = sstable.crc === null ? null : new ChunkCrcs(sstable.crc, counter)
  const chunkLength = sstable.crc?.chunkSize ?? UNCHECKED_PIECE
  const { dataLength } = sstable
  return {
    fd: sstable.dataFd,
    file: sstable.file,
    storedLength: dataLength,
    dataLength,
    longestStored: chunkLength,
    chunkLength,
    load: (first, last) => (crcs?.has(first, last + 1) ? undefined : crcs?.load(first, last + 1)),
    chunkOffset: (chunk) => chunk * chunkLength,
    chunkSize: (chunk) => Math.min(chunkLength, dataLength - chunk * chunkLength),
    trailer: 0,
    expectedCrc: (chunk) => crcs?.value(chunk) ?? null,
    inflate(stored, target, at) {
      target.set(stored, at)
      return undefined
    },
  }
}
