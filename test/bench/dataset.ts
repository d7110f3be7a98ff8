// Large SSTables for the benches: written once by Cassandra's own offline writer (test/oracle/cassandra.sh bulk), kept outside the
// repository in ${SLUICE_CACHE:-~/.cache/sluice}/bench. Seeds are fixed, so the same name is the same rows everywhere.

import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Dataset {
  /** Profile of Bulk.java. */
  profile: string
  rows: number
  options: string[]
  /** What a row is, for tables and plots. */
  what: string
  /** Heap of the writer, which holds a partition; 4g if not given. */
  heap?: string
}

export const DATASETS: Record<string, Dataset> = {
  narrow: { profile: 'narrow', rows: 4_000_000, options: [], what: 'a row a partition, 9 columns' },
  wide: { profile: 'wide', rows: 2_000_000, options: [], what: '10,000 rows a partition, 7 columns' },
  onebig: { profile: 'onebig', rows: 1_000_000, options: [], what: 'one partition, 7 columns' },
  bigblob: { profile: 'bigblob', rows: 300, options: [], what: 'blobs of 1 MiB' },
  smallcells: { profile: 'smallcells', rows: 500_000, options: [], what: '50 int columns' },
  events: { profile: 'events', rows: 300_000, options: [], what: '20 columns: texts, numbers, a map' },
  ttl_deletes: {
    profile: 'ttl_deletes',
    rows: 1_000_000,
    options: [],
    what: 'TTLs, a fifth deleted in a second SSTable',
  },
  overlap4: { profile: 'narrow', rows: 1_000_000, options: ['--copies', '4'], what: 'narrow, each row in 4 SSTables' },
  pages10k: { profile: 'wide', rows: 1_000_000, options: ['--partition-rows', '87'], what: '10 KB a partition' },
  pages100k: { profile: 'wide', rows: 1_000_000, options: ['--partition-rows', '870'], what: '100 KB a partition' },
  // What a memory allowance must hold.
  partition2gb: {
    profile: 'onebig',
    rows: 2_000_000,
    options: ['--value-bytes', '1000'],
    what: 'one partition of 2 GB',
    heap: '12g',
  },
  values10mb: { profile: 'bigblob', rows: 60, options: ['--value-bytes', '10485760'], what: 'blobs of 10 MiB' },
  columns: { profile: 'columns', rows: 20_000, options: [], what: '1,000 columns' },
}

/**
 * Epoch seconds at which TTLs are judged: 2033. The writer counts TTLs from the day that it ran; of ttl_deletes two weeks are then over and
 * ten years are not.
 */
export const NOW = 2_000_000_000

/** Those that the stages from file to curl are measured over. */
export const STAGED = ['narrow', 'wide', 'onebig', 'bigblob', 'smallcells', 'events', 'ttl_deletes', 'overlap4']

export interface DatasetFiles {
  /** Data directory, for --data. */
  data: string
  /** CQL file, for --schema. */
  schema: string
  keyspace: string
  table: string
  /** Directory of the table's SSTables. */
  directory: string
}

const ORACLE = fileURLToPath(new URL('../oracle/cassandra.sh', import.meta.url))
export const VERSIONS: Record<string, string> = { da: '5.0.8', oa: '5.0.8', nb: '4.1.9' }

/** Where benches keep what they make. */
export function cacheDirectory(): string {
  return join(process.env.SLUICE_CACHE ?? join(homedir(), '.cache', 'sluice'), 'bench')
}

/** The files of a dataset, written if they are not there yet (a minute or two per 100 MB). */
export function ensureDataset(name: string, format: string, rows?: number): DatasetFiles {
  const dataset = DATASETS[name]
  if (dataset === undefined) throw new Error(`no dataset ${name}: ${Object.keys(DATASETS).join(', ')}`)
  if (VERSIONS[format] === undefined) throw new Error(`no format ${format}: ${Object.keys(VERSIONS).join(', ')}`)
  const { profile, options } = dataset
  const count = rows ?? dataset.rows
  const data = join(cacheDirectory(), `${format}-${name}-${count}`)
  if (!existsSync(data)) {
    const filling = `${data}.filling`
    rmSync(filling, { recursive: true, force: true })
    mkdirSync(filling, { recursive: true })
    console.error(`writing ${name} in ${format}`)
    execFileSync(ORACLE, ['bulk', VERSIONS[format], format, filling, profile, String(count), ...options], {
      stdio: ['ignore', 2, 'inherit'],
      env: { ...process.env, CASSANDRA_HEAP: dataset.heap ?? '4g' },
    })
    renameSync(filling, data)
  }
  const directory = readdirSync(join(data, 'bulk')).find((d) => d.startsWith(`${profile}-`))
  if (directory === undefined) throw new Error(`${data} holds no table ${profile}`)
  return {
    data,
    schema: join(data, `schema.${profile}.cql`),
    keyspace: 'bulk',
    table: profile,
    directory: join(data, 'bulk', directory),
  }
}

/** Reads all files of a directory, so that they are in the page cache. */
export function fillPageCache(directory: string): void {
  const block = Buffer.allocUnsafe(1 << 20)
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    const fd = openSync(join(entry.parentPath, entry.name), 'r')
    while (readSync(fd, block) > 0);
    closeSync(fd)
  }
}
