// openapi.json against the server that it describes.

import { request } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createServer } from '../../../src/server/create-server.ts'
import { openApi } from '../../../src/server/openapi.ts'
import { ERROR_CODES } from '../../../storage/errors.ts'
import { fakeExporter, fakeSource, quiet } from '../fakes.ts'
import type { Running } from './running.ts'
import { startServer } from './running.ts'

interface Operation {
  parameters: { name: string; in: string }[]
}
interface Api {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown> }
}

const api = openApi() as unknown as Api

let running: Running
beforeAll(async () => {
  running = await startServer({ t: { batches: 1, batchBytes: 8 } })
})
afterAll(() => running.close())

test('the document is served as it is built', async () => {
  const response = await request(`${running.url}/openapi.json`)
  expect(await response.body.json()).toEqual(JSON.parse(JSON.stringify(api)))
  expect(api.openapi).toBe('3.1.0')
})

test('the server has the documented paths and no others', () => {
  const app = createServer({ source: fakeSource({}), createExporter: fakeExporter, logger: quiet }).app
  // Each line of the tree ends in a whole path and its methods: "/v1/keyspaces (GET, HEAD)".
  const routes = app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .filter((line) => /\((GET|POST)/.test(line))
  const leaves = routes.map((line) => line.replace(/^[\s│├└─]+/, '').replace(/ \(.*$/, ''))
  const documented = Object.keys(api.paths).map((path) => path.replaceAll(/\{(\w+)\}/g, ':$1'))
  expect(new Set(leaves).size).toBe(documented.length)
  for (const [path, operations] of Object.entries(api.paths)) {
    for (const method of Object.keys(operations)) {
      const url = path.replaceAll(/\{(\w+)\}/g, ':$1')
      expect(app.hasRoute({ method: method.toUpperCase() as 'GET', url })).toBe(true)
    }
  }
})

test('each documented path answers GET and HEAD', async () => {
  const made = await request(`${running.url}/v1/exports`, {
    method: 'POST',
    body: JSON.stringify({ keyspace: 'ks', table: 't' }),
  })
  const { id, endpoints } = (await made.body.json()) as { id: string; endpoints: { ticket: string }[] }
  const { ticket } = endpoints[0]
  const values: Record<string, string> = { keyspace: 'ks', table: 't', extension: 'ndjson', id, ticket }
  for (const [path, operations] of Object.entries(api.paths)) {
    expect('get' in operations).toBe('head' in operations)
    if (!('get' in operations)) continue
    const url = running.url + path.replaceAll(/\{(\w+)\}/g, (_, name) => values[name])
    for (const method of ['GET', 'HEAD'] as const) {
      const response = await request(url, { method })
      await response.body.dump()
      expect(response.statusCode).toBe(200)
    }
  }
})

test('each documented query parameter is known to the server', async () => {
  const { parameters } = api.paths['/v1/keyspaces/{keyspace}/tables/{table}/rows'].get
  const names = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['start', 'end', 'columns', 'limit', 'now', 'format']))
  for (const name of names) {
    // Twice the same is refused as such only where the name itself is known.
    const value = ['decimal', 'duration'].includes(name) ? 'text' : name === 'compression' ? 'none' : '1'
    const response = await request(`${running.url}/v1/keyspaces/ks/tables/t/rows?${name}=${value}&${name}=${value}`)
    const { fields } = (await response.body.json()) as { fields: object }
    expect(fields).toEqual({ parameter: name, reason: 'given twice' })
  }
})

test('references lead to schemas, and every error code is listed', () => {
  const references = JSON.stringify(api).matchAll(/"#\/components\/schemas\/(\w+)"/g)
  for (const [, name] of references) expect(api.components.schemas[name]).toBeDefined()
  expect(JSON.stringify(api.components.schemas.Problem)).toContain(JSON.stringify(Object.keys(ERROR_CODES)))
})

test('the errors page has an anchor for each code', async () => {
  const page = await (await request(`${running.url}/errors`)).body.text()
  for (const code of Object.keys(ERROR_CODES)) expect(page).toContain(`id="${code}"`)
})
