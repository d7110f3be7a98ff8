/**
 * Exports of a real Cassandra node that takes writes, flushes and compacts all the while. Run by `npm run test:live`; needs a JDK 17,
 * Maven, Python 3 and a built `dist`.
 *
 *   live.ts [--formats da,oa,nb] [--exports 50] [--port 9542] [--disks 2] [--pause SECONDS] [--keep]
 *
 * Half of the exports are pinned by descriptors (one server), half by hard links (another one, with --state, which is killed and
 * started again now and then). Of each: every write acknowledged before the last flush that was complete before it was asked for
 * shows, and none issued after it was there (live-history.ts); rows are not mixed from two writes; and when compaction has deleted
 * all that it pinned, its tickets give the same bytes once more.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import type { RecordBatch } from 'apache-arrow'
import { createExport, findExport, type RemoteExport } from '../../src/client/index.ts'
import { type ServerProcess, startServer } from '../bench/server-process.ts'
import { type Flush, judge, type Observed, readHistories } from './live-history.ts'

const HERE = dirname(fileURLToPath(import.meta.url))
const SCRIPT = join(HERE, 'cassandra.sh')
const VERSIONS = { da: '5.0.8', oa: '5.0.8', nb: '4.1.9' } as const
type Format = keyof typeof VERSIONS

/** Compaction as often as can be. */
const COMPACTIONS: Record<string, string> = {
  sized: "{'class': 'SizeTieredCompactionStrategy', 'min_threshold': 2}",
  leveled: "{'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': 1}",
  unified:
    "{'class': 'UnifiedCompactionStrategy', 'scaling_parameters': 'L4', 'min_sstable_size': '0B', 'target_sstable_size': '1MiB'}",
}
const FLUSH_PAUSE_MS = 400
const KEPT_EXPORTS = 4
const GONE_MS = 120_000

const { values: flags } = parseArgs({
  options: {
    formats: { type: 'string', default: 'da,nb' },
    exports: { type: 'string', default: '50' },
    port: { type: 'string', default: '9542' },
    disks: { type: 'string', default: '2' },
    pause: { type: 'string', default: '1.5' },
    keep: { type: 'boolean', default: false },
  },
})
const run = promisify(execFile)

/** The node with all that works on it. */
interface Live {
  tables: string[]
  flushes: Flush[]
  compactions: number
  /** A major compaction, if none is under way. */
  compact(table: string): void
  /** Ends writes and flushes, in this order. What the writer said last. */
  stop(): Promise<string>
}

/** An export that was read once, what its tickets gave, and paths of the Data.db that it pins. */
interface Kept {
  id: string
  name: string
  server: number
  table: string
  digests: string[]
  files: string[]
}

/** Two servers over the same data: exports held by descriptors, and by links. */
interface Servers {
  /** Flags of each. */
  flags: string[][]
  running: ServerProcess[]
}

async function live(format: Format, work: string): Promise<{ passed: number; failed: number }> {
  const version = VERSIONS[format]
  const node = join(work, 'node')
  const { stdout } = await run('bash', [join(HERE, 'venv.sh'), 'oracle', join(HERE, 'requirements.txt')])
  process.env.CASSANDRA_PYTHON = stdout.trim()
  process.env.CASSANDRA_DISKS = flags.disks
  const tables = version.startsWith('5') ? ['sized', 'leveled', 'unified'] : ['sized', 'leveled']
  await run(SCRIPT, ['start', version, format, node, flags.port])
  try {
    await run(SCRIPT, ['cql', node, ...schema(tables)])
    const ops = join(work, 'ops.bin')
    const churning = await startChurn(version, tables, ops)
    const directories = Array.from({ length: Number(flags.disks) }, (_, i) =>
      join(node, i === 0 ? 'data' : `data${i + 1}`),
    )
    const state = join(work, 'state')
    const common = directories.flatMap((directory) => ['--data', directory])
    const servers: Servers = {
      flags: [
        [...common, '--workers', '1'],
        [...common, '--workers', '0', '--state', state],
      ],
      running: [],
    }
    try {
      for (const given of servers.flags) servers.running.push(await startServer(given))
      const observed = await exports(churning, servers, Number(flags.exports))
      console.log(
        `${format}: ${await churning.stop()}, ${churning.flushes.length} flushes, ${churning.compactions} compactions`,
      )
      return verdict(format, observed, await readHistories(ops, tables.length), churning.flushes)
    } finally {
      await churning.stop()
      for (const server of servers.running) await server.stop()
    }
  } finally {
    await run(SCRIPT, ['stop', node])
  }
}

function schema(tables: readonly string[]): string[] {
  const columns = 'pk int, c int, v int, name text, tags map<int, int>, PRIMARY KEY (pk, c)'
  return [
    "CREATE KEYSPACE live WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    ...tables.map((table) => `CREATE TABLE live.${table} (${columns}) WITH compaction = ${COMPACTIONS[table]}`),
  ]
}

async function startChurn(version: string, tables: string[], ops: string): Promise<Live> {
  const writer = spawn(process.env.CASSANDRA_PYTHON!, [join(HERE, 'live.py'), flags.port, ops, '0.0004', ...tables], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said: string[] = []
  lines(writer, (line) => said.push(line))
  await until(() => said.length > 0, 'the writer began')
  const jmx = String(Number(flags.port) + 2000)
  const churn = spawn(SCRIPT, ['java', version, join(HERE, 'LiveChurn.java'), jmx, 'live', String(FLUSH_PAUSE_MS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let stopping: Promise<string> | undefined
  let isCompacting = false
  const state: Live = {
    tables,
    flushes: [],
    compactions: 0,
    compact(table) {
      if (isCompacting) return
      isCompacting = true
      churn.stdin!.write(`compact ${table}\n`)
    },
    stop() {
      stopping ??= (async () => {
        writer.kill('SIGTERM')
        await ended(writer)
        churn.stdin!.end()
        await ended(churn)
        return said.at(-1)!
      })()
      return stopping
    },
  }
  lines(churn, (line) => {
    const [what, ...rest] = line.split(' ')
    if (what === 'flush') state.flushes.push({ start: BigInt(rest[0]), end: BigInt(rest[1]) })
    if (what === 'compact') isCompacting = false
    if (what === 'compactions') state.compactions = Number(rest[0])
  })
  await until(() => state.flushes.length > 2, 'flushes')
  return state
}

/** Makes the exports one after the other, reads each twice. */
async function exports(churning: Live, servers: Servers, count: number): Promise<Observed[]> {
  const observed: Observed[] = []
  const kept: Kept[] = []
  for (let i = 0; i < count; i++) {
    const server = i % 2
    const table = Math.floor(i / 2) % churning.tables.length
    const name = `export ${i} (${churning.tables[table]}, ${server === 0 ? 'descriptors' : 'links'})`
    const asked = process.hrtime.bigint()
    const made = await createExport(
      { url: servers.running[server].url },
      { keyspace: 'live', table: churning.tables[table], splits: 4 },
    )
    const pinned = process.hrtime.bigint()
    const files = await openFiles(servers.running[server].pid, churning.tables[table])
    const versions = new Versions(table)
    const digests = await read(made, (batch) => versions.take(batch))
    observed.push({ name, table, asked, pinned, versions: versions.all() })
    kept.push({ id: made.id, name, server, table: churning.tables[table], digests, files })
    while (kept.length > (i === count - 1 ? 0 : KEPT_EXPORTS)) await readAgain(kept.shift()!, churning, servers)
    if (i % 16 === 15) await restart(servers)
    await sleep(Number(flags.pause) * 1000)
  }
  return observed
}

/** Everything of an export; a digest of the bytes of each ticket. */
async function read(made: RemoteExport, take: (batch: RecordBatch) => void): Promise<string[]> {
  const hashes = made.description.endpoints.map(() => createHash('sha256'))
  for await (const part of made.parts({ ordered: false, concurrency: 2, digest: true })) {
    if (part.kind !== 'batch') continue
    hashes[part.split].update(part.bytes)
    take(part.batch())
  }
  return hashes.map((hash) => hash.digest('hex'))
}

/** Once compaction has deleted what the export pinned. */
async function readAgain(kept: Kept, churning: Live, servers: Servers): Promise<void> {
  const { id, name, server, table, digests, files } = kept
  const deadline = performance.now() + GONE_MS
  while (files.some((file) => existsSync(file))) {
    if (performance.now() > deadline) throw new Error(`${name}: what it pinned is still there`)
    churning.compact(table)
    await sleep(200)
  }
  const made = await findExport({ url: servers.running[server].url }, id)
  const again = await read(made, () => {})
  if (again.join() !== digests.join()) throw new Error(`${name}: other bytes after compaction`)
  await made.delete()
}

/** Data.db of the table that the process has open and that are not deleted yet. */
async function openFiles(pid: number, table: string): Promise<string[]> {
  const folder = `/proc/${pid}/fd`
  const targets = await Promise.all((await readdir(folder)).map((fd) => readlink(join(folder, fd)).catch(() => '')))
  return targets.filter((target) => target.includes(`/live/${table}-`) && target.endsWith('-Data.db'))
}

/** The server of links loses everything but what is on disk. */
async function restart(servers: Servers): Promise<void> {
  await servers.running[1].kill()
  servers.running[1] = await startServer(servers.flags[1])
}

/** Versions by key, out of batches; rows that are no write's are refused. */
class Versions {
  readonly #table: number
  #versions = new Int32Array(1 << 16)
  #keys = 0

  constructor(table: number) {
    this.#table = table
  }

  take(batch: RecordBatch): void {
    const [pk, c, v, name, tags] = ['pk', 'c', 'v', 'name', 'tags'].map((column) => batch.getChild(column)!)
    for (let i = 0; i < batch.numRows; i++) {
      const key = c.get(i) as number
      const version = v.get(i) as number
      const isOne =
        pk.get(i) === key % 499 &&
        String(name.get(i)).startsWith(`${this.#table}:${key}:${version}:`) &&
        JSON.stringify(tags.get(i)) === JSON.stringify({ [-1]: version, [version]: key })
      if (!isOne) throw new Error(`a row of no write: ${JSON.stringify(batch.get(i))}`)
      if (key >= this.#versions.length) {
        const larger = new Int32Array(2 * key)
        larger.set(this.#versions)
        this.#versions = larger
      }
      if (this.#versions[key] !== 0) throw new Error(`key ${key} came twice`)
      this.#versions[key] = version
      this.#keys = Math.max(this.#keys, key + 1)
    }
  }

  all(): Int32Array {
    return this.#versions.slice(0, this.#keys)
  }
}

function verdict(
  format: Format,
  observed: readonly Observed[],
  histories: Awaited<ReturnType<typeof readHistories>>,
  flushes: readonly Flush[],
): { passed: number; failed: number } {
  const judged = observed.map((one) => judge(one, histories, flushes))
  for (const { name, faults } of judged) for (const fault of faults) console.log(`${format}: ${name}: ${fault}`)
  const failed = judged.filter(({ faults }) => faults.length > 0).length
  const sum = (key: 'rows' | 'certain' | 'open') => judged.reduce((total, one) => total + one[key], 0)
  const longest = Math.max(...judged.map(({ flushedBefore }) => flushedBefore))
  console.log(
    `${format}: ${judged.length - failed} of ${judged.length} exports right: ${sum('rows')} rows; ${sum('certain')} keys certain, ` +
      `${sum('open')} written between flush and pin; the flush began at most ${longest.toFixed(0)} ms before`,
  )
  return { passed: judged.length - failed, failed }
}

function lines(child: ChildProcess, take: (line: string) => void): void {
  createInterface({ input: child.stdout! }).on('line', take)
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => child.once('exit', () => resolve()))
}

async function until(holds: () => boolean, what: string): Promise<void> {
  for (const deadline = performance.now() + 60_000; !holds(); await sleep(50)) {
    if (performance.now() > deadline) throw new Error(`not in time: ${what}`)
  }
}

let passed = 0
let failed = 0
for (const format of flags.formats.split(',') as Format[]) {
  const work = await mkdtemp(join(tmpdir(), 'sluice-live-'))
  try {
    const outcome = await live(format, work)
    passed += outcome.passed
    failed += outcome.failed
  } catch (error) {
    console.log(`${format}: ${(error as Error).stack}`)
    failed++
  } finally {
    if (!flags.keep) await rm(work, { recursive: true, force: true })
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
