// The pace of a pump: who waits for whom, and who gets what back.

import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Exporter } from '../../exporters/exporter.ts'
import { newPumpProgress, pump } from '../../src/pump.ts'
import { StreamSink } from '../../src/stream-sink.ts'
import { SluiceError } from '../../storage/errors.ts'
import type { FakeTable } from './fakes.ts'
import { expectedBody, fakeExporter, fakeSource } from './fakes.ts'

async function prepared(table: FakeTable) {
  const source = fakeSource({ t: table })
  const pinned = await source.pin('ks', 't')
  return { scan: await pinned.scan({ now: 0 }), counts: source.counts, progress: newPumpProgress() }
}

test('what a sink got is what the exporter made, in writes of a megabyte', async () => {
  const table = { batches: 100, batchBytes: 70_000 }
  const { scan, counts, progress } = await prepared(table)
  const writes: Buffer[] = []
  await pump(scan, fakeExporter('csv'), { write: async (parts) => void writes.push(Buffer.concat(parts)) }, progress)
  const body = Buffer.concat(writes).toString()
  expect(body === expectedBody(table)).toBe(true)
  // The first goes out alone, the last is a rest.
  expect(writes[0].length).toBeLessThan(80_000)
  for (const write of writes.slice(1, -1)) expect(write.length).toBeGreaterThanOrEqual(1 << 20)
  expect(progress).toEqual({ rows: 100, batches: 100, bytes: body.length, position: 'p99' })
  expect(counts.batchReleases).toBe(100)
})

test('no batch is pulled while a write is under way', async () => {
  const { scan, counts, progress } = await prepared({ batches: 5, batchBytes: 2 << 20 })
  let writing = 0
  await pump(
    scan,
    fakeExporter('csv'),
    {
      async write() {
        writing++
        const { pulled } = counts
        await sleep(20)
        expect(counts.pulled).toBe(pulled)
        writing--
      },
    },
    progress,
  )
  expect(writing).toBe(0)
  expect(counts.mostHeld).toBe(1)
})

test('batches whose parts end off the size of a write are given back while the stream goes on', async () => {
  // Twelve columns of a quarter megabyte each, and a rest: written in three writes, with something left over.
  const { scan, counts, progress } = await prepared({ batches: 40, batchBytes: 8 })
  const exporter: Exporter = {
    ...fakeExporter('arrows'),
    *batch() {
      for (let i = 0; i < 13; i++) yield new Uint8Array(250_000)
    },
  }
  await pump(scan, exporter, { write: async () => {} }, progress)
  expect(counts.mostHeld).toBeLessThanOrEqual(2)
  expect(counts.batchReleases).toBe(40)
})

test('a batch whose text is large is encoded at the pace of the sink', async () => {
  const { scan, progress } = await prepared({ batches: 1, batchBytes: 8 })
  let made = 0
  let written = 0
  const exporter: Exporter = {
    ...fakeExporter('ndjson'),
    *batch() {
      for (let i = 0; i < 50; i++) {
        made++
        yield Buffer.alloc(1 << 20)
        expect(made - written).toBeLessThanOrEqual(2)
      }
    },
  }
  await pump(scan, exporter, { write: async (parts) => void (written += parts.length) }, progress)
  expect(made).toBe(50)
})

test('a batch of which no part waits is given back at once', async () => {
  const { scan, counts, progress } = await prepared({ batches: 100, batchBytes: 10 })
  let taken = 0
  const exporter: Exporter = {
    ...fakeExporter('parquet'),
    *batch() {
      if (++taken % 30 === 0) yield Buffer.alloc(1000)
    },
  }
  let bytes = 0
  await pump(
    scan,
    exporter,
    {
      async write(parts) {
        for (const part of parts) bytes += part.length
      },
    },
    progress,
  )
  expect(bytes).toBe(3002)
  // Those that gave a part are held until it is written, which is at the end here.
  expect(counts.mostHeld).toBeLessThanOrEqual(4)
  expect(counts.held).toBe(0)
})

test('a sink that fails gets no more, and everything is given back', async () => {
  const { scan, counts, progress } = await prepared({ batches: 100, batchBytes: 2 << 20 })
  let writes = 0
  const failing = {
    async write() {
      if (++writes === 3) throw new Error('no space')
    },
  }
  await expect(pump(scan, fakeExporter('csv'), failing, progress)).rejects.toThrow('no space')
  expect(writes).toBe(3)
  expect(counts.held).toBe(0)
})

test('an exporter that fails fails before the sink has seen a byte, if it was the first batch', async () => {
  const { scan, counts, progress } = await prepared({ batches: 3, batchBytes: 10 })
  let closed = false
  const exporter: Exporter = {
    ...fakeExporter('ndjson'),
    // biome-ignore lint/correctness/useYield: it fails before it has anything to give
    *batch() {
      throw new SluiceError('INVALID_UTF8', { column: 'c' })
    },
    close() {
      closed = true
    },
  }
  const sink = { write: () => Promise.reject(new Error('written')) }
  await expect(pump(scan, exporter, sink, progress)).rejects.toMatchObject({ code: 'INVALID_UTF8' })
  expect(counts.held).toBe(0)
  expect(closed).toBe(true)
})

test('an abort ends a write that never would', async () => {
  const controller = new AbortController()
  const stuck = new Writable({ write() {} })
  const sink = new StreamSink(stuck, controller.signal)
  const write = sink.write([Buffer.from('x')])
  controller.abort(new SluiceError('CANCELLED'))
  await expect(write).rejects.toMatchObject({ code: 'CANCELLED' })
  await expect(sink.write([Buffer.from('y')])).rejects.toMatchObject({ code: 'CANCELLED' })
  sink.detach()
})

test('a stream that failed between two writes fails the next', async () => {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done() })
  const sink = new StreamSink(stream)
  await sink.write([Buffer.from('x')])
  stream.destroy(new Error('gone'))
  await sleep(5)
  await expect(sink.write([Buffer.from('y')])).rejects.toThrow('gone')
})

test('nothing listens to a stream or a signal after detach', async () => {
  const controller = new AbortController()
  const stream = new Writable({ write: (_chunk, _encoding, done) => done() })
  const sink = new StreamSink(stream, controller.signal)
  for (let i = 0; i < 1000; i++) await sink.write([Buffer.from('x')])
  expect(stream.listenerCount('error')).toBe(1)
  sink.detach()
  for (const event of stream.eventNames()) expect(stream.listenerCount(event)).toBe(0)
})
