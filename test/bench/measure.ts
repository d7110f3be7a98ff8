// Measures one dataset, in a process of its own so that the compiler sees the shapes of one table alone: the stages file -> rows visited ->
// batches -> Arrow bytes -> curl, interleaved with the reference roofline. Started by main.ts:
//
//   measure.ts NAME FORMAT ROUNDS ROWS     -> one JSON line (Measurement) on stdout
//
// "Visited" is the scan that counts rows: decoded, merged, reconciled, no column filled. It steps over values, and where a row is large
// over whole chunks, which are then neither read nor inflated: that is what a projection gains, not a part of the other stages.

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

/** Every stage once a round, in turn; the first round warms up. */
async function interleaved(stages: Record<string, () => Promise<Outcome>>, rounds: number): Promise<Stage[]> {
  const measured = Object.keys(stages).map((name): Stage => ({ name, seconds: [], rows: 0, bytes: 0 }))
  for (let round = -1; round < rounds; round++) {
    for (const stage of measured) {
      const begun = performance.now()
      const { seconds, rows, bytes } = await stages[stage.name]()
      const elapsed = seconds ?? (performance.now() - begun) / 1000
      if (round >= 0) stage.seconds.push(elapsed)
      stage.rows = rows ?? stage.rows
      stage.bytes = bytes ?? stage.bytes
    }
  }
  return measured
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
  const stages: Record<string, () => Promise<Outcome>> = {}
  for (const workers of [1, 2]) {
    for (const streams of CONCURRENCIES) {
      const tickets = await createTickets(servers[workers].url, files, streams, NOW)
      stages[`${workers}:${streams}`] = () => timeTickets(servers[workers].url, tickets)
    }
  }
  return interleaved(stages, rounds)
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
    const stages = await interleaved(
      {
        roofline: async () => ({ bytes: await roofline(pinned.sstables) }),
        visited: () => scanned(pinned, { countOnly: true }, false),
        batches: () => scanned(pinned, {}, false),
        arrow: () => scanned(pinned, {}, true),
        curl0: () => timeCurl(servers[0].url + path),
        curl1: () => timeCurl(servers[1].url + path),
        tickets2: () => timeTickets(servers[2].url, tickets),
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
