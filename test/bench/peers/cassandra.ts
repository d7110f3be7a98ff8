// A real node over copies of the same SSTables: its full scan by CQL through the Node driver, by several numbers of ranges at once; and
// sstabledump over the files themselves.

import { execFile, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type DatasetFiles, VERSIONS } from '../dataset.ts'
import { type Contender, ORACLE, timed } from './contender.ts'
import { CqlScan } from './cql-scan.ts'

const run = promisify(execFile)
const CASSANDRA = join(ORACLE, 'cassandra.sh')
const PORT = 9242
/** Token ranges read at once. */
const CONCURRENCIES = [4, 8, 16]

/** @param directory of the node, made anew */
export function cassandraScans(files: DatasetFiles, format: string, directory: string): Contender[] {
  const version = VERSIONS.da
  let scan: CqlScan | undefined
  const contenders = CONCURRENCIES.map(
    (concurrency): Contender => ({
      result: {
        peer: 'cassandra',
        version,
        how: `full scan by cassandra-driver, pages of 5,000 rows, ${concurrency} of 64 token ranges at once`,
        rows: 0,
        seconds: [],
      },
      async work() {
        let rows = 0
        const seconds = await timed(async () => {
          rows = await scan!.countRows(`${files.keyspace}.${files.table}`, 'pk', concurrency)
        })
        return { seconds, rows }
      },
    }),
  )
  contenders[0].prepare = async () => {
    const env = { ...process.env, CASSANDRA_HEAP: '4g', CASSANDRA_INDEX_KIB: '64' }
    // Standard output goes nowhere: the node would keep a pipe open.
    await exited(
      spawn(CASSANDRA, ['start', version, format, directory, String(PORT)], {
        env,
        stdio: ['ignore', 'ignore', 'inherit'],
      }),
    )
    scan = new CqlScan(PORT)
    await scan.connect()
    for (const statement of readFileSync(files.schema, 'utf8').split(';')) {
      if (statement.trim() !== '') await scan.execute(statement)
    }
    const source = join(directory, 'import')
    mkdirSync(source)
    await run('cp', ['-r', files.directory, source])
    const [copied] = readdirSync(source)
    await run(CASSANDRA, ['nodetool', directory, 'import', files.keyspace, files.table, join(source, copied)])
  }
  contenders[0].finish = async () => {
    await scan?.close()
    await run(CASSANDRA, ['stop', directory])
  }
  return contenders
}

/** @param directory for its settings */
export function sstabledump(files: DatasetFiles, directory: string): Contender {
  const version = VERSIONS.da
  const data = readdirSync(files.directory).filter((name) => name.endsWith('-Data.db'))
  if (data.length !== 1) throw new Error(`sstabledump merges nothing: one SSTable, not ${data.length}`)
  const settings = join(directory, 'cassandra.yaml')
  const logging = join(directory, 'logback.xml')
  const args = [
    'java',
    version,
    // What bin/sstabledump gives it, and twice the heap.
    '-Xmx512m',
    `-Dcassandra.config=file://${settings}`,
    `-Dcassandra.storagedir=${directory}`,
    `-Dlogback.configurationFile=${logging}`,
    'org.apache.cassandra.tools.SSTableExport',
    join(files.directory, data[0]),
  ]
  return {
    result: { peer: 'sstabledump', version, how: 'JSON to /dev/null', rows: 0, seconds: [] },
    async prepare() {
      mkdirSync(directory)
      writeFileSync(settings, SETTINGS)
      writeFileSync(logging, '<configuration><root level="ERROR"/></configuration>\n')
      this.result.rows = await countLines(
        spawn(CASSANDRA, args, { stdio: ['ignore', 'pipe', 'inherit'] }),
        '"type" : "row"',
      )
    },
    async work() {
      return { seconds: await timed(() => exited(spawn(CASSANDRA, args, { stdio: 'ignore' }))) }
    },
  }
}

const SETTINGS = `partitioner: org.apache.cassandra.dht.Murmur3Partitioner
commitlog_sync: periodic
commitlog_sync_period: 10s
endpoint_snitch: SimpleSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{seeds: "127.0.0.1"}]
`

async function exited(child: ReturnType<typeof spawn>): Promise<void> {
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
  if (code !== 0) throw new Error(`${child.spawnfile} ended with ${code}`)
}

async function countLines(child: ReturnType<typeof spawn>, holding: string): Promise<number> {
  let count = 0
  let rest = ''
  child.stdout!.setEncoding('latin1')
  const done = exited(child)
  for await (const text of child.stdout!) {
    const whole = rest + text
    let at = -1
    while ((at = whole.indexOf(holding, at + 1)) >= 0) count++
    rest = whole.slice(-holding.length + 1)
  }
  await done
  return count
}
