/**
 * The oracle tests: random histories played against real Cassandra nodes (histories.py), exported by Sluice, and compared
 * with what the node itself answers; read in parts too (partial-reads.ts). Run by `npm run test:oracle`; needs a JDK 17, Maven, Python 3 and a built `dist`.
 *
 *   run.ts [--formats da,oa,nb,me] [--histories 10] [--ops 500] [--rounds 5] [--seed N] [--port 9142] [--shrink]
 *   run.ts compare OUT       only compares a folder that histories.py has filled; what its `shrink` asks for
 *
 * The same seed gives the same histories. With --shrink, the first history that differs of each format is cut down.
 */
import { execFile, spawn } from 'node:child_process'
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { Catalog } from '../../storage/scan/catalog.ts'
import { ndjsonDifference, rowShape, type UserTypes } from '../corpus/json.ts'
import { type Answers, type Coverage, newCoverage, partialDifference } from './partial-reads.ts'

const HERE = dirname(fileURLToPath(import.meta.url))
/** The built command; SLUICE_CLI names another one. */
const CLI = process.env.SLUICE_CLI ?? join(HERE, '..', '..', 'dist', 'src', 'cli', 'main.js')
const VERSIONS = { da: '5.0.8', oa: '5.0.8', nb: '4.1.9', me: '3.11.19' } as const
type Format = keyof typeof VERSIONS

/** What histories.py says of a run. */
interface Meta {
  readonly keyspace: string
  readonly now: number
  readonly seed: number
  readonly tables: Readonly<
    Record<string, { readonly rows: number | null; readonly columns: Readonly<Record<string, string>> }>
  >
  readonly types: UserTypes
  readonly failed: Readonly<Record<string, string>>
}

interface Outcome {
  equal: number
  /** table and what is different */
  readonly different: { readonly table: string; readonly why: string }[]
  /** tables that the node itself failed to read */
  readonly unanswered: string[]
  readonly coverage: Coverage
}

const run = promisify(execFile)

/** Standard output of `sluice export`, or why there is none. */
async function exported(table: string, data: string, columns: readonly string[], now: number): Promise<string[]> {
  const args = [CLI, 'export', table, '--data', data, '--format', 'ndjson', '--now', String(now), '--quiet', ...columns]
  const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 30 })
  return stdout.split('\n').slice(0, -1)
}

/** The line of stderr that says what is wrong. */
function reason(error: unknown): string {
  const failed = error as Error & { stderr?: string }
  const told = (failed.stderr || failed.message).trim().split('\n')
  return told.find((line) => /error|sluice:/i.test(line)) ?? told[0] ?? ''
}

async function lines(path: string): Promise<string[]> {
  return (await readFile(path, 'utf8')).split('\n').slice(0, -1)
}

/** Rows as JSON, the tokens of the same rows, and what parts of them are read by. */
async function compareTable(out: string, meta: Meta, name: string, coverage: Coverage): Promise<string | undefined> {
  const table = `${meta.keyspace}.${name}`
  const data = join(out, 'data')
  try {
    const ours = await exported(table, data, [], meta.now)
    const theirs = await lines(join(out, 'expected', `${table}.ndjson`))
    const found = ndjsonDifference(theirs, ours, rowShape(meta.tables[name]!.columns, meta.types))
    if (found !== undefined) return found
    const tokens = await exported(table, data, ['--columns', 'token'], meta.now)
    const asJson = (await lines(join(out, 'expected', `${table}.tokens.csv`))).map((token) => `{"token": ${token}}`)
    const tokenFound = ndjsonDifference(asJson, tokens)
    return tokenFound === undefined ? await compareParts(out, meta, name, coverage) : `tokens: ${tokenFound}`
  } catch (error) {
    return reason(error)
  }
}

async function compareParts(out: string, meta: Meta, name: string, coverage: Coverage): Promise<string | undefined> {
  const file = join(out, 'expected', `${meta.keyspace}.${name}.queries.json`)
  const answers = JSON.parse(await readFile(file, 'utf8')) as Answers
  const catalog = await Catalog.open({ data: [join(out, 'data')] })
  const pinned = await catalog.pin(meta.keyspace, name)
  try {
    return await partialDifference(pinned, meta.now, answers, `${meta.seed} ${name}`, coverage)
  } finally {
    await pinned.release()
    await catalog.close()
  }
}

/** Every table of a folder; a DIFFERS line for each that is not equal. */
async function compare(out: string): Promise<Outcome> {
  const meta = JSON.parse(await readFile(join(out, 'meta.json'), 'utf8')) as Meta
  const outcome: Outcome = { equal: 0, different: [], unanswered: [], coverage: newCoverage() }
  for (const name of Object.keys(meta.tables)) {
    if (`${meta.keyspace}.${name}` in meta.failed) {
      outcome.unanswered.push(name)
      continue
    }
    const why = await compareTable(out, meta, name, outcome.coverage)
    if (why === undefined) outcome.equal++
    else {
      outcome.different.push({ table: name, why })
      console.log(`DIFFERS ${meta.keyspace}.${name} ${why}`)
    }
  }
  return outcome
}

async function python(): Promise<string> {
  const { stdout } = await run('bash', [join(HERE, 'venv.sh'), 'oracle', join(HERE, 'requirements.txt')])
  return stdout.trim()
}

/** Runs histories.py with its output shown. */
async function histories(python: string, args: readonly string[]): Promise<void> {
  // Index blocks of 1 KiB, so that partitions of some dozens of rows have several.
  const env = { CASSANDRA_INDEX_KIB: '1', ...process.env }
  const child = spawn(python, [join(HERE, 'histories.py'), ...args], { stdio: 'inherit', env })
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('exit', resolve))
  if (code !== 0) throw new Error(`histories.py ended with ${code}`)
}

interface Options {
  readonly histories: string
  readonly ops: string
  readonly rounds: string
  readonly seed: string
  readonly port: string
  readonly shrink: boolean
}

/** One format: plays, compares, keeps what differs. */
async function oracle(format: Format, options: Options, interpreter: string): Promise<Outcome> {
  const out = join(
    process.env.SLUICE_CACHE ?? join(homedir(), '.cache', 'sluice'),
    'oracle',
    `${format}-${options.seed}`,
  )
  const work = await mkdtemp(join(tmpdir(), 'sluice-oracle-'))
  const where = [
    '--version',
    VERSIONS[format],
    '--format',
    format,
    '--work',
    join(work, 'node'),
    '--port',
    options.port,
  ]
  try {
    const { seed, ops, rounds } = options
    const size = ['--seed', seed, '--histories', options.histories, '--ops', ops, '--rounds', rounds]
    await histories(interpreter, ['run', ...where, '--out', out, ...size])
    const outcome = await compare(out)
    const first = outcome.different[0]
    if (first === undefined) await rm(out, { recursive: true, force: true })
    else {
      const kept = join(out, '..', `${first.table}.${format}.json`)
      await copyFile(join(out, 'histories', `${first.table}.json`), kept)
      console.log(`kept ${out}; the first history that differs: ${kept}`)
      const differs = `npx tsx ${join(HERE, 'run.ts')} compare`
      const small = ['shrink', kept, '--differs', differs, ...where, '--out', `${out}-small`]
      if (options.shrink) await histories(interpreter, small)
    }
    return outcome
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      formats: { type: 'string', default: 'da,oa,nb,me' },
      histories: { type: 'string', default: '10' },
      ops: { type: 'string', default: '500' },
      rounds: { type: 'string', default: '5' },
      seed: { type: 'string', default: String(1 + Math.floor(Math.random() * 999_999)) },
      port: { type: 'string', default: '9142' },
      shrink: { type: 'boolean', default: false },
    },
  })
  if (positionals[0] === 'compare' && positionals[1] !== undefined) {
    const { equal, different } = await compare(positionals[1])
    console.log(`${equal} of ${equal + different.length} histories equal`)
    return different.length === 0 ? 0 : 1
  }
  const formats = values.formats.split(',')
  for (const format of formats) if (!(format in VERSIONS)) throw new Error(`no format ${format}`)
  console.log(
    `oracle: seed ${values.seed}, ${values.histories} histories of ${values.ops} operations for ${formats.join(', ')}`,
  )
  const interpreter = await python()
  let equal = 0
  let different = 0
  let unanswered = 0
  for (const format of formats) {
    const outcome = await oracle(format as Format, values, interpreter)
    const all = outcome.equal + outcome.different.length
    console.log(`${format}: ${outcome.equal} of ${all} histories equal (seed ${values.seed})`)
    console.log(
      `  ${Object.entries(outcome.coverage)
        .map(([what, times]) => `${what} ${times}`)
        .join(', ')}`,
    )
    for (const name of outcome.unanswered) console.log(`  Cassandra itself failed to read ${name}`)
    equal += outcome.equal
    different += outcome.different.length
    unanswered += outcome.unanswered.length
  }
  console.log(`${equal} of ${equal + different} histories equal, seed ${values.seed}`)
  console.log(`${equal} passed, ${different} failed, ${unanswered} skipped`)
  return different === 0 ? 0 : 1
}

process.exitCode = await main()
