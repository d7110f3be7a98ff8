// cqlite#638, #639, #1104, #2225, #2524: with min_compress_ratio, chunks of noise are stored as they are; taken as compressed they end in an inflate
// error, and without counting the CRC32 behind each chunk the reader drifts by four bytes a chunk. 3.11 has no such option.

import { expect } from 'vitest'
import { ChunkOffsets } from '../../storage/sstable/compression-info.ts'
import { testCase } from './case-table.ts'

testCase('chunks that do not compress are stored raw', 'raw_chunks', async ({ rows, pinned, format }) => {
  const info = pinned.sstables[0].compression!
  const offsets = new ChunkOffsets(info)
  await offsets.load(0, info.chunkCount)
  const stored = Array.from({ length: info.chunkCount }, (_, i) => offsets.storedLength(i))
  const raw = stored.filter((length) => length >= info.maxCompressedLength)
  if (format === 'me') expect(info.maxCompressedLength).toBe(Number.POSITIVE_INFINITY)
  else expect(raw.length).toBeGreaterThan(0)
  expect(raw.length).toBeLessThan(info.chunkCount)
  expect(await rows()).toHaveLength(24)
})
