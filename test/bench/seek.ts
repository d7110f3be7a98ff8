// Counts and ratios of everything that seeks: distinct, slices, points, a part of the ring, splits. Prints JSON lines; fails where a
// figure is beyond its bound. Files are made by bench-files.sh beside it, under ${SLUICE_CACHE:-~/.cache/sluice}/bench.
//
//   npx tsx --expose-gc test/bench/seek.ts [distinct|slice|point|ring|splits]...
import { homedir } from 'node:os'
import { join } from 'node:path'
import { splitTable } from '../../src/split-table.ts'
import { Catalog } from '../../storage/scan/catalog.ts'
import type { PinnedTable } from '../../storage/scan/pinned-table.ts'
import { openScan } from '../../storage/scan/scan.ts'
import type { ScanRequest, ScanStats } from '../../storage/scan/scan-request.ts'

const FILES = join(process.env.SLUICE_CACHE ?? join(homedir(), '.cache', 'sluice'), 'bench')
const now = 1_800_000_000

async function pin(set: string, table: string, schemaSet = set): Promise<PinnedTable> {
  const schemaFile = join(FILES, schemaSet, `schema.${table}.cql`)
  const catalog = await Catalog.open({ data: [join(FILES, set, 'bulk')], schemaFile })
  return catalog.pin('bulk', table)
}

interface Run {
  rows: number
  ms: number
  /** Largest resident set seen between batches, bytes. */
  rss: number
  stats: ScanStats
}

async function run(pinned: PinnedTable, request: Partial<ScanRequest>): Promise<Run> {
  const start = performance.now()
  const scan = await openScan(pinned, { now, ...request })
  let rows = 0
  let rss = 0
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
    rows += batch.rows
    batch.release()
    rss = Math.max(rss, process.memoryUsage.rss())
  }
  await scan.close()
  return { rows, ms: performance.now() - start, rss, stats: scan.stats }
}

/** The fastest of some runs. */
async function best(times: number, pinned: PinnedTable, request: Partial<ScanRequest>): Promise<Run> {
  let result = await run(pinned, request)
  for (let i = 1; i < times; i++) {
    const next = await run(pinned, request)
    if (next.ms < result.ms) result = next
  }
  return result
}

let failed = false

function tell(name: string, figures: Record<string, unknown>, bounds: Record<string, boolean> = {}): void {
  const missed = Object.keys(bounds).filter((bound) => !bounds[bound])
  if (missed.length > 0) failed = true
  console.log(JSON.stringify({ name, ...figures, ...(missed.length > 0 ? { MISSED: missed } : {}) }))
}

const round = (n: number, digits = 1) => Math.round(n * 10 ** digits) / 10 ** digits

async function distinct(): Promise<void> {
  for (const [set, table, values] of [
    ['oa', 'bigblob', 'v'],
    ['da', 'bigblob', 'v'],
    ['oa-text', 'wide', 'name'],
    ['da-text', 'wide', 'name'],
  ]) {
    const pinned = await pin(set, table)
    const compressible = set.endsWith('-text')
    const whole = await best(3, pinned, { columns: values })
    const keys = await best(10, pinned, { distinct: true })
    const clustering = await best(10, pinned, { columns: 'pk, c' })
    const perRow = round(clustering.stats.chunksInflated / clustering.rows, 2)
    const ratio = whole.ms / clustering.ms
    const keyRatio = whole.ms / keys.ms
    const fromIndex = set.startsWith('oa')
    tell(
      `distinct ${set}.${table}`,
      {
        rows: whole.rows,
        partitions: keys.rows,
        values_ms: round(whole.ms),
        distinct_ms: round(keys.ms, 2),
        distinct_faster: round(keyRatio),
        distinct_data_bytes: keys.stats.dataBytesRead,
        distinct_chunks: keys.stats.chunksInflated,
        clustering_ms: round(clustering.ms, 2),
        clustering_faster: round(ratio),
        clustering_chunks_a_row: perRow,
        clustering_data_bytes: clustering.stats.dataBytesRead,
      },
      {
        'distinct from the index reads no byte of Data.db': !fromIndex || keys.stats.dataBytesRead === 0,
        'distinct is 100 times faster': !fromIndex || compressible || keyRatio >= 100,
        'at most 2 chunks a row': perRow <= 2,
        'clustering columns are 25 times (compressible: 4 times) faster': ratio >= (compressible ? 4 : 25),
      },
    )
    await pinned.release()
  }
}

async function slice(): Promise<void> {
  for (const set of ['oa', 'da']) {
    const pinned = await pin(set, 'onebig')
    const blocks = Math.ceil(pinned.sstables[0].dataLength / 65536)
    const part = await best(5, pinned, { where: 'pk = 0 AND c >= 500000 AND c < 500100' })
    const bound = set === 'oa' ? Math.ceil(Math.log2(blocks)) + 2 : 3
    tell(
      `slice ${set}`,
      {
        rows: part.rows,
        ms: round(part.ms, 2),
        blocks,
        blocks_decoded: part.stats.indexBlocksDecoded,
        chunks: part.stats.chunksInflated,
        rows_visited: part.stats.rowsVisited,
      },
      {
        '100 rows': part.rows === 100,
        [`at most ${bound} blocks`]: part.stats.indexBlocksDecoded <= bound,
        'at most 8 chunks': part.stats.chunksInflated <= 8,
      },
    )
    const many = await run(pinned, {
      where: `pk = 0 AND c IN (${Array.from({ length: 20 }, (_, i) => 25_000 + 50_000 * i).join(', ')})`,
    })
    tell(`20 rows by IN ${set}`, {
      rows: many.rows,
      blocks_decoded: many.stats.indexBlocksDecoded,
      chunks: many.stats.chunksInflated,
    })
    const small = await pin(set, 'wide')
    await run(small, {})
    await run(pinned, {})
    const inSmall = await best(4, small, {})
    const whole = await best(4, pinned, {})
    const ratio = inSmall.ms / whole.ms
    tell(
      `whole partition of 1,000,000 rows ${set}`,
      {
        small_partitions_ms: round(inSmall.ms),
        one_partition_ms: round(whole.ms),
        throughput: round(ratio, 2),
        index_bytes: whole.stats.indexBytesRead,
        rss_more_mb: round((whole.rss - inSmall.rss) / 1e6),
      },
      {
        'no index read': whole.stats.indexBytesRead === 0 && whole.stats.indexBlocksDecoded === 0,
        'memory within 32 MB': whole.rss - inSmall.rss < 32 << 20,
        'throughput within 10 %': ratio >= 0.9,
      },
    )
    await small.release()
    await pinned.release()
  }
}

async function point(): Promise<void> {
  const pinned = await pin('da-node', 'narrow', 'da-4')
  const times: number[] = []
  let read = 0
  let rejected = 0
  let rows = 0
  let cpu = process.cpuUsage()
  for (let i = 0; i < 300; i++) {
    if (i === 50) cpu = process.cpuUsage()
    const one = await run(pinned, { where: `pk = ${(i * 6661) % 2_000_000}` })
    rows += one.rows
    if (i < 50) continue
    times.push(one.ms)
    read += one.stats.sstablesRead
    rejected += one.stats.filterRejections
  }
  const { user, system } = process.cpuUsage(cpu)
  times.sort((a, b) => a - b)
  tell(
    'point reads da, flushed',
    {
      sstables: pinned.sstables.length,
      rows,
      read_per_key: read / times.length,
      rejected_per_key: rejected / times.length,
      cpu_ms_per_key: round((user + system) / 1000 / times.length, 2),
      least_ms: round(times[0], 2),
      median_ms: round(times[times.length >> 1], 2),
      p95_ms: round(times[Math.floor(times.length * 0.95)], 2),
    },
    { 'filtered SSTables are not opened': read / times.length < 1.1, 'under 5 ms': times[times.length >> 1] < 5 },
  )
  await pinned.release()
}

async function ring(): Promise<void> {
  for (const set of ['oa', 'da']) {
    const pinned = await pin(set, 'narrow')
    const whole = await best(2, pinned, {})
    const start = String((2n ** 63n * 98n) / 100n)
    const part = await best(3, pinned, { start })
    const share = part.stats.dataBytesRead / whole.stats.dataBytesRead
    tell(
      `last 1 % of the ring ${set}`,
      {
        rows: part.rows,
        of: whole.rows,
        data_share_percent: round(100 * share, 2),
        index_bytes: part.stats.indexBytesRead,
        ms: round(part.ms, 2),
        whole_ms: round(whole.ms),
      },
      { 'within a factor of 2': share > 0.005 && share < 0.02 },
    )
    await pinned.release()
  }
}

async function splits(): Promise<void> {
  for (const [set, table, counts] of [
    ['oa', 'narrow', [16, 500]],
    ['da', 'narrow', [16, 500]],
    ['oa-skewed', 'wide', [16, 100]],
    ['da-skewed', 'wide', [16, 100]],
    ['oa', 'onebig', [16]],
    ['da', 'onebig', [16]],
  ] as const) {
    const pinned = await pin(set, table, set.replace('-skewed', ''))
    for (const count of counts) {
      const begun = performance.now()
      const planned = await splitTable(pinned, { count })
      const ms = performance.now() - begun
      let rows = 0
      let read = 0
      const bytes: number[] = []
      for (const { from, to, bytes: estimate } of planned) {
        // Of many splits the estimates are taken for true.
        if (count > 100) {
          bytes.push(estimate)
          continue
        }
        const part = await run(pinned, { from: from ?? undefined, to: to ?? undefined, countOnly: true })
        rows += part.rows
        read += part.stats.dataBytesRead
        bytes.push(part.stats.dataBytesCovered)
      }
      const mean = bytes.reduce((a, b) => a + b, 0) / bytes.length
      const largest = Math.max(...bytes) / mean
      tell(
        `splits ${set}.${table} ${count}`,
        { splits: planned.length, ms: round(ms), largest_to_mean: round(largest, 3), rows, read },
        { 'largest within 1.3 of the mean': largest <= 1.3 },
      )
    }
    await pinned.release()
  }
}

const all = { distinct, slice, point, ring, splits }
const asked = process.argv.slice(2)
for (const [name, bench] of Object.entries(all)) if (asked.length === 0 || asked.includes(name)) await bench()
process.exitCode = failed ? 1 : 0
