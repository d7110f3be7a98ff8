// The client against a server over SSTables of a real node: everything once and in order, over connections that break, with little
// memory, stopped and gone on with.

import type { RecordBatch } from 'apache-arrow'
import { Agent } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createExporter } from '../../../exporters/formats.ts'
import type { RemoteExport, SplitState } from '../../../src/client/index.ts'
import { createExport, findExport } from '../../../src/client/index.ts'
import type { PartDigest } from '../../../src/digest-rows.ts'
import { openSource } from '../../../src/open-source.ts'
import type { SluiceServer } from '../../../src/server/create-server.ts'
import { createServer } from '../../../src/server/create-server.ts'
import type { Source } from '../../../src/source.ts'
import type { BatchSchema } from '../../../storage/rows/batch.ts'
import { SAMPLE_DATA, type SampleMeta, sampleMeta } from '../../corpus/sample.ts'
import { quiet } from '../fakes.ts'
import { arrowDigest } from './arrow-digest.ts'
import { flakyProxy } from './flaky-proxy.ts'

let meta: SampleMeta
let source: Source
let server: SluiceServer
let url: string
/** All rows of orders, in order. */
let whole: string[]

beforeAll(async () => {
  meta = await sampleMeta()
  source = await openSource({ data: [SAMPLE_DATA] })
  server = createServer({ source, createExporter, logger: quiet })
  url = await server.listen('127.0.0.1', 0)
  whole = await rowsOf((await orders({ splits: 1 })).batches())
})
afterAll(async () => {
  await server.close(0)
  await source.close()
})

const orders = (more: object = {}, base = url, dispatcher?: Agent): Promise<RemoteExport> =>
  createExport({ url: base, dispatcher }, { keyspace: 'shop', table: 'orders', now: meta.now, batch_rows: 40, ...more })

/** What the server hashes of the same rows, and what they look like. */
async function digestOfOrders(): Promise<{ digest: string; rows: number; schema: BatchSchema }> {
  const response = await fetch(`${url}/v1/keyspaces/shop/tables/orders/digest?now=${meta.now}`)
  const { digest, rows, empty_values } = (await response.json()) as PartDigest
  expect(empty_values).toBe(0)
  const pinned = await source.pin('shop', 'orders')
  const scan = await pinned.scan({ now: meta.now, limit: 0 })
  await scan.close()
  await pinned.release()
  return { digest, rows, schema: scan.schema }
}

function textsOf(batch: RecordBatch): string[] {
  return batch
    .toArray()
    .map((row: object) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)))
}

async function rowsOf(batches: AsyncIterable<RecordBatch>): Promise<string[]> {
  const rows: string[] = []
  for await (const batch of batches) rows.push(...textsOf(batch))
  return rows
}

/** Park and Miller's minimal generator: the same cuts in every run. */
function random(seed: number): () => number {
  let state = seed
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}

test('all rows, once and in order, from many splits at once', async () => {
  expect(whole.length).toBe(meta.tables['shop.orders'].rows)
  const made = await orders({ splits: 9 })
  expect(made.description.endpoints.length).toBeGreaterThan(5)
  expect(await rowsOf(made.batches({ concurrency: 5 }))).toEqual(whole)
})

test('as they come, every row is there once', async () => {
  const made = await orders({ splits: 9 })
  const rows = await rowsOf(made.batches({ concurrency: 5, ordered: false }))
  expect(rows.sort()).toEqual([...whole].sort())
})

test('less memory than a batch is enough', async () => {
  const made = await orders({ splits: 5 })
  expect(await rowsOf(made.batches({ concurrency: 5, prefetchBytes: 1 }))).toEqual(whole)
  const rows = await rowsOf(made.batches({ concurrency: 5, prefetchBytes: 1, ordered: false }))
  expect(rows.length).toBe(whole.length)
})

test('the first rows of one split, over connections that break too', async () => {
  const made = await orders({ splits: 1 })
  const proxy = await flakyProxy(Number(new URL(url).port), () => 9000)
  const dispatcher = new Agent()
  const remote = await findExport({ url: proxy.url, dispatcher }, made.id)
  for (const limit of [0, 1, 40, 333]) {
    expect(await rowsOf(made.batches({ limit }))).toEqual(whole.slice(0, limit))
    expect(await rowsOf(remote.batches({ limit }))).toEqual(whole.slice(0, limit))
  }
  expect(proxy.cuts).toBeGreaterThan(0)
  await dispatcher.destroy()
  await proxy.close()
  const several = await orders({ splits: 4 })
  await expect(rowsOf(several.batches({ limit: 5 }))).rejects.toMatchObject({ code: 'BAD_PARAMETER' })
})

test('lz4 batches are read', async () => {
  expect(await rowsOf((await orders({ splits: 3, compression: 'lz4' })).batches())).toEqual(whole)
})

test('digests are checked', async () => {
  expect(await rowsOf((await orders({ splits: 3 })).batches({ digest: true }))).toEqual(whole)
})

test('connections cut at 200 random bytes: every row once, in order', async () => {
  const next = random(20_240_601)
  const made = await orders({ splits: 4 })
  const size = whole.length * 120
  const port = Number(new URL(url).port)
  const { schema, ...atSource } = await digestOfOrders()
  expect(atSource.rows).toBe(whole.length)
  let cuts = 0
  // Positions are what resumes: batches are small beside the distances between cuts, so that each try gets on.
  for (let round = 0; cuts < 200; round++) {
    const proxy = await flakyProxy(port, () => 6000 + Math.floor(next() * (size / 8)))
    const dispatcher = new Agent()
    const remote = await findExport({ url: proxy.url, dispatcher }, made.id)
    const options = { concurrency: 3, ordered: round % 2 === 0, digest: round % 3 === 0 }
    const hash = await arrowDigest(schema)
    const rows: string[] = []
    for await (const batch of remote.batches(options)) {
      hash.add(batch)
      rows.push(...textsOf(batch))
    }
    if (options.ordered) expect(hash.finish()).toEqual(atSource)
    else expect(rows.sort()).toEqual([...whole].sort())
    cuts += proxy.cuts
    await dispatcher.destroy()
    await proxy.close()
    expect(round).toBeLessThan(100)
  }
}, 300_000)

test('a connection that breaks before any batch is given up by name', async () => {
  const made = await orders()
  const proxy = await flakyProxy(Number(new URL(url).port), () => 400)
  const dispatcher = new Agent()
  const { description } = made
  const { RemoteExport } = await import('../../../src/client/index.ts')
  const remote = new RemoteExport({ url: proxy.url, dispatcher }, description)
  let retries = 0
  const reading = rowsOf(remote.batches({ retries: 3, onRetry: () => retries++ }))
  await expect(reading).rejects.toMatchObject({ code: 'REMOTE' })
  expect(retries).toBeGreaterThanOrEqual(3)
  await dispatcher.destroy()
  await proxy.close()
})

test('stopped at any batch and gone on with, in order: the digest is that of the source', async () => {
  const { schema, ...atSource } = await digestOfOrders()
  const made = await orders({ splits: 3 })
  const hash = await arrowDigest(schema)
  const states = new Map<number, SplitState>()
  for (let most = 3; states.size < 3 || ![...states.values()].every((state) => state === 'done'); most += 2) {
    let batches = 0
    for await (const part of made.parts({ resume: states })) {
      if (part.kind === 'end') states.set(part.split, 'done')
      else {
        hash.add(part.batch())
        states.set(part.split, { position: part.position })
        if (++batches === most) break
      }
    }
  }
  expect(hash.finish()).toEqual(atSource)
})

test('stopped at any batch and gone on with from the states kept: every row once', async () => {
  const made = await orders({ splits: 4 })
  for (const stopAfter of [1, 7, 20]) {
    const states = new Map<number, SplitState>()
    const rows: string[] = []
    const read = async (most: number) => {
      let batches = 0
      for await (const part of made.parts({ ordered: false, concurrency: 3, resume: states })) {
        if (part.kind === 'end') states.set(part.split, 'done')
        else {
          rows.push(...textsOf(part.batch()))
          states.set(part.split, { position: part.position })
          if (++batches === most) break
        }
      }
    }
    await read(stopAfter)
    await read(stopAfter)
    await read(Number.POSITIVE_INFINITY)
    expect(rows.sort()).toEqual([...whole].sort())
  }
})

test('progress is told to its end', async () => {
  const made = await orders({ splits: 4 })
  let last: object = {}
  let before = 0
  const onProgress = (progress: { rows: number }) => {
    expect(progress.rows).toBeGreaterThanOrEqual(before)
    before = progress.rows
    last = { ...progress }
  }
  await rowsOf(made.batches({ onProgress }))
  const { endpoints } = made.description
  const dataBytes = endpoints.reduce((sum, { bytes }) => sum + bytes, 0)
  expect(last).toMatchObject({
    rows: whole.length,
    retries: 0,
    splits: endpoints.length,
    splitsDone: endpoints.length,
    dataBytes,
    dataBytesDone: dataBytes,
  })
})

describe('leaving', () => {
  test('an abort ends the reading with its reason', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const made = await orders({ splits: 4 })
    const reading = (async () => {
      for await (const _ of made.batches({ signal: controller.signal })) controller.abort(reason)
    })()
    await expect(reading).rejects.toBe(reason)
    await expect(rowsOf(made.batches({ signal: controller.signal }))).rejects.toBe(reason)
  })

  test('an export that is gone says so at once', async () => {
    const made = await orders({ splits: 2 })
    await made.delete()
    await made.delete()
    await expect(rowsOf(made.batches())).rejects.toMatchObject({ code: 'EXPORT_GONE' })
    await expect(findExport({ url }, made.id)).rejects.toMatchObject({ code: 'EXPORT_GONE' })
  })

  test('errors of the server are the errors here', async () => {
    await expect(orders({ columns: 'nope' })).rejects.toMatchObject({
      code: 'UNKNOWN_COLUMN',
      fields: { column: 'nope' },
    })
    await expect(orders({}, 'http://127.0.0.1:9')).rejects.toMatchObject({ code: 'REMOTE' })
  })
})
