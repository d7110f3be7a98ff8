// Memory of a server that is asked for more than it may hold: clients that do not read, large partitions, values and rows, in every
// format. What the server may take is --memory and the stated base: a process without streams, and its workers.

import { setTimeout as sleep } from 'node:timers/promises'
import { createExport } from '../../src/client/index.ts'
import { ensureDataset } from './dataset.ts'
import { best, bound, megabytes, table } from './figures.ts'
import { startServer, timeCurl } from './server-process.ts'
import { type StalledClient, stall } from './stalled-client.ts'

const NOW = 1_800_000_000
const MEMORY = 256e6
const LIMITS = ['--max-scans', '64', '--memory', '256MB']
/** README.md states it. */
const BASE = (workers: number) => 130e6 + 50e6 * workers
const STALLED = 50
const RETRY_AFTER_MS = 1000

export async function stalledBench(rounds: number): Promise<void> {
  const { data, schema, keyspace, table: name } = ensureDataset('narrow', 'da', 2_000_000)
  const rows: string[][] = []
  for (const workers of [0, 2]) {
    const server = await startServer(['--data', data, '--schema', schema, '--workers', String(workers), ...LIMITS])
    const url = `${server.url}/v1/keyspaces/${keyspace}/tables/${name}/rows?now=${NOW}`
    const alone = await times(url, rounds)
    const clients: StalledClient[] = []
    for (let i = 0; i < STALLED; i++) clients.push(await stall(url))
    const beside = await times(url, rounds)
    const peak = server.peakBytes()
    for (const client of clients) client.close()
    await server.stop()
    const speed = best(alone) / best(beside)
    const limit = MEMORY + BASE(workers)
    rows.push([String(workers), megabytes(peak), megabytes(limit), best(alone).toFixed(2), best(beside).toFixed(2)])
    const began = clients.filter(({ status }) => status.includes(' 200 ')).length
    bound(`${workers} workers, ${began} of ${STALLED} streams stand`, began === STALLED)
    bound(`${workers} workers: ${megabytes(peak)} MB, at most ${megabytes(limit)}`, peak <= limit)
    bound(
      `${workers} workers: the reader has ${(100 * speed).toFixed(0)} % of its speed alone, at least 80 %`,
      speed >= 0.8,
    )
  }
  table(['workers', 'peak MB', 'allowance and base, MB', 'reader alone, s', 'beside 50 stalled, s'], rows)
}

async function times(url: string, rounds: number): Promise<number[]> {
  const seconds: number[] = []
  for (let round = -1; round < rounds; round++) {
    const time = await timeCurl(url)
    if (round >= 0) seconds.push(time.seconds)
  }
  return seconds
}

/** SLUICE_BENCH_SETS names some of them. */
const SETS = ['partition2gb', 'values10mb', 'columns', 'narrow']
const FORMATS = ['arrows', 'ndjson', 'csv', 'parquet']
export async function memoryBench(): Promise<void> {
  const rows: string[][] = []
  for (const set of process.env.SLUICE_BENCH_SETS?.split(',') ?? SETS) {
    const { data, schema, keyspace, table: name } = ensureDataset(set, 'da', set === 'narrow' ? 2_000_000 : undefined)
    for (const format of FORMATS) {
      const server = await startServer(['--data', data, '--schema', schema, '--workers', '2', ...LIMITS])
      const made = await createExport({ url: server.url }, { keyspace, table: name, splits: 8, now: NOW })
      const urls = made.description.endpoints.map(({ ticket }) => `${server.url}/v1/tickets/${ticket}?format=${format}`)
      const { whole, answers, isWholeAlone } = await crowd(urls)
      const limit = MEMORY + BASE(2)
      const peak = server.peakBytes()
      const said = [...answers].map(([answer, count]) => `${count} ${answer}`).join(', ')
      rows.push([set, format, megabytes(peak), megabytes(limit), String(whole), said])
      bound(`${set} as ${format}: ${megabytes(peak)} MB, at most ${megabytes(limit)}`, peak <= limit)
      bound(`${set} as ${format}: ${whole} streams came to their end, one alone among them`, isWholeAlone)
      await server.stop()
    }
  }
  table(['set', 'format', 'peak MB', 'allowance and base, MB', 'whole streams', 'the stalled were told'], rows)
}

/** Clients that stop, then one that reads everything beside them, then one alone, then several at once without them. */
async function crowd(
  urls: readonly string[],
): Promise<{ whole: number; answers: Map<string, number>; isWholeAlone: boolean }> {
  const answers = new Map<string, number>()
  const stalled: StalledClient[] = []
  for (let i = 0; i < STALLED; i++) {
    const answer = await stall(urls[i % urls.length]).catch((error: Error) => error.message)
    const told = typeof answer === 'string' ? answer : answer.status.split(' ')[1]
    answers.set(told, (answers.get(told) ?? 0) + 1)
    if (typeof answer !== 'string') stalled.push(answer)
  }
  let whole = 0
  const read = async (url: string) => {
    const isWhole = await timeCurl(url).then(
      () => true,
      () => false,
    )
    if (isWhole) whole++
  }
  for (const url of urls) await read(url)
  for (const client of stalled) client.close()
  const beside = whole
  await sleep(RETRY_AFTER_MS) // who is told 503 is told to come again after a second
  await read(urls[0])
  const isWholeAlone = whole > beside
  await Promise.all(urls.map(read))
  return { whole, answers, isWholeAlone }
}
