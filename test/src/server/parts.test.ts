// Splits and counts over HTTP, of tables that a real Cassandra wrote: the rows of all splits are the rows of the table.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createExporter } from '../../../exporters/formats.ts'
import { openSource } from '../../../src/open-source.ts'
import { createServer, type SluiceServer } from '../../../src/server/create-server.ts'
import type { Source } from '../../../src/source.ts'
import { goldenMeta, goldenSet } from '../../corpus/golden.ts'
import { quiet } from '../fakes.ts'

let source: Source
let server: SluiceServer
let url = ''
let now = 0

beforeAll(async () => {
  source = await openSource({ data: [join(await goldenSet('nb'), 'data')] })
  server = createServer({ source, createExporter, logger: quiet })
  url = `${await server.listen('127.0.0.1', 0)}/v1/keyspaces/golden/tables`
  now = (await goldenMeta('nb')).now
})
afterAll(async () => {
  await server.close(0)
  await source.close()
})

const text = async (path: string) => (await fetch(`${url}/${path}`)).text()
const json = async (path: string) => JSON.parse(await text(path))

interface Split {
  from: string | null
  to: string | null
  bytes: number
}

test.each(['wide', 'static_rows', 'deletions'])('%s: all splits together are the table', async (table) => {
  const { splits } = (await json(`${table}/splits?target_bytes=20000`)) as { splits: Split[] }
  if (table === 'wide') expect(splits.length).toBeGreaterThan(20)
  const parts: string[] = []
  for (const { from, to } of splits) {
    const ends = `${from === null ? '' : `&from=${from}`}${to === null ? '' : `&to=${to}`}`
    parts.push(await text(`${table}/rows.ndjson?now=${now}${ends}`))
  }
  expect(parts.join('')).toBe(await text(`${table}/rows.ndjson?now=${now}`))
})

test('a count agrees with the rows', async () => {
  for (const [table, where] of [
    ['wide', ''],
    ['wide', 'pk = 1 AND c > 1000'],
    ['deletions', ''],
  ]) {
    const query = `now=${now}${where === '' ? '' : `&where=${encodeURIComponent(where)}`}`
    const rows = (await text(`${table}/rows.ndjson?${query}`)).split('\n').length - 1
    const count = await json(`${table}/count?${query}`)
    expect(count.rows).toBe(rows)
    expect(count.now).toBe(now)
    expect(count.bytes).toBeGreaterThan(0)
  }
  expect((await json(`deletions/count?now=${now}`)).tombstones).toBeGreaterThan(100)
})

test('what makes no sense is refused by name', async () => {
  expect((await json('wide/splits?count=0')).code).toBe('BAD_PARAMETER')
  expect((await json('wide/splits?start=x')).code).toBe('BAD_RANGE')
  expect((await json('wide/rows.ndjson?from=abc')).code).toBe('BAD_POSITION')
  expect((await json('wide/count?columns=c')).code).toBe('BAD_PARAMETER')
  expect((await json('wide/count?where=c+%3D')).code).toBe('BAD_PREDICATE')
})
