// The product and its peers in turn over the rows of narrow, all from files in the page cache; row counts must be the same.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureDataset, fillPageCache } from '../dataset.ts'
import { cassandraScans, sstabledump } from './cassandra.ts'
import type { Contender } from './contender.ts'
import type { PeerResult } from './peer-result.ts'
import { cqlite, pyarrow } from './python.ts'
import { sluice } from './sluice.ts'

export const PEERS = ['cassandra', 'sstabledump', 'cqlite', 'pyarrow']

export interface Comparison {
  peers: readonly string[]
  format: string
  rounds: number
  rows: number
  /** What is measured, as the product's version. */
  commit: string
}

export async function comparePeers({ peers, format, rounds, rows, commit }: Comparison): Promise<PeerResult[]> {
  const files = ensureDataset('narrow', format, rows)
  fillPageCache(files.directory)
  const directory = mkdtempSync(join(tmpdir(), 'sluice-peers-'))
  const contenders: Contender[] = sluice(files, commit)
  if (peers.includes('cassandra')) contenders.push(...cassandraScans(files, format, join(directory, 'node')))
  if (peers.includes('sstabledump')) contenders.push(sstabledump(files, join(directory, 'dump')))
  if (peers.includes('cqlite')) contenders.push(...cqlite(files, join(directory, 'cqlite.parquet')))
  if (peers.includes('pyarrow')) contenders.push(pyarrow(files, join(directory, 'narrow.parquet')))
  try {
    for (const contender of contenders) await contender.prepare?.()
    for (let round = -1; round < rounds; round++) {
      for (const { result, work } of contenders) {
        const { seconds, rows: counted } = await work()
        result.rows = counted ?? result.rows
        if (round >= 0) result.seconds.push(seconds) // the first round warms up
      }
    }
  } finally {
    for (const contender of contenders) await contender.finish?.()
    rmSync(directory, { recursive: true, force: true })
  }
  const results = contenders.map(({ result }) => result)
  if (new Set(results.map((r) => r.rows)).size !== 1) {
    throw new Error(`row counts differ: ${results.map((r) => `${r.peer} ${r.rows}`).join(', ')}`)
  }
  return results
}
