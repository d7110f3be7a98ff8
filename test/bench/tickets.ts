// Several tickets of one export read by as many curls at once.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { DatasetFiles } from './dataset.ts'

const run = promisify(execFile)

/** The tickets of a new export that is cut into `splits`. */
export async function createTickets(url: string, files: DatasetFiles, splits: number, now: number): Promise<string[]> {
  const body = { keyspace: files.keyspace, table: files.table, splits, now }
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/exports`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (response.status !== 201) throw new Error(`no export: ${await response.text()}`)
  const { endpoints } = (await response.json()) as { endpoints: { ticket: string }[] }
  return endpoints.map(({ ticket }) => ticket)
}

/** Seconds until the last of the curls has ended, and the bytes of all. */
export async function timeTickets(
  url: string,
  tickets: readonly string[],
): Promise<{ seconds: number; bytes: number }> {
  const begun = performance.now()
  const sizes = await Promise.all(
    tickets.map(async (ticket) => {
      const { stdout } = await run('curl', [
        '-sf',
        '-o',
        '/dev/null',
        '-w',
        '%{size_download}',
        `${url}/v1/tickets/${ticket}`,
      ])
      return Number(stdout)
    }),
  )
  return { seconds: (performance.now() - begun) / 1000, bytes: sizes.reduce((a, b) => a + b, 0) }
}
