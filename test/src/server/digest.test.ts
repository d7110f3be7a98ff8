// Digests and tombstones over HTTP, of tables that a real Cassandra wrote.

import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createExporter } from '../../../exporters/formats.ts'
import { openSource } from '../../../src/open-source.ts'
import { createServer, type SluiceServer } from '../../../src/server/create-server.ts'
import type { Source } from '../../../src/source.ts'
import { goldenMeta, goldenSet } from '../../corpus/golden.ts'
import { quiet } from '../fakes.ts'

let sources: Source[]
let servers: SluiceServer[]
let urls: string[]
let now = 0

beforeAll(async () => {
  sources = []
  servers = []
  urls = []
  for (const set of ['nb', 'da'] as const) {
    const source = await openSource({ data: [join(await goldenSet(set), 'data')] })
    const server = createServer({ source, createExporter, logger: quiet })
    sources.push(source)
    servers.push(server)
    urls.push(`${await server.listen('127.0.0.1', 0)}/v1/keyspaces/golden/tables`)
  }
  now = (await goldenMeta('da')).now
})
afterAll(async () => {
  for (const server of servers) await server.close(0)
  for (const source of sources) await source.close()
})

const text = async (path: string, server = 0) => (await fetch(`${urls[server]}/${path}`)).text()
const json = async (path: string, server = 0) => JSON.parse(await text(path, server))

test('two servers over files of different formats give one digest', async () => {
  const [nb, da] = await Promise.all([json(`wide/digest?now=${now}`), json(`wide/digest?now=${now}`, 1)])
  expect(da).toEqual(nb)
  expect(nb).toMatchObject({ digest: expect.stringMatching(/^[0-9a-f]{32}$/), empty_values: 0, now })
  expect(nb.rows).toBe((await text(`wide/rows.ndjson?now=${now}`)).split('\n').length - 1)
  expect((await json(`wide/digest?now=${now}&where=pk=1`)).digest).not.toBe(nb.digest)
  expect((await json(`wide/digest?now=${now}&decimal=text`)).code).toBe('BAD_PARAMETER')
})

test('the digests of splits are those of the same positions elsewhere', async () => {
  const { splits } = await json(`wide/digest?now=${now}&splits=5`)
  expect(splits.length).toBeGreaterThan(2)
  let rows = 0
  for (const { from, to, digest, rows: own } of splits) {
    const ends = `${from === null ? '' : `&from=${from}`}${to === null ? '' : `&to=${to}`}`
    expect((await json(`wide/digest?now=${now}${ends}`, 1)).digest).toBe(digest)
    rows += own
  }
  expect(rows).toBe((await json(`wide/digest?now=${now}`)).rows)
})

test('tombstones come in every format', async () => {
  const lines = (await text(`deletions/rows.ndjson?tombstones=1&now=${now}`)).split('\n').slice(0, -1)
  const kinds = new Set(lines.map((line) => JSON.parse(line).kind))
  expect([...kinds].sort()).toEqual(['cell', 'collection', 'partition', 'range', 'row'])
  const csv = (await text(`deletions/rows.csv?tombstones=1&now=${now}`)).split('\n')
  expect(csv[0].trim()).toBe(
    'pk,kind,start_c1,start_c2,end_c1,end_c2,start_inclusive,end_inclusive,column,path,path_bytes,timestamp,local_deletion_time,expired_ttl',
  )
  expect(csv.length - 2).toBe(lines.length)
  const of = (await text(`deletions/rows.ndjson?tombstones=1&now=${now}&since=2000&until=2001`))
    .split('\n')
    .slice(0, -1)
  expect(of).toEqual(lines.filter((line) => JSON.parse(line).timestamp === 2000))
  expect((await json(`deletions/rows?tombstones=1&distinct=1`)).code).toBe('BAD_PARAMETER')
})
