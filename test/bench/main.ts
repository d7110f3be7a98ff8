// Measures the stages from file to curl beside the reference roofline, as ratios of one run with the stages interleaved, and says how they
// stand against the targets. Prints Markdown. README.md beside it says how to run and read it.
//
//   npm run bench [-- NAME...] [--all] [--format da,oa,nb] [--rounds 7] [--rows N] [--quick] [--peers all|NAME,...]
//                 [--json FILE] [--from FILE]... [--plots DIR] [--record]

import { execFile, execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { DATASETS, ensureDataset, STAGED } from './dataset.ts'
import type { HeapUse } from './heap.ts'
import type { Measurement } from './measurement.ts'
import { comparePeers, PEERS } from './peers/peers.ts'
import { writePlots } from './plots.ts'
import { addLine, appendLine, historyLine, type Line, readResults } from './results.ts'
import {
  concurrencyTable,
  datasetsTable,
  datasetTable,
  heapTable,
  overviewTable,
  peersTable,
  targetsTable,
} from './tables.ts'
import { targetsOf } from './targets.ts'

const run = promisify(execFile)
const HISTORY = fileURLToPath(new URL('history.jsonl', import.meta.url))
const QUICK_ROWS = 2_000_000

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    format: { type: 'string', default: 'da' },
    rounds: { type: 'string' },
    rows: { type: 'string' },
    quick: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    peers: { type: 'string' },
    json: { type: 'string' },
    from: { type: 'string', multiple: true, default: [] },
    plots: { type: 'string' },
    record: { type: 'boolean', default: false },
  },
})

const isMore = flags.peers !== undefined || flags.from.length > 0
const names = flags.all ? STAGED : positionals.length > 0 || isMore ? positionals : ['narrow']
const unknown = names.find((name) => DATASETS[name] === undefined)
if (unknown !== undefined) throw new Error(`no dataset ${unknown}: ${Object.keys(DATASETS).join(', ')}`)
const formats = flags.format.split(',')
const rounds = flags.rounds ?? (flags.quick ? '3' : '7')

/** Rows asked for; undefined: the dataset's own number. */
function rowsOf(name: string): number | undefined {
  if (flags.rows !== undefined) return Number(flags.rows)
  return flags.quick && DATASETS[name].rows > QUICK_ROWS ? QUICK_ROWS : undefined
}

/** A script of this folder in a process of its own, by its last line. */
async function child<T>(script: string, args: readonly string[]): Promise<T> {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const { stdout } = await run(process.execPath, ['--import', 'tsx', path, ...args], { maxBuffer: 1 << 26 })
  return JSON.parse(stdout.trim().split('\n').at(-1)!)
}

function machine(): { cpu: string; cores: number; memoryGb: number } {
  const all = cpus()
  return { cpu: all[0].model.trim(), cores: all.length, memoryGb: Math.round(totalmem() / 2 ** 30) }
}

const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim()
const results = readResults(flags.from)

function take(line: Line): void {
  addLine(results, line)
  if (flags.json !== undefined) appendLine(flags.json, line)
}

const { cpu, cores, memoryGb } = machine()
console.log(`${commit}, Node ${process.version}, ${cores} cores (${cpu}), ${memoryGb} GB\n`)
for (const format of formats) for (const name of names) ensureDataset(name, format, rowsOf(name))
for (const format of formats) {
  for (const name of names) {
    const rows = rowsOf(name) === undefined ? [] : [String(rowsOf(name))]
    const measurement = await child<Measurement>('measure.ts', [name, format, rounds, ...rows])
    take({ measurement })
    console.log(`${datasetTable(measurement)}\n`)
    if (measurement.concurrency.length > 0) console.log(`${concurrencyTable(measurement)}\n`)
    if (name !== 'narrow') continue
    const heap = await child<HeapUse>('heap.ts', [format, ...rows])
    take({ heap })
    console.log(`${heapTable(heap)}\n`)
  }
}
if (flags.peers !== undefined) {
  const peers = flags.peers === 'all' ? PEERS : flags.peers.split(',')
  take({
    peers: await comparePeers({
      peers,
      format: formats[0],
      rounds: Number(rounds),
      rows: Number(flags.rows ?? QUICK_ROWS),
      commit,
    }),
  })
}
if (results.peers.length > 0)
  console.log(`## Peers: the rows of narrow\n\n${results.peers.map(peersTable).join('\n\n')}\n`)
if (results.measurements.length > 0) {
  console.log(`## Ratios to the roofline: best (median)\n\n${overviewTable(results.measurements)}\n`)
  console.log(`${datasetsTable(results.measurements)}\n`)
}
console.log(`## Against the targets\n\n${targetsTable(targetsOf(results))}`)
if (flags.plots !== undefined) {
  mkdirSync(flags.plots, { recursive: true })
  writePlots(results.measurements, flags.plots)
}
if (flags.record) {
  const date = new Date().toISOString().slice(0, 10)
  const line = { date, commit, node: process.version, machine: machine(), ...historyLine(results) }
  appendFileSync(HISTORY, `${JSON.stringify(line)}\n`)
}
