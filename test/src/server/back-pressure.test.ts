// A client's pace reaches the disk, and a client that leaves frees what its stream held.

import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { request } from 'undici'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createServer } from '../../../src/server/create-server.ts'
import type { FakeTable } from '../fakes.ts'
import { expectedBody, fakeExporter, fakeSource, until } from '../fakes.ts'
import type { Running } from './running.ts'
import { startServer } from './running.ts'

const TABLES: Record<string, FakeTable> = {
  endless: { batches: 1_000_000, batchBytes: 1 << 20 },
  small_batches: { batches: 1_000_000, batchBytes: 10_000 },
  large: { batches: 64, batchBytes: 1 << 20 },
  medium: { batches: 6, batchBytes: 1 << 20 },
  few: { batches: 2, batchBytes: 10 },
}

let running: Running
beforeEach(async () => {
  running = await startServer(TABLES)
})
afterEach(() => running.close())

function get(table: string, lines = ''): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(running.port, '127.0.0.1', () => {
      socket.write(`GET /v1/keyspaces/ks/tables/${table}/rows HTTP/1.1\r\nHost: x\r\n${lines}\r\n`)
      socket.pause()
      resolve(socket)
    })
    socket.on('error', reject)
  })
}

/** Waits until no more batch is pulled for half a second; gives the number pulled. */
async function stalled(): Promise<number> {
  const { counts } = running.source
  for (let last = -1; ; ) {
    if (counts.pulled === last && last > 0) return last
    last = counts.pulled
    await sleep(500)
  }
}

test('a client that does not read stops the pulling of batches', async () => {
  const socket = await get('endless')
  const pulled = await stalled()
  // What the kernel's buffers of both ends take (some MB), and one batch that waits.
  expect(pulled).toBeLessThan(40)
  expect(running.source.counts.held).toBeLessThanOrEqual(1)
  await sleep(500)
  expect(running.source.counts.pulled).toBe(pulled)
  socket.resume()
  await until(() => running.source.counts.pulled > pulled + 100, 'the stream goes on when read again')
  socket.destroy()
  await until(() => running.source.counts.releases === 1, 'released')
})

test('small batches are gathered to about one write, and no more', async () => {
  const socket = await get('small_batches')
  await stalled()
  expect(running.source.counts.mostHeld).toBeLessThan(120)
  expect(running.source.counts.mostHeld).toBeGreaterThan(90)
  socket.destroy()
  await until(() => running.source.counts.held === 0, 'all batches released')
})

test('one stalled client does not slow another', async () => {
  const socket = await get('endless')
  await stalled()
  const response = await request(`${running.url}/v1/keyspaces/ks/tables/large/rows`)
  const body = await response.body.text()
  expect(body === expectedBody(TABLES.large)).toBe(true)
  socket.destroy()
})

test('a client that leaves while it reads frees scan, pin and batches at once', async () => {
  const response = await request(`${running.url}/v1/keyspaces/ks/tables/endless/rows`)
  let seen = 0
  for await (const part of response.body) if ((seen += part.length) > 5_000_000) break
  const { counts } = running.source
  await until(() => counts.releases === 1, 'released')
  expect(counts).toMatchObject({ closes: 1, held: 0 })
})

test('a client that leaves while it holds the stream back frees them at once', async () => {
  const socket = await get('endless')
  await stalled()
  socket.destroy()
  const { counts } = running.source
  await until(() => counts.releases === 1, 'released')
  expect(counts).toMatchObject({ closes: 1, held: 0 })
})

test('a client that leaves before the first byte stops its scan', async () => {
  const { counts } = running.source
  for (let i = 0; i < 50; i++) {
    const socket = await get('endless')
    if (i % 2 === 0) await new Promise((resolve) => setImmediate(resolve))
    socket.destroy()
  }
  await until(() => counts.pins > 0 && counts.releases === counts.pins, 'all released')
  expect(counts).toMatchObject({ closes: counts.scans, held: 0 })
  expect((await request(`${running.url}/healthz`)).statusCode).toBe(200)
})

test('a request that waits behind another on its connection is freed too when the connection goes', async () => {
  const socket = await get('endless')
  const { counts } = running.source
  await until(() => counts.scans === 1, 'the first has begun')
  socket.write('GET /v1/keyspaces/ks/tables/few/rows HTTP/1.1\r\nHost: x\r\n\r\n')
  await sleep(300)
  socket.destroy()
  await until(() => counts.releases === counts.pins, 'all released')
  expect(counts).toMatchObject({ closes: counts.scans, held: 0 })
})

test('many requests on one connection are answered in turn, and wait without piling up', async () => {
  const warnings: Error[] = []
  process.on('warning', (warning) => warnings.push(warning))
  const many = 40
  const lines = 'HTTP/1.1\r\nHost: x\r\n'
  const socket = await get('few')
  socket.write(`GET /v1/keyspaces/ks/tables/medium/rows ${lines}\r\n`.repeat(many))
  const pulled = await stalled()
  expect(pulled).toBeLessThan(many * 2 + 20)
  let received = 0
  socket.on('data', (part) => {
    received += part.length
  })
  socket.resume()
  await until(() => running.source.counts.releases === many + 1, 'all answered')
  await until(() => received > many * (6 << 20), 'all received')
  expect(warnings).toEqual([])
  socket.destroy()
})

test('a client that closes its own half has left: its stream is cut, and never passed off as whole', async () => {
  const socket = await get('endless')
  let tail = ''
  socket.on('data', (part) => {
    tail = part.subarray(-5).toString('latin1')
  })
  socket.resume()
  await until(() => running.source.counts.pulled > 20, 'under way')
  socket.end()
  await until(() => running.source.counts.releases === 1, 'released')
  await until(() => socket.closed, 'closed')
  expect(tail).not.toBe('0\r\n\r\n')
})

test('streams of many sizes are cut by their clients at many places without a trace', async () => {
  const { counts } = running.source
  for (let at = 1; at < 2_000_000; at = Math.ceil(at * 2.7)) {
    const socket = await get('endless')
    let seen = 0
    await new Promise<void>((resolve) => {
      socket.on('data', (part) => {
        seen += part.length
        if (seen >= at) {
          socket.destroy()
          resolve()
        }
      })
      socket.resume()
    })
  }
  await until(() => counts.releases === counts.pins && counts.pins > 10, 'all released')
  expect(counts).toMatchObject({ closes: counts.scans, held: 0 })
})

test('a write to a client that has just left is told as its leaving, not as a fault', async () => {
  const levels: string[] = []
  const logger = pino({ level: 'debug' }, { write: (line: string) => levels.push(line) })
  const source = fakeSource(TABLES)
  const server = createServer({ source, createExporter: fakeExporter, logger })
  const port = Number(new URL(await server.listen('127.0.0.1', 0)).port)
  for (let i = 0; i < 20; i++) {
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /v1/keyspaces/ks/tables/endless/rows HTTP/1.1\r\nHost: x\r\n\r\n')
    await new Promise((resolve) => socket.once('data', resolve))
    socket.resetAndDestroy()
    // The server is kept from its events, as by the work for others, and finds out by writing.
    const busy = performance.now() + 20
    while (performance.now() < busy);
  }
  await until(() => source.counts.releases === 20, 'all released')
  await until(() => levels.length === 20, 'all logged')
  for (const line of levels) expect(JSON.parse(line)).toMatchObject({ level: 30, code: 'CANCELLED' })
  await server.close(0)
})
