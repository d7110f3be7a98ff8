// What slices of wide partitions cost: an index block is decoded once, a chunk is inflated once, and a scan of everything reads no index.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { partitionerByName } from '../../../storage/ring/partitioner.ts'
import { Catalog } from '../../../storage/scan/catalog.ts'
import type { PinnedTable } from '../../../storage/scan/pinned-table.ts'
import { openScan } from '../../../storage/scan/scan.ts'
import type { ScanRequest, ScanStats } from '../../../storage/scan/scan-request.ts'
import { newIndexCounters } from '../../../storage/sstable/index.ts'
import { openIndex } from '../../../storage/sstable/open-index.ts'
import { goldenMeta, goldenSet } from '../../corpus/golden.ts'

const PK = 1
const KEY = Uint8Array.of(0, 0, 0, PK)

async function statsOf(pinned: PinnedTable, request: ScanRequest): Promise<ScanStats> {
  const scan = await openScan(pinned, request)
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) batch.release()
  await scan.close()
  return scan.stats
}

/** How many index blocks and chunks the partition has, over all SSTables. */
async function sizeOf(pinned: PinnedTable): Promise<{ blocks: number; chunks: number; sstables: number }> {
  const partitioner = partitionerByName(pinned.partitioner, pinned.schema.partitionKey[0].type)
  const size = { blocks: 0, chunks: 0, sstables: 0 }
  for (const sstable of pinned.sstables) {
    const index = openIndex(sstable, partitioner, newIndexCounters())
    const entry = await index.find(KEY)
    if (entry === null) continue
    const end = (await index.after(entry))?.dataOffset ?? sstable.dataLength
    const { chunkLength } = sstable.compression!
    size.sstables++
    size.blocks += (await index.rowIndex(entry))?.blockCount ?? 0
    // What lies behind the partition in its last chunk is no chunk more.
    size.chunks += Math.floor((end - 1) / chunkLength) - Math.floor(entry.dataOffset / chunkLength) + 1
  }
  return size
}

describe.each(['da', 'oa', 'nb', 'me'] as const)('golden set %s', (set) => {
  test('many slices of a partition decode no index block and inflate no chunk twice', async () => {
    const catalog = await Catalog.open({ data: [join(await goldenSet(set), 'data')] })
    const pinned = await catalog.pin('golden', 'wide')
    const { now } = await goldenMeta(set)
    const { blocks, chunks, sstables } = await sizeOf(pinned)
    expect(blocks).toBeGreaterThan(20)
    // bti has one payload more than blocks.
    const most = set === 'da' ? blocks + sstables : blocks
    for (const every of [1, 2, 3, 7, 40, 300]) {
      const values = Array.from({ length: Math.floor(3000 / every) }, (_, i) => i * every)
      const where = `pk = ${PK} AND c IN (${values.join(', ')})`
      const stats = await statsOf(pinned, { now, where })
      expect(stats.rowsEmitted, where.slice(0, 60)).toBeGreaterThan(0)
      expect(stats.indexBlocksDecoded, `of ${blocks} blocks, every ${every}`).toBeLessThanOrEqual(most)
      expect(stats.chunksInflated, `of ${chunks} chunks, every ${every}`).toBeLessThanOrEqual(chunks)
    }
    await pinned.release()
  })

  test('a scan of everything reads no index, whatever rows and columns it is asked for', async () => {
    const catalog = await Catalog.open({ data: [join(await goldenSet(set), 'data')] })
    const pinned = await catalog.pin('golden', 'wide')
    const { now } = await goldenMeta(set)
    const requests: Partial<ScanRequest>[] = [{}, { columns: 'a' }, { where: 'a > 0' }, { countOnly: true }]
    for (const asked of [...requests, { plainDecoder: true }]) {
      const stats = await statsOf(pinned, { now, ...asked })
      expect(stats.rowsVisited, JSON.stringify(asked)).toBeGreaterThan(1000)
      expect(stats.indexBytesRead, JSON.stringify(asked)).toBe(0)
      expect(stats.indexBlocksDecoded).toBe(0)
      const all = pinned.sstables.reduce((sum, { compression }) => sum + compression!.chunkCount, 0)
      expect(stats.chunksInflated).toBeLessThanOrEqual(all)
    }
    await pinned.release()
  })
})
