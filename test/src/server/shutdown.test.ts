// The orderly end of a server: streams under way may finish, none is passed off as whole when it could not.

import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { expectedBody, until } from '../fakes.ts'
import { startServer } from './running.ts'

const large = { batches: 64, batchBytes: 1 << 20 }
const endless = { batches: 1_000_000, batchBytes: 1 << 20 }

async function readAll(body: AsyncIterable<Buffer>): Promise<void> {
  for await (const part of body) if (part.length === 0) throw new Error('an empty part')
}

test('a stream under way finishes within the deadline, and new requests are refused meanwhile', async () => {
  const running = await startServer({ large })
  const response = await request(`${running.url}/v1/keyspaces/ks/tables/large/rows`)
  await until(() => running.source.counts.pulled > 0, 'stream under way')
  const closed = running.close(60_000)
  const refused = await request(`${running.url}/v1/keyspaces/ks/tables/large/rows`)
  expect(refused.statusCode).toBe(503)
  expect(refused.headers['retry-after']).toBe('1')
  expect(((await refused.body.json()) as { code: string }).code).toBe('SHUTTING_DOWN')
  expect((await response.body.text()) === expectedBody(large)).toBe(true)
  await closed
  await expect(request(`${running.url}/healthz`)).rejects.toThrow()
  expect(running.source.counts).toMatchObject({ releases: 1, held: 0 })
})

test('a stream that does not end within the deadline is cut', async () => {
  const running = await startServer({ endless })
  const response = await request(`${running.url}/v1/keyspaces/ks/tables/endless/rows`)
  const body = expect(readAll(response.body)).rejects.toThrow()
  await sleep(100)
  await running.close(200)
  await body
  expect(running.source.counts).toMatchObject({ closes: 1, releases: 1, held: 0 })
})

test('a stream that nobody reads is cut too', async () => {
  const running = await startServer({ endless })
  const response = await request(`${running.url}/v1/keyspaces/ks/tables/endless/rows`)
  await sleep(300)
  await running.close(100)
  await expect(response.body.text()).rejects.toThrow()
  expect(running.source.counts).toMatchObject({ closes: 1, releases: 1, held: 0 })
})

test('an idle server closes at once', async () => {
  const running = await startServer({ large })
  await (await request(`${running.url}/healthz`)).body.dump()
  const started = performance.now()
  await running.close(60_000)
  expect(performance.now() - started).toBeLessThan(2000)
})
