// The peers in Python, each round a process of its own: CQLite, and pyarrow over a Parquet file that the product wrote from the same rows.

import { execFile, execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type DatasetFiles, NOW } from '../dataset.ts'
import { MAIN } from '../server-process.ts'
import { type Contender, ORACLE } from './contender.ts'

const run = promisify(execFile)
const READERS = fileURLToPath(new URL('readers.py', import.meta.url))
const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url))

interface Answer {
  version: string
  rows: number
  seconds: number
}

/** The environment that readers.py needs, made if it is not there yet. */
function pythonPath(): string {
  return execFileSync(join(ORACLE, 'venv.sh'), ['peers', REQUIREMENTS], { encoding: 'utf8' }).trim()
}

async function read(args: readonly string[]): Promise<Answer> {
  const { stdout } = await run(pythonPath(), [READERS, ...args])
  return JSON.parse(stdout)
}

export function cqlite(files: DatasetFiles, out: string): Contender[] {
  const ways = [
    { rowGroup: 10_000, compression: 'snappy' },
    { rowGroup: 65_536, compression: 'none' },
  ]
  return ways.map(({ rowGroup, compression }): Contender => {
    const how = `export_parquet, row groups of ${rowGroup}, compression ${compression}`
    const result = { peer: 'cqlite', version: '', how, rows: 0, seconds: [] }
    const table = `${files.keyspace}.${files.table}`
    return {
      result,
      async work() {
        const answer = await read(['cqlite', files.data, files.schema, table, out, String(rowGroup), compression])
        rmSync(out)
        result.version = answer.version
        return answer
      },
    }
  })
}

export function pyarrow(files: DatasetFiles, parquet: string): Contender {
  const how = 'read_table of the Parquet file that sluice exports, one thread'
  const result = { peer: 'pyarrow', version: '', how, rows: 0, seconds: [] }
  return {
    result,
    async prepare() {
      const source = ['--data', files.data, '--schema', files.schema, '--now', String(NOW)]
      const table = `${files.keyspace}.${files.table}`
      await run(process.execPath, [MAIN, 'export', table, ...source, '--format', 'parquet', '-o', parquet])
    },
    async work() {
      const answer = await read(['pyarrow', parquet])
      result.version = answer.version
      return answer
    },
  }
}
