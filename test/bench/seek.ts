// Counts and ratios of everything that seeks: distinct, slices, points, a part of the ring, splits. Prints JSON lines; fails where a
// figure is beyond its bound. Files are made by bench-files.sh beside it, under ${SLUICE_CACHE:-~/.cache/sluice}/bench.
//
//   npx tsx test/bench/seek.ts [distinct|slice|whole|point|http|ring|splits]...
//
// `http` asks a server, so it needs what `npm run build` makes.
import { execFile } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Pool } from 'undici'
import { splitTable } from '../../src/split-table.ts'
import { Catalog } from '../../storage/scan/catalog.ts'
import type { PinnedTable } from '../../storage/scan/pinned-table.ts'
import { openScan } from '../../storage/scan/scan.ts'
import type { ScanRequest, ScanStats } from '../../storage/scan/scan-request.ts'
import { startServer } from './server-process.ts'

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
  /** Processor time of the process. */
  cpuMs: number
  stats: ScanStats
}

async function run(pinned: PinnedTable, request: Partial<ScanRequest>): Promise<Run> {
  const start = performance.now()
  const cpu = process.cpuUsage()
  const scan = await openScan(pinned, { now, ...request })
  let rows = 0
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
    rows += batch.rows
    batch.release()
  }
  await scan.close()
  const { user, system } = process.cpuUsage(cpu)
  return { rows, ms: performance.now() - start, cpuMs: (user + system) / 1000, stats: scan.stats }
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
    await pinned.release()
  }
}

/** One partition of a million rows beside the same rows in partitions of a thousand: rounds take turns, and each is read by a process. */
async function whole(): Promise<void> {
  for (const set of ['oa', 'da']) {
    const small = await pin(set, 'wide')
    const pinned = await pin(set, 'onebig')
    const inSmall = await best(2, small, {})
    const inOne = await best(2, pinned, {})
    for (let i = 0; i < 8; i++) {
      for (const [least, of] of [[inSmall, small] as const, [inOne, pinned] as const]) {
        const { ms, cpuMs } = await run(of, {})
        least.ms = Math.min(least.ms, ms)
        least.cpuMs = Math.min(least.cpuMs, cpuMs)
      }
    }
    const ratio = inSmall.ms / inOne.ms
    // Other work on the machine disturbs processor time less.
    const cpuRatio = inSmall.cpuMs / inOne.cpuMs
    const more = (await peakOf(set, 'onebig')) - (await peakOf(set, 'wide'))
    tell(
      `whole partition of 1,000,000 rows ${set}`,
      {
        rows: inOne.rows,
        small_partitions_ms: round(inSmall.ms),
        one_partition_ms: round(inOne.ms),
        throughput: round(ratio, 2),
        throughput_by_processor_time: round(cpuRatio, 2),
        index_bytes: inOne.stats.indexBytesRead,
        peak_more_mb: round(more / 1e6),
      },
      {
        'no index read': inOne.stats.indexBytesRead === 0 && inOne.stats.indexBlocksDecoded === 0,
        'memory within 32 MB': more < 32 << 20,
        'throughput within 10 %': Math.max(ratio, cpuRatio) >= 0.9,
      },
    )
    await small.release()
    await pinned.release()
  }
}

/** Peak resident memory, bytes, of a process that reads the table twice. */
async function peakOf(set: string, table: string): Promise<number> {
  const file = fileURLToPath(import.meta.url)
  const { stdout } = await promisify(execFile)(process.execPath, [...process.execArgv, file, 'peak', set, table])
  return Number(stdout)
}

async function printPeak(set: string, table: string): Promise<void> {
  const pinned = await pin(set, table)
  await run(pinned, {})
  await run(pinned, {})
  await pinned.release()
  console.log(process.resourceUsage().maxRSS * 1024)
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

/** The same over HTTP, on one connection: of the table as it is, and of an export, whose SSTables are open. */
async function http(): Promise<void> {
  const server = await startServer([
    '--data',
    join(FILES, 'da-node', 'bulk'),
    '--schema',
    join(FILES, 'da-4', 'schema.narrow.cql'),
  ])
  const pool = new Pool(server.url, { connections: 1 })
  const text = async (path: string, body?: string) => {
    const method = body === undefined ? 'GET' : 'POST'
    const answer = await pool.request({ path, method, body, headers: { 'content-type': 'application/json' } })
    return answer.body.text()
  }
  const timed = async (paths: string[]) => {
    const times: number[] = []
    for (const [i, path] of paths.entries()) {
      const begun = performance.now()
      if ((await text(path)).split('\n').length !== 2) throw new Error(`not one row: ${path}`)
      if (i >= paths.length / 5) times.push(performance.now() - begun)
    }
    return times.sort((a, b) => a - b)
  }
  const where = (i: number) => encodeURIComponent(`pk = ${(i * 6661) % 2_000_000}`)
  const table = Array.from(
    { length: 1000 },
    (_, i) => `/v1/keyspaces/bulk/tables/narrow/rows.ndjson?now=${now}&where=${where(i)}`,
  )
  const { endpoints } = JSON.parse(
    await text('/v1/exports', JSON.stringify({ keyspace: 'bulk', table: 'narrow', where: 'pk = 6661', now })),
  )
  const ticket = Array.from({ length: 1000 }, () => `/v1/tickets/${endpoints[0].ticket}?format=ndjson`)
  const ofTable = await timed(table)
  const ofTicket = await timed(ticket)
  const figures = (times: number[], of: string) => ({
    [`${of}_least_ms`]: round(times[0], 2),
    [`${of}_median_ms`]: round(times[times.length >> 1], 2),
    [`${of}_p95_ms`]: round(times[Math.floor(times.length * 0.95)], 2),
  })
  tell(
    'point reads da over HTTP',
    { ...figures(ofTable, 'table'), ...figures(ofTicket, 'ticket') },
    {
      'a table: under 5 ms': ofTable[ofTable.length >> 1] < 5,
      'a ticket: under 5 ms': ofTicket[ofTicket.length >> 1] < 5,
    },
  )
  await pool.close()
  await server.stop()
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

const all = { distinct, slice, whole, point, http, ring, splits }
const asked = process.argv.slice(2)
if (asked[0] === 'peak') await printPeak(asked[1], asked[2])
else for (const [name, bench] of Object.entries(all)) if (asked.length === 0 || asked.includes(name)) await bench()
process.exitCode = failed ? 1 : 0
