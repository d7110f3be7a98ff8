// Two curls on the two tickets of one export at once, with no, one and two workers.

import { createExport } from '../../src/client/index.ts'
import { ensureDataset } from './dataset.ts'
import { best, bound, median, table } from './figures.ts'
import { startServer, timeCurl } from './server-process.ts'

const NOW = 1_800_000_000
const WORKERS = [0, 1, 2]

export async function pairBench(rounds: number): Promise<void> {
  const { data, schema, keyspace, table: name } = ensureDataset('narrow', 'da', 2_000_000)
  const servers = await Promise.all(
    WORKERS.map((workers) => startServer(['--data', data, '--schema', schema, '--workers', String(workers)])),
  )
  const tickets = await Promise.all(
    servers.map(async ({ url }) => {
      const made = await createExport({ url }, { keyspace, table: name, splits: 2, now: NOW })
      return made.description.endpoints.map(({ ticket }) => `${url}/v1/tickets/${ticket}`)
    }),
  )
  const alone = WORKERS.map((): number[] => [])
  const both = WORKERS.map((): number[] => [])
  let bytes = 0
  for (let round = -1; round < rounds; round++) {
    for (let i = 0; i < WORKERS.length; i++) {
      const [first, second] = tickets[i]
      const one = await timeCurl(first)
      const begun = performance.now()
      const pair = await Promise.all([timeCurl(first), timeCurl(second)])
      const seconds = (performance.now() - begun) / 1000
      bytes = pair[0].bytes + pair[1].bytes
      if (round < 0) continue // the first round warms up
      alone[i].push(one.seconds)
      both[i].push(seconds)
    }
  }
  table(
    [
      'workers',
      'one ticket alone, s (min, median)',
      'two at once, s (min, median)',
      'two at once, MB/s',
      'over no worker',
    ],
    WORKERS.map((workers, i) => [
      String(workers),
      `${best(alone[i]).toFixed(3)}, ${median(alone[i]).toFixed(3)}`,
      `${best(both[i]).toFixed(3)}, ${median(both[i]).toFixed(3)}`,
      (bytes / best(both[i]) / 1e6).toFixed(0),
      (best(both[0]) / best(both[i])).toFixed(2),
    ]),
  )
  const over = (other: number) => best(both[other]) / best(both[2])
  bound(`two workers over none: ${over(0).toFixed(2)} times, at least 1.4`, over(0) >= 1.4)
  bound(`two workers over one: ${over(1).toFixed(2)} times, at least 1.2`, over(1) >= 1.2)
  await Promise.all(servers.map((server) => server.stop()))
}
