// A server that asks for a token: who does not bear it gets 401 and learns nothing, orchestrators are let in, the client bears it.

import { request } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createExport } from '../../../src/client/index.ts'
import { bearsToken } from '../../../src/server/bearer.ts'
import type { Running } from './running.ts'
import { rawExchange, startServer } from './running.ts'

const TOKEN = 'Zm9v-._~+/=='

let running: Running
beforeAll(async () => {
  running = await startServer({ t: { batches: 2, batchBytes: 8 } }, { token: TOKEN })
})
afterAll(() => running.close())

test('without the token every resource answers 401, whether there is one or not', async () => {
  const table = '/v1/keyspaces/ks/tables/t'
  const paths = ['/v1/keyspaces', table, `${table}/rows`, `${table}/rows.csv`, `${table}/splits`, `${table}/count`]
  paths.push(
    `${table}/digest`,
    '/v1/exports',
    '/v1/exports/x',
    '/v1/tickets/x',
    '/metrics',
    '/openapi.json',
    '/nothing',
  )
  const { pins } = running.source.counts
  for (const path of paths) {
    for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: `Basic ${btoa(`x:${TOKEN}`)}` }]) {
      const response = await request(running.url + path, { headers })
      expect([path, response.statusCode]).toEqual([path, 401])
      expect(response.headers).toMatchObject({
        'www-authenticate': 'Bearer realm="sluice"',
        'content-type': 'application/problem+json',
      })
      expect(await response.body.json()).toMatchObject({ code: 'UNAUTHORIZED', status: 401 })
    }
  }
  const post = await request(`${running.url}/v1/exports`, { method: 'POST', body: '{' })
  expect(post.statusCode).toBe(401)
  await post.body.dump()
  expect(running.source.counts.pins).toBe(pins)
})

test('health is told to anyone, by GET and HEAD', async () => {
  for (const path of ['/healthz', '/readyz', '/healthz?x=1']) {
    for (const method of ['GET', 'HEAD'] as const) {
      const response = await request(running.url + path, { method })
      expect([path, response.statusCode]).toEqual([path, 200])
      await response.body.dump()
    }
  }
  // Not by another way of writing a path that is not free.
  const { received } = await rawExchange(
    running.port,
    'GET /healthz/../v1/keyspaces HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  )
  expect(received).toMatch(/^HTTP\/1\.1 401 /)
})

test('with the token all is as without one', async () => {
  for (const authorization of [`Bearer ${TOKEN}`, `bearer ${TOKEN}`]) {
    const response = await request(`${running.url}/v1/keyspaces`, { headers: { authorization } })
    expect(response.statusCode).toBe(200)
    expect(response.headers['www-authenticate']).toBeUndefined()
    await response.body.dump()
  }
})

test('the client bears it, and says UNAUTHORIZED at once without', async () => {
  const what = { keyspace: 'ks', table: 't' }
  const made = await createExport({ url: running.url, token: TOKEN }, what)
  await made.renew()
  await made.delete()
  const begun = performance.now()
  await expect(createExport({ url: running.url, token: 'other' }, what)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  expect(performance.now() - begun).toBeLessThan(1000)
})

test('only the very token is taken', () => {
  expect(bearsToken(`Bearer ${TOKEN}`, TOKEN)).toBe(true)
  expect(bearsToken(`Bearer   ${TOKEN} `, TOKEN)).toBe(true)
  for (const header of [undefined, '', 'Bearer', 'Bearer ', TOKEN, `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`]) {
    expect(bearsToken(header, TOKEN)).toBe(false)
  }
  expect(bearsToken(`Bearer x ${TOKEN}`, TOKEN)).toBe(false)
  expect(bearsToken('Bearer ', '')).toBe(false)
})
