// Measures one dataset, in a process of its own so that the compiler sees the shapes of one table alone: the stages file -> rows visited ->
// batches -> Arrow bytes -> curl, interleaved with the reference roofline. Started by main.ts:
//
//   measure.ts NAME FORMAT ROUNDS ROWS     -> one JSON line (Measurement) on stdout
//
// "Visited" is the scan that counts rows: decoded, merged, reconciled, no column filled. It steps over values, and where a row is large
// over whole chunks, which are then neither read nor inflated: that is what a projection gains, not a part of the other stages.

import { readdirSync, readFileSync } from 'node:fs'
import { createExporter } from '../../exporters/formats.ts'
import { STREAM_BATCH_BYTES } from '../../src/server/allowance.ts'
import { Catalog } from '../../storage/scan/catalog.ts'
import type { PinnedTable } from '../../storage/scan/pinned-table.ts'
import { openScan } from '../../storage/scan/scan.ts'
import type { ScanRequest } from '../../storage/scan/scan-request.ts'
import { type DatasetFiles, ensureDataset, fillPageCache, NOW } from './dataset.ts'
import type { Measurement, Stage } from './measurement.ts'
import { roofline } from './roofline.ts'
import { type ServerProcess, startServer, timeCurl } from './server-process.ts'
import { createTickets, timeTickets } from './tickets.ts'

/** Streams at once in the measurement of concurrency. */
const CONCURRENCIES = [1, 2, 4, 8]
const EMPTY_RANGE_CALLS = 30

interface Outcome {
  seconds?: number
  rows?: number
  bytes?: number
}

async function scanned(pinned: PinnedTable, request: Partial<ScanRequest>, arrow: boolean): Promise<Outcome> {
  const scan = await openScan(pinned, { now: NOW, batchBytes: STREAM_BATCH_BYTES, ...request })
  const exporter = createExporter('arrows', {})
  let rows = 0
  let bytes = 0
  const count = async (parts: ReturnType<typeof exporter.tail>) => {
    for await (const part of parts) bytes += part.length
  }
  if (arrow) await count(exporter.head(scan.schema))
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
    rows += batch.rows
    if (arrow) await count(exporter.batch(batch))
    batch.release()
  }
  if (arrow) await count(exporter.tail())
  await scan.close()
  return { rows, bytes }
}

interface Work {
  run: () => Promise<Outcome>
  /** The process that works: its processor time is counted. */
  pid: number
}

/** Rounds before those that count: compilers come to rest, pools are filled. */
const WARM_ROUNDS = 2

/** Every stage once a round, in turn. */
async function interleaved(works: Record<string, Work>, rounds: number): Promise<Stage[]> {
  const measured = Object.keys(works).map((name): Stage => ({ name, seconds: [], cpuSeconds: [], rows: 0, bytes: 0 }))
  for (let round = -WARM_ROUNDS; round < rounds; round++) {
    for (const stage of measured) {
      const { run, pid } = works[stage.name]
      const cpu = cpuSecondsOf(pid)
      const begun = performance.now()
      const { seconds, rows, bytes } = await run()
      const elapsed = seconds ?? (performance.now() - begun) / 1000
      if (round >= 0) {
        stage.seconds.push(elapsed)
        stage.cpuSeconds.push(cpuSecondsOf(pid) - cpu)
      }
      stage.rows = rows ?? stage.rows
      stage.bytes = bytes ?? stage.bytes
    }
  }
  return measured
}

/** Processor time that all threads of a process have taken so far (Linux), else NaN. */
function cpuSecondsOf(pid: number): number {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`)
    const nanoseconds = tasks.map((task) =>
      Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
    )
    return nanoseconds.reduce((a, b) => a + b, 0) / 1e9
  } catch {
    return Number.NaN
  }
}

function requireEqual(what: string, values: readonly number[]): void {
  if (new Set(values).size !== 1) throw new Error(`${what} differ: ${values.join(', ')}`)
}

/** Milliseconds of one curl each for a range that holds no partition. */
async function emptyRange(server: ServerProcess, path: string): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < EMPTY_RANGE_CALLS; i++) {
    const { seconds } = await timeCurl(`${server.url}${path}&start=0&end=1`)
    times.push(seconds * 1000)
  }
  return times
}

async function concurrency(servers: ServerProcess[], files: DatasetFiles, rounds: number): Promise<Stage[]> {
  const works: Record<string, Work> = {}
  for (const workers of [1, 2]) {
    for (const streams of CONCURRENCIES) {
      const { url, pid } = servers[workers]
      const tickets = await createTickets(url, files, streams, NOW)
      works[`${workers}:${streams}`] = { pid, run: () => timeTickets(url, tickets) }
    }
  }
  return interleaved(works, rounds)
}

export async function measure(name: string, format: string, rounds: number, rows?: number): Promise<Measurement> {
  const files = ensureDataset(name, format, rows)
  fillPageCache(files.directory)
  const catalog = await Catalog.open({ data: [files.data], schemaFile: files.schema })
  const pinned = await catalog.pin(files.keyspace, files.table)
  const path = `/v1/keyspaces/${files.keyspace}/tables/${files.table}/rows?now=${NOW}`
  const flags = ['--data', files.data, '--schema', files.schema, '--memory', '96MB']
  const servers = await Promise.all([0, 1, 2].map((w) => startServer([...flags, '--workers', String(w)])))
  try {
    const tickets = await createTickets(servers[2].url, files, 2, NOW)
    const own = (run: Work['run']): Work => ({ pid: process.pid, run })
    const curl = ({ url, pid }: ServerProcess): Work => ({ pid, run: () => timeCurl(url + path) })
    const stages = await interleaved(
      {
        roofline: own(async () => ({ bytes: await roofline(pinned.sstables) })),
        visited: own(() => scanned(pinned, { countOnly: true }, false)),
        batches: own(() => scanned(pinned, {}, false)),
        arrow: own(() => scanned(pinned, {}, true)),
        curl0: curl(servers[0]),
        curl1: curl(servers[1]),
        tickets2: { pid: servers[2].pid, run: () => timeTickets(servers[2].url, tickets) },
      },
      rounds,
    )
    const stage = (key: string) => stages.find((s) => s.name === key)!
    requireEqual('row counts', [stage('visited').rows, stage('batches').rows, stage('arrow').rows])
    requireEqual('bytes', [stage('arrow').bytes, stage('curl0').bytes, stage('curl1').bytes])
    const peaks = servers.map((s) => s.peakBytes())
    return {
      name,
      format,
      rows: stage('batches').rows,
      inputRows: pinned.sstables.reduce((sum, { statistics }) => sum + Number(statistics.totalRows), 0),
      rawBytes: stage('roofline').bytes,
      fileBytes: pinned.sstables.reduce((sum, sstable) => sum + sstable.dataFileLength, 0),
      stages,
      concurrency: name === 'narrow' ? await concurrency(servers, files, Math.min(rounds, 5)) : [],
      emptyRangeMs: await emptyRange(servers[1], path),
      peakBytes: peaks,
      peakBytesConcurrent: servers.map((s) => s.peakBytes()),
    }
  } finally {
    await Promise.all(servers.map((s) => s.stop()))
    await pinned.release()
    await catalog.close()
  }
}

const [name, format, rounds, rows] = process.argv.slice(2)
console.log(JSON.stringify(await measure(name, format, Number(rounds), rows === undefined ? undefined : Number(rows))))
