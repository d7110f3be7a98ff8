// What the content digest costs over the scan alone, on rows of 50 small cells.

import type { PinnedSource } from '../../src/source.ts'
import { digestScan } from '../../storage/scan/digest.ts'
import { ensureDataset } from './dataset.ts'
import { best, bound, median, table } from './figures.ts'

const NOW = 1_800_000_000

// Workers are started from what is built.
const { openSource }: typeof import('../../src/open-source.ts') = await import(
  new URL('../../dist/src/open-source.js', import.meta.url).href
)

/** As a server has it: the scan in a worker, whose batches the main thread hashes; and all of it in one thread. */
export async function digestBench(rounds: number): Promise<void> {
  const { data, schema, keyspace, table: name } = ensureDataset('smallcells', 'da')
  const lines: string[][] = []
  for (const workers of [1, 0]) {
    const source = await openSource({ data: [data], schemaFile: schema, workers })
    const pinned = await source.pin(keyspace, name)
    const scans: number[] = []
    const digests: number[] = []
    let rows = 0
    for (let round = -2; round < 2 * rounds; round++) {
      const started = performance.now()
      rows = await scanned(pinned)
      const between = performance.now()
      await digested(pinned)
      if (round < 0) continue // the first rounds warm up
      scans.push(between - started)
      digests.push(performance.now() - between)
    }
    const line = (what: string, times: number[]) => [
      `${what}, ${workers === 0 ? 'one thread' : 'one worker'}`,
      `${best(times).toFixed(0)}, ${median(times).toFixed(0)}`,
      (rows / best(times) / 1000).toFixed(2),
      (best(times) / best(scans)).toFixed(2),
      (median(times) / median(scans)).toFixed(2),
    ]
    lines.push(line('scan', scans), line('digest', digests))
    const over = Math.min(best(digests) / best(scans), median(digests) / median(scans)) - 1
    if (workers > 0) bound(`the digest costs ${(100 * over).toFixed(0)} % over the scan, at most 30 %`, over <= 0.3)
    await pinned.release()
    await source.close()
  }
  table(['smallcells', 'ms (min, median)', 'M rows/s', 'over the scan (min)', '(median)'], lines)
}

async function digested(pinned: PinnedSource): Promise<void> {
  const scan = await pinned.scan({ now: NOW })
  await digestScan(scan)
  await scan.close()
}

async function scanned(pinned: PinnedSource): Promise<number> {
  const scan = await pinned.scan({ now: NOW })
  let rows = 0
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
    rows += batch.rows
    batch.release()
  }
  await scan.close()
  return rows
}
