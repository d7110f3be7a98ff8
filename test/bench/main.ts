// Throughput of the stages file -> batches -> Arrow bytes -> HTTP -> curl, beside the reference roofline, as ratios measured in one run with the
// stages interleaved. Prints a Markdown table; --json FILE appends one JSON line per dataset.
//
//   npm run bench [-- NAME...] [--format da|oa|nb] [--rounds 5] [--json FILE]

import { appendFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createExporter } from '../../exporters/formats.ts'
import { Catalog } from '../../storage/scan/catalog.ts'
import type { PinnedTable } from '../../storage/scan/pinned-table.ts'
import { openScan } from '../../storage/scan/scan.ts'
import { DATASETS, ensureDataset } from './dataset.ts'
import { roofline } from './roofline.ts'
import { startServer, timeCurl } from './server-process.ts'

const NOW = 1_800_000_000

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    format: { type: 'string', default: 'da' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
  },
})
const rounds = Number(flags.rounds)

interface Measured {
  seconds: number[]
  bytes: number
  rows: number
}

async function scanned(pinned: PinnedTable, arrow: boolean): Promise<{ rows: number; bytes: number }> {
  const scan = await openScan(pinned, { now: NOW })
  const exporter = createExporter('arrows', {})
  let rows = 0
  let bytes = 0
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
    rows += batch.rows
    if (arrow) for await (const part of exporter.batch(batch)) bytes += part.length
    batch.release()
  }
  await scan.close()
  return { rows, bytes }
}

async function bench(name: string): Promise<void> {
  const { data, schema, keyspace, table } = ensureDataset(name, flags.format)
  const catalog = await Catalog.open({ data: [data], schemaFile: schema })
  const pinned = await catalog.pin(keyspace, table)
  const path = `/v1/keyspaces/${keyspace}/tables/${table}/rows?now=${NOW}`
  const servers = await Promise.all(
    [0, 1, 2].map((workers) => startServer(['--data', data, '--schema', schema, '--workers', String(workers)])),
  )
  const stages: Record<string, () => Promise<{ seconds?: number; rows?: number; bytes?: number }>> = {
    roofline: async () => ({ bytes: await roofline(pinned.sstables) }),
    batches: () => scanned(pinned, false),
    arrow: () => scanned(pinned, true),
    'curl, workers 0': () => timeCurl(servers[0].url + path),
    'curl, workers 1': () => timeCurl(servers[1].url + path),
    'curl, workers 2': () => timeCurl(servers[2].url + path),
  }
  const measured = new Map<string, Measured>(Object.keys(stages).map((s) => [s, { seconds: [], bytes: 0, rows: 0 }]))
  for (let round = -1; round < rounds; round++) {
    for (const [stage, work] of Object.entries(stages)) {
      const begun = performance.now()
      const result = await work()
      const seconds = result.seconds ?? (performance.now() - begun) / 1000
      const entry = measured.get(stage)!
      if (round >= 0) entry.seconds.push(seconds) // the first round warms up
      entry.bytes = result.bytes ?? entry.bytes
      entry.rows = result.rows ?? entry.rows
    }
  }
  report(
    name,
    measured,
    servers.map((s) => s.peakBytes()),
  )
  await Promise.all(servers.map((s) => s.stop()))
  await pinned.release()
}

function report(name: string, measured: Map<string, Measured>, peaks: number[]): void {
  const raw = measured.get('roofline')!
  const rows = measured.get('batches')!.rows
  const best = (m: Measured) => Math.min(...m.seconds)
  const median = (m: Measured) => m.seconds.toSorted((a, b) => a - b)[m.seconds.length >> 1]
  console.log(
    `\n${name} (${flags.format}): ${rows} rows, ${(raw.bytes / 1e6).toFixed(0)} MB uncompressed, ${rounds} rounds\n`,
  )
  console.log('| stage | M rows/s | MB/s of raw data | against the roofline (min) | (median) |')
  console.log('|---|---|---|---|---|')
  const line: Record<string, unknown> = { name, format: flags.format, rows, rawBytes: raw.bytes, node: process.version }
  for (const [stage, m] of measured) {
    const ratio = best(raw) / best(m)
    const cells = [
      stage,
      (rows / best(m) / 1e6).toFixed(2),
      (raw.bytes / best(m) / 1e6).toFixed(0),
      ratio.toFixed(2),
      (median(raw) / median(m)).toFixed(2),
    ]
    console.log(`| ${cells.join(' | ')} |`)
    line[stage] = { seconds: best(m), median: median(m), ratio }
  }
  const megabytes = peaks.map((p) => (p / 1e6).toFixed(0))
  console.log(`\npeak resident memory of the server: ${megabytes.join(', ')} MB with 0, 1, 2 workers`)
  line.peakBytes = peaks
  if (flags.json !== undefined) appendFileSync(flags.json, `${JSON.stringify(line)}\n`)
}

for (const name of positionals.length > 0 ? positionals : ['narrow']) {
  if (DATASETS[name] === undefined) throw new Error(`no dataset ${name}: ${Object.keys(DATASETS).join(', ')}`)
  await bench(name)
}
