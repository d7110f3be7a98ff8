// What a scan has cost is told behind the rows, in a trailer, and added up in the metrics: the counters that `--stats` prints.

import { join } from 'node:path'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { createExporter } from '../../../exporters/formats.ts'
import { openSource } from '../../../src/open-source.ts'
import { createServer } from '../../../src/server/create-server.ts'
import type { ScanRequest, ScanStats } from '../../../storage/scan/scan-request.ts'
import { goldenSet } from '../../corpus/golden.ts'
import { quiet } from '../fakes.ts'

const NOW = 1_800_000_000
const WHERE = 'pk = 1 AND c IN (500, 1500)'

/** Bytes by the component that they were read of; where chunks lie is told apart from the indexes. */
const COMPONENTS = {
  data: 'dataBytesRead',
  chunk_index: 'chunkIndexBytesRead',
  summary: 'summaryBytesRead',
  partition_index: 'partitionIndexBytesRead',
  row_index: 'rowIndexBytesRead',
  filter: 'filterBytesRead',
} as const

const COUNTED = {
  sluice_chunks_inflated_total: 'chunksInflated',
  sluice_index_blocks_decoded_total: 'indexBlocksDecoded',
  sluice_filter_checks_total: 'filterChecks',
  sluice_filter_rejections_total: 'filterRejections',
  sluice_sstables_read_total: 'sstablesRead',
  sluice_sstables_pruned_total: 'sstablesPruned',
  sluice_partitions_visited_total: 'partitionsVisited',
  sluice_partitions_emitted_total: 'partitionsEmitted',
  sluice_rows_visited_total: 'rowsVisited',
  sluice_rows_emitted_total: 'rowsEmitted',
} as const

test.each(['da', 'oa'] as const)('trailer and metrics tell what a scan has cost (%s)', async (set) => {
  const source = await openSource({ data: [join(await goldenSet(set), 'data')] })
  const server = createServer({ source, createExporter, logger: quiet })
  const url = await server.listen('127.0.0.1', 0)
  try {
    const scanned = async (asked: Partial<ScanRequest>): Promise<ScanStats> => {
      const pinned = await source.pin('golden', 'wide')
      const scan = await pinned.scan({ now: NOW, ...asked })
      for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) batch.release()
      await scan.close()
      await pinned.release()
      return scan.stats
    }
    const told = async (query: Record<string, string>): Promise<ScanStats> => {
      const { body, trailers, headers } = await request(`${url}/v1/keyspaces/golden/tables/wide/rows`, {
        query: { now: NOW, ...query },
      })
      await body.dump({ limit: 1 << 30 })
      expect(headers.trailer).toContain('Sluice-Stats')
      return JSON.parse(String(trailers['sluice-stats']))
    }
    const metrics = async () => {
      const { body } = await request(`${url}/metrics`)
      const lines = (await body.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
      return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
    }

    const some = await told({ where: WHERE })
    expect(some).toEqual(await scanned({ where: WHERE }))
    expect(some.partitionsEmitted).toBe(1)
    const { summaryBytesRead, partitionIndexBytesRead, rowIndexBytesRead, filterBytesRead } = some
    expect(some.indexBytesRead).toBe(summaryBytesRead + partitionIndexBytesRead + rowIndexBytesRead + filterBytesRead)
    for (const key of ['rowsEmitted', 'dataBytesRead', 'chunkIndexBytesRead', 'chunksInflated'] as const) {
      expect(some[key], key).toBeGreaterThan(0)
    }
    for (const key of ['partitionIndexBytesRead', 'rowIndexBytesRead', 'indexBlocksDecoded'] as const) {
      expect(some[key], key).toBeGreaterThan(0)
    }
    expect(some.summaryBytesRead > 0).toBe(set === 'oa')

    const all = await told({})
    expect(all.indexBytesRead).toBe(0)
    expect(all.rowsEmitted).toBeGreaterThan(some.rowsEmitted)
    const found = await metrics()
    for (const [name, key] of Object.entries(COUNTED)) expect(found.get(name), name).toBe(some[key] + all[key])
    for (const [component, key] of Object.entries(COMPONENTS)) {
      const name = `sluice_component_read_bytes_total{component="${component}"}`
      expect(found.get(name), name).toBe(some[key] + all[key])
    }
    const bytes = ({ dataBytesRead, chunkIndexBytesRead, indexBytesRead }: ScanStats) =>
      dataBytesRead + chunkIndexBytesRead + indexBytesRead
    expect(found.get('sluice_read_bytes_total')).toBe(bytes(some) + bytes(all))
  } finally {
    await server.close(0)
    await source.close()
  }
})
