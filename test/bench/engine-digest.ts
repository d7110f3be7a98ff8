// What the content digest costs over the scan alone, on rows of 50 small cells.

import { Catalog } from '../../storage/scan/catalog.ts'
import { digestTable } from '../../storage/scan/digest.ts'
import type { PinnedTable } from '../../storage/scan/pinned-table.ts'
import { openScan } from '../../storage/scan/scan.ts'
import { ensureDataset } from './dataset.ts'
import { best, bound, median, table } from './figures.ts'

const NOW = 1_800_000_000

export async function digestBench(rounds: number): Promise<void> {
  const { data, schema, keyspace, table: name } = ensureDataset('smallcells', 'da')
  const catalog = await Catalog.open({ data: [data], schemaFile: schema })
  const pinned = await catalog.pin(keyspace, name)
  const scans: number[] = []
  const digests: number[] = []
  let rows = 0
  for (let round = -2; round < 2 * rounds; round++) {
    const started = performance.now()
    rows = await scanned(pinned)
    const between = performance.now()
    await digestTable(pinned, { now: NOW })
    if (round < 0) continue // the first rounds warm up
    scans.push(between - started)
    digests.push(performance.now() - between)
  }
  const line = (what: string, times: number[]) => [
    what,
    `${best(times).toFixed(0)}, ${median(times).toFixed(0)}`,
    (rows / best(times) / 1000).toFixed(2),
    (best(times) / best(scans)).toFixed(2),
    (median(times) / median(scans)).toFixed(2),
  ]
  table(
    ['smallcells', 'ms (min, median)', 'M rows/s', 'over the scan (min)', '(median)'],
    [line('scan', scans), line('digest', digests)],
  )
  const over = Math.min(best(digests) / best(scans), median(digests) / median(scans)) - 1
  bound(`the digest costs ${(100 * over).toFixed(0)} % over the scan, at most 30 %`, over <= 0.3)
  await pinned.release()
  await catalog.close()
}

async function scanned(pinned: PinnedTable): Promise<number> {
  const scan = await openScan(pinned, { now: NOW })
  let rows = 0
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
    rows += batch.rows
    batch.release()
  }
  await scan.close()
  return rows
}
