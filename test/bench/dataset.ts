// Large SSTables for the benches: written once by Cassandra's own offline writer (test/oracle/cassandra.sh bulk), kept outside the
// repository in ${SLUICE_CACHE:-~/.cache/sluice}/bench. Seeds are fixed, so the same name is the same rows everywhere.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Dataset {
  name: string
  /** Profile of Bulk.java. */
  profile: string
  rows: number
  options: string[]
}

export const DATASETS: Record<string, Dataset> = {
  narrow: { name: 'narrow', profile: 'narrow', rows: 2_000_000, options: [] },
  events: { name: 'events', profile: 'events', rows: 300_000, options: [] },
  wide: { name: 'wide', profile: 'wide', rows: 2_000_000, options: [] },
  onebig: { name: 'onebig', profile: 'onebig', rows: 1_000_000, options: [] },
  smallcells: { name: 'smallcells', profile: 'smallcells', rows: 500_000, options: [] },
  bigblob: { name: 'bigblob', profile: 'bigblob', rows: 300, options: [] },
  ttl_deletes: { name: 'ttl_deletes', profile: 'ttl_deletes', rows: 1_000_000, options: [] },
  overlap4: { name: 'overlap4', profile: 'narrow', rows: 1_000_000, options: ['--copies', '4'] },
}

const ORACLE = fileURLToPath(new URL('../oracle/cassandra.sh', import.meta.url))
const VERSIONS: Record<string, string> = { da: '5.0.8', oa: '5.0.8', nb: '4.1.9' }

/** The table directory's parent and schema file of a dataset, written if it is not there yet (a minute or two per 100 MB). */
export function ensureDataset(
  name: string,
  format: string,
): { data: string; schema: string; keyspace: string; table: string } {
  const dataset = DATASETS[name]
  if (dataset === undefined) throw new Error(`no dataset ${name}: ${Object.keys(DATASETS).join(', ')}`)
  const cache = join(process.env.SLUICE_CACHE ?? join(homedir(), '.cache', 'sluice'), 'bench')
  const data = join(cache, `${format}-${name}-${dataset.rows}`)
  if (!existsSync(data)) {
    const filling = `${data}.filling`
    rmSync(filling, { recursive: true, force: true })
    mkdirSync(filling, { recursive: true })
    const args = ['bulk', VERSIONS[format], format, filling, dataset.profile, String(dataset.rows), ...dataset.options]
    console.error(`writing ${name} in ${format}`)
    execFileSync(ORACLE, args, {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, CASSANDRA_HEAP: '4g' },
    })
    renameSync(filling, data)
  }
  return { data, schema: join(data, `schema.${dataset.profile}.cql`), keyspace: 'bulk', table: dataset.profile }
}
