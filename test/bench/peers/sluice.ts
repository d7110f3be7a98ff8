// The product among its peers: by both cores (two tickets read by two curls), and by one stream.

import { createExport } from '../../../src/client/index.ts'
import { type DatasetFiles, NOW } from '../dataset.ts'
import { type ServerProcess, startServer, timeCurl } from '../server-process.ts'
import { createTickets, timeTickets } from '../tickets.ts'
import type { Contender } from './contender.ts'

const CORES = 2

export function sluice(files: DatasetFiles, commit: string): Contender[] {
  const flags = ['--data', files.data, '--schema', files.schema]
  const result = (peer: string, how: string) => ({ peer, version: commit, how, rows: 0, seconds: [] })
  let two: ServerProcess
  let one: ServerProcess
  let tickets: string[]
  return [
    {
      result: result('sluice', `${CORES} tickets to ${CORES} curls, ${CORES} workers`),
      async prepare() {
        two = await startServer([...flags, '--workers', String(CORES)])
        tickets = await createTickets(two.url, files, CORES, NOW)
      },
      work: () => timeTickets(two.url, tickets),
      finish: () => two?.stop(),
    },
    {
      result: result('sluice, 1 stream', 'one curl, 1 worker'),
      async prepare() {
        one = await startServer([...flags, '--workers', '1'])
      },
      async work() {
        const { seconds } = await timeCurl(
          `${one.url}/v1/keyspaces/${files.keyspace}/tables/${files.table}/rows?now=${NOW}`,
        )
        return { seconds }
      },
      finish: () => one?.stop(),
    },
  ].map((contender): Contender => {
    const { prepare } = contender
    return {
      ...contender,
      async prepare() {
        await prepare()
        contender.result.rows = await countRows(contender.result.peer === 'sluice' ? two.url : one.url, files)
      },
    }
  })
}

/** Rows of the Arrow batches that the server sends. */
async function countRows(url: string, files: DatasetFiles): Promise<number> {
  const job = await createExport({ url }, { keyspace: files.keyspace, table: files.table, splits: CORES, now: NOW })
  let rows = 0
  for await (const batch of job.batches()) rows += batch.numRows
  await job.delete()
  return rows
}
