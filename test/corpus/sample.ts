/**
 * The bundled sample (examples/data, written by examples/make-sample.py) and what the node that wrote it answered
 * (test/corpus/sample-expected).
 */
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

const here = dirname(fileURLToPath(import.meta.url))
const unzip = promisify(gunzip)

/** The sample's data directory. */
export const SAMPLE_DATA = join(here, '..', '..', 'examples', 'data')

export interface SampleMeta {
  readonly cassandra: string
  readonly format: string
  /** epoch seconds at which the node was asked: the `now` of the expected rows */
  readonly now: number
  /** by `keyspace.table`; the digest is that of the NDJSON */
  readonly tables: Readonly<Record<string, { readonly rows: number; readonly sha256: string }>>
}

export async function sampleMeta(): Promise<SampleMeta> {
  return JSON.parse(await readFile(join(here, 'sample-expected', 'meta.json'), 'utf8')) as SampleMeta
}

/** Lines of an expected file: rows of `SELECT JSON *`, the same rows' wire bytes in hex, or their tokens. */
export async function sampleLines(table: string, what: 'ndjson' | 'raw.ndjson' | 'tokens.csv'): Promise<string[]> {
  const packed = await readFile(join(here, 'sample-expected', `${table}.${what}.gz`))
  return (await unzip(packed)).toString('utf8').split('\n').slice(0, -1)
}
