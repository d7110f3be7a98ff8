// The reference roofline: the same process only reading, CRC-checking (node:zlib) and decompressing (lz4-napi) the same files. Always that
// codec, whatever the product uses, so that figures stay comparable from release to release.

import { readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { uncompressSync } from 'lz4-napi'
import { ChunkOffsets } from '../../storage/sstable/compression-info.ts'
import type { SSTable } from '../../storage/sstable/sstable.ts'

const BLOCK = 1 << 20

/** Uncompressed bytes that went by. */
export async function roofline(sstables: readonly SSTable[]): Promise<number> {
  const block = Buffer.allocUnsafe(BLOCK + (1 << 18))
  const window = Buffer.allocUnsafe(BLOCK)
  let bytes = 0
  for (const sstable of sstables) {
    const info = sstable.compression
    if (info === null) throw new Error('the roofline is that of compressed tables')
    const offsets = new ChunkOffsets(info)
    const perBlock = Math.max(1, Math.floor(BLOCK / (info.chunkLength + 4)))
    for (let chunk = 0; chunk < info.chunkCount; ) {
      const end = Math.min(chunk + perBlock, info.chunkCount)
      await offsets.load(chunk, end)
      const start = offsets.offset(chunk)
      const length = offsets.offset(end - 1) + offsets.storedLength(end - 1) + 4 - start
      readSync(sstable.dataFd, block, 0, length, start)
      let at = 0
      for (; chunk < end; chunk++) {
        const from = offsets.offset(chunk) - start
        const stored = block.subarray(from, from + offsets.storedLength(chunk))
        if (crc32(stored) !== block.readUInt32BE(from + stored.length)) throw new Error('a checksum does not match')
        const raw = stored.length >= info.maxCompressedLength ? stored : uncompressSync(stored)
        if (at + raw.length > window.length) at = 0
        window.set(raw, at)
        at += raw.length
        bytes += raw.length
      }
    }
  }
  return bytes
}
