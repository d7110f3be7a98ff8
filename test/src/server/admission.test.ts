// Who may stream, and when: places, turns, memory, read rates; and that the metrics tell of it.

import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { request } from 'undici'
import { afterEach, describe, expect, test } from 'vitest'
import { Admission, DEFAULT_ADMISSION } from '../../../src/server/admission.ts'
import { MemoryAllowance } from '../../../src/server/allowance.ts'
import type { SSTableInfo } from '../../../src/source.ts'
import { expectedBody, until } from '../fakes.ts'
import type { Running } from './running.ts'
import { startServer } from './running.ts'

const MIB = 1 << 20
const endless = { batches: 1_000_000, batchBytes: MIB }
const few = { batches: 3, batchBytes: 1000 }

let running: Running | undefined
afterEach(async () => {
  await running?.close()
  running = undefined
})

const rows = (table: string, query = '') => request(`${running!.url}/v1/keyspaces/ks/tables/${table}/rows?${query}`)

/** A client that asks and does not read. */
function stall(port: number, table: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET /v1/keyspaces/ks/tables/${table}/rows HTTP/1.1\r\nHost: x\r\n\r\n`)
      socket.pause()
      resolve(socket)
    })
    socket.on('error', () => {})
  })
}

async function metrics(): Promise<Map<string, number>> {
  const text = await (await request(`${running!.url}/metrics`)).body.text()
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

test('beyond the places streams wait, and beyond the queue they are told to come again', async () => {
  running = await startServer({ endless, few }, { limits: { maxScans: 2, maxQueue: 1 } })
  const holders = [await stall(running.port, 'endless'), await stall(running.port, 'endless')]
  await until(() => running!.source.counts.scans === 2, 'two streams')
  const waiting = rows('few')
  await until(() => running!.context.admission.waiting === 1, 'one that waits')
  expect(running.source.counts.pins).toBe(2)
  const refused = await rows('few')
  expect(refused.statusCode).toBe(503)
  expect(refused.headers['retry-after']).toBe('1')
  expect(await refused.body.json()).toMatchObject({ code: 'OVERLOADED', fields: { reason: 'streams', limit: 2 } })
  expect((await metrics()).get('sluice_scans_waiting')).toBe(1)
  holders[0].destroy()
  const served = await waiting
  expect(await served.body.text()).toBe(expectedBody(few))
  holders[1].destroy()
  await until(() => running!.source.counts.releases === 3, 'all released')
  const told = await metrics()
  expect(told.get('sluice_scans')).toBe(0)
  expect(told.get('sluice_memory_bytes')).toBe(0)
  expect(told.get('sluice_streams_total{outcome="whole"}')).toBe(1)
  expect(told.get('sluice_streams_total{outcome="left"}')).toBe(2)
  expect(told.get('sluice_streams_total{outcome="refused"}')).toBe(1)
  expect(told.get('sluice_errors_total{code="OVERLOADED"}')).toBe(1)
  expect(told.get('sluice_stall_seconds_total{cause="queue"}')).toBeGreaterThan(0)
})

test('a client that leaves the queue frees its place in it', async () => {
  running = await startServer({ endless, few }, { limits: { maxScans: 1, maxQueue: 1 } })
  const holder = await stall(running.port, 'endless')
  await until(() => running!.source.counts.scans === 1, 'a stream')
  for (let i = 0; i < 5; i++) {
    const impatient = await stall(running.port, 'few')
    await until(() => running!.context.admission.waiting === 1, `one that waits, ${i}`)
    impatient.destroy()
    await until(() => running!.context.admission.waiting === 0, 'it left')
  }
  holder.destroy()
  expect((await rows('few')).statusCode).toBe(200)
})

test('who waits too long is told to come again', async () => {
  running = await startServer({ endless, few }, { limits: { maxScans: 1, maxWaitMs: 100 } })
  const holder = await stall(running.port, 'endless')
  await until(() => running!.source.counts.scans === 1, 'a stream')
  const response = await rows('few')
  expect(response.statusCode).toBe(503)
  expect(await response.body.json()).toMatchObject({ fields: { reason: 'no place became free' } })
  holder.destroy()
})

test('groups take turns: many splits of an export do not keep one request waiting', async () => {
  const admission = new Admission({ ...DEFAULT_ADMISSION, maxScans: 1 })
  const { signal } = new AbortController()
  const order: string[] = []
  const enter = async (group: string) => {
    const { leave } = await admission.enter(group, signal)
    order.push(group)
    await new Promise((resolve) => setTimeout(resolve, 1))
    leave()
  }
  const splits = Array.from({ length: 20 }, () => enter('export'))
  await Promise.all([...splits, enter('curl'), enter('other export'), enter('other export')])
  expect(order.slice(0, 7)).toEqual([
    ...['export', 'export', 'curl', 'other export', 'export', 'other export', 'export'],
  ])
  expect(order).toHaveLength(23)
  expect(admission.running + admission.waiting).toBe(0)
})

describe('counts, digests and HEAD are readers too', () => {
  const paths = {
    count: '/v1/keyspaces/ks/tables/few/count',
    digest: '/v1/keyspaces/ks/tables/few/digest',
    HEAD: '/v1/keyspaces/ks/tables/few/rows',
  }
  const ask = (name: string) =>
    request(running!.url + paths[name as keyof typeof paths], { method: name === 'HEAD' ? 'HEAD' : 'GET' })

  test.each(Object.keys(paths))('%s waits for its turn, and takes memory', async (name) => {
    running = await startServer({ endless, few }, { limits: { maxScans: 1, maxQueue: 1, memory: 9 * MIB } })
    const holder = await stall(running.port, 'endless')
    await until(() => running!.source.counts.scans === 1, 'a stream')
    const waiting = ask(name)
    await until(() => running!.context.admission.waiting === 1, 'it waits')
    expect((await ask(name)).statusCode).toBe(503)
    expect(running.source.counts.scans).toBe(1)
    holder.destroy()
    const answer = await waiting
    expect(answer.statusCode).toBe(200)
    await answer.body.dump()
    const [, last] = running.source.counts.requests
    expect(last.window).toBeDefined()
    expect(last.memory).toBeDefined()
    expect(running.context.admission.memory.used).toBe(0)
  })

  test('unknown tables do not wait', async () => {
    running = await startServer({ endless }, { limits: { maxScans: 1 } })
    const holder = await stall(running.port, 'endless')
    await until(() => running!.source.counts.scans === 1, 'a stream')
    expect((await rows('none')).statusCode).toBe(404)
    expect((await ask('count')).statusCode).toBe(404)
    holder.destroy()
  })

  test('they are held to the read rates', async () => {
    const slow = { batches: 12, batchBytes: 250_000 }
    running = await startServer({ few: slow }, { readRate: 4_000_000 })
    const started = performance.now()
    await (await ask('count')).body.dump()
    expect(performance.now() - started).toBeGreaterThan(400)
    const again = performance.now()
    await (await request(`${running.url}${paths.digest}?rate=2`)).body.dump()
    expect(performance.now() - again).toBeGreaterThan(800)
  })
})

describe('memory', () => {
  const sstable = { bytes: 1e9, dataBytes: 2e9, chunkBytes: 16_384 } as SSTableInfo
  const many = (count: number) => Array.from({ length: count }, () => sstable)

  test('fifty scans of a large SSTable each fit into the default', () => {
    const memory = new MemoryAllowance(256 * MIB, 64)
    const grants = Array.from({ length: 51 }, () => memory.take(many(1)))
    expect(memory.used).toBeGreaterThan(150 * MIB)
    expect(memory.used).toBeLessThanOrEqual(256 * MIB)
    for (const grant of grants) grant.giveBack()
    for (const grant of grants) grant.giveBack()
    expect(memory.used).toBe(0)
  })

  test('full blocks are read while most memory is free, and smaller ones then', () => {
    const memory = new MemoryAllowance(256 * MIB, 64)
    const blocks = Array.from({ length: 51 }, () => memory.take(many(1)).window.blockBytes)
    expect(blocks[0]).toBe(512 * 1024)
    expect(blocks[50]).toBeLessThan(512 * 1024)
    expect(blocks).toEqual([...blocks].sort((a, b) => b - a))
    const small = new MemoryAllowance(96 * MIB, 64)
    expect(small.take(many(1)).window.blockBytes).toBe(512 * 1024)
  })

  test('many SSTables get smaller windows each', () => {
    const memory = new MemoryAllowance(256 * MIB, 8)
    const one = memory.take(many(1))
    const hundred = memory.take(many(100))
    expect(hundred.window.windowBytes).toBeLessThan(one.window.windowBytes)
    expect(hundred.floor).toBeLessThan(60 * MIB)
  })

  test('large batches take more', () => {
    const memory = new MemoryAllowance(256 * MIB, 8)
    expect(memory.take(many(1), 8 * MIB).floor - memory.take(many(1)).floor).toBe(28 * MIB)
    expect(() => memory.take(many(1), 64 * MIB)).toThrow(expect.objectContaining({ code: 'VALUE_TOO_LARGE' }))
  })

  test('what others hold is a reason to come again, what could never fit is none', () => {
    const memory = new MemoryAllowance(16 * MIB, 2)
    const grants = [memory.take(many(1)), memory.take(many(1))]
    expect(() => memory.take(many(40))).toThrow(expect.objectContaining({ code: 'OVERLOADED' }))
    expect(() => memory.take(many(1000))).toThrow(expect.objectContaining({ code: 'VALUE_TOO_LARGE' }))
    for (const grant of grants) grant.giveBack()
    expect(memory.take(many(40)).floor).toBeLessThanOrEqual(16 * MIB)
  })

  test('a stream that does not fit is refused before its first byte', async () => {
    running = await startServer({ endless, few }, { limits: { maxScans: 100, memory: 9 * MIB } })
    const holders = [await stall(running.port, 'endless'), await stall(running.port, 'endless')]
    await until(() => running!.source.counts.scans === 2, 'two streams')
    const refused = await rows('few')
    expect(refused.statusCode).toBe(503)
    expect(await refused.body.json()).toMatchObject({ code: 'OVERLOADED', fields: { reason: 'memory' } })
    for (const holder of holders) holder.destroy()
    await until(() => running!.source.counts.releases === 3, 'all released')
    expect(await (await rows('few')).body.text()).toBe(expectedBody(few))
  })
})

describe('read rates', () => {
  // 3 MB read from disk, of which a quarter of a second's worth is free.
  const table = { batches: 12, batchBytes: 250_000 }

  test('of one stream', async () => {
    running = await startServer({ table, few })
    const started = performance.now()
    const slow = rows('table', 'rate=2').then((response) => response.body.text())
    expect((await (await rows('table')).body.text()).length).toBe(3_000_002)
    expect(performance.now() - started).toBeLessThan(1100)
    await slow
    expect(performance.now() - started).toBeGreaterThan(1000)
    expect((await metrics()).get('sluice_stall_seconds_total{cause="rate"}')).toBeGreaterThan(0.8)
  })

  test('of all streams together', async () => {
    running = await startServer({ table }, { readRate: 4_000_000 })
    const started = performance.now()
    await Promise.all([1, 2].map(async () => (await rows('table')).body.text()))
    expect(performance.now() - started).toBeGreaterThan(1000)
  })
})

test('what is read and sent is counted', async () => {
  running = await startServer({ few })
  await (await rows('few', 'format=ndjson')).body.dump()
  await until(() => running!.source.counts.releases === 1, 'its end')
  const told = await metrics()
  expect(told.get('sluice_rows_total')).toBe(3)
  expect(told.get('sluice_batches_total')).toBe(3)
  expect(told.get('sluice_read_bytes_total')).toBe(3000)
  expect(told.get('sluice_sent_bytes_total{format="ndjson"}')).toBe(3002)
  expect(told.get('sluice_first_byte_seconds_count')).toBe(1)
  expect(told.get('sluice_stream_seconds_count')).toBe(1)
  expect(told.get('sluice_memory_limit_bytes')).toBe(256 * MIB)
})
