// `sluice export --url` and `sluice serve --state` as processes: whole files in every format, killed and gone on with on both sides.

import type { ChildProcess } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tableFromIPC } from 'apache-arrow'
import { request } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PartDigest } from '../../../src/digest-rows.ts'
import { openSource } from '../../../src/open-source.ts'
import { SAMPLE_DATA, type SampleMeta, sampleMeta } from '../../corpus/sample.ts'
import { arrowDigest } from '../client/arrow-digest.ts'
import { flakyProxy } from '../client/flaky-proxy.ts'
import { until } from '../fakes.ts'
import { buildSluice, ended, sluice, startSluice } from './running.ts'

interface Serving {
  url: string
  port: number
  process: ChildProcess
}

let meta: SampleMeta
let folder: string
let server: Serving
let state: string
const started: ChildProcess[] = []

async function serve(port: number): Promise<Serving> {
  const child = startSluice([
    ...['serve', '--data', SAMPLE_DATA, '--port', String(port), '--workers', '0', '--state', state],
    ...['--log-level', 'error', '--memory', '128MiB'],
  ])
  started.push(child)
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stdout!.on('data', (part) => {
      said += part
      const match = /listens on (http:\S+)/.exec(said)
      if (match !== null) resolve(match[1])
    })
    child.stderr!.on('data', (part) => {
      said += part
    })
    child.on('exit', () => reject(new Error(`the server ended: ${said}`)))
  })
  return { url, port: Number(new URL(url).port), process: child }
}

beforeAll(async () => {
  await buildSluice()
  meta = await sampleMeta()
  folder = await mkdtemp(join(tmpdir(), 'sluice-remote-'))
  state = join(folder, 'state')
  server = await serve(0)
})
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL')
  await rm(folder, { recursive: true })
})

const exporting = (table: string, ...args: string[]) => [
  ...['export', table, '--now', String(meta.now), ...args, '--log-format', 'text'],
]
const remote = (url: string, ...args: string[]) => exporting('shop.orders', '--url', url, ...args)

async function local(...args: string[]): Promise<Buffer> {
  const { stdout, exitCode, stderr } = await sluice(...exporting('shop.orders', '--data', SAMPLE_DATA, ...args))
  expect(exitCode, stderr).toBe(0)
  return stdout
}

async function ok(args: string[]): Promise<Buffer> {
  const { stdout, exitCode, stderr } = await sluice(...args)
  expect(exitCode, stderr).toBe(0)
  return stdout
}

function rowsOf(stream: Uint8Array): string[] {
  return tableFromIPC(stream)
    .toArray()
    .map((row: object) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)))
}

/** What the rows of these streams, in order, hash to; and what the table itself does. */
async function expectDigestOfSource(streams: readonly Uint8Array[]): Promise<void> {
  const { stdout } = await sluice(
    ...['digest', 'shop.orders', '--data', SAMPLE_DATA, '--now', String(meta.now), '--format', 'json'],
  )
  const { digest, rows, empty_values } = JSON.parse(stdout.toString()) as PartDigest
  expect(empty_values).toBe(0)
  const source = await openSource({ data: [SAMPLE_DATA] })
  const pinned = await source.pin('shop', 'orders')
  const scan = await pinned.scan({ now: meta.now, limit: 0 })
  const hash = await arrowDigest(scan.schema)
  for (const stream of streams) for (const batch of tableFromIPC(stream).batches) hash.add(batch)
  expect(hash.finish()).toEqual({ digest, rows })
  await scan.close()
  await pinned.release()
  await source.close()
}

async function exportsLeft(): Promise<number> {
  const { exports } = (await (await request(`${server.url}/v1/exports`)).body.json()) as { exports: object[] }
  return exports.length
}

test.each(['ndjson', 'csv'])('%s in one file is what a local export writes', async (format) => {
  const file = join(folder, `orders.${format}`)
  await ok(remote(server.url, '-o', file, '--splits', '5'))
  expect((await readFile(file)).equals(await local('--format', format))).toBe(true)
  expect((await ok(remote(server.url, '--format', format, '--splits', '3'))).equals(await readFile(file))).toBe(true)
  expect((await readdir(folder)).filter((name) => name.includes('.splits'))).toEqual([])
  expect(await exportsLeft()).toBe(0)
})

test('an Arrow stream in one file has the same rows in the same order', async () => {
  const file = join(folder, 'orders.arrows')
  await ok(remote(server.url, '-o', file, '--splits', '6', '--batch-rows', '50'))
  expect(rowsOf(await readFile(file))).toEqual(rowsOf(await local()))
})

test('Parquet in one file is one stream', async () => {
  const file = join(folder, 'orders.parquet')
  await ok(remote(server.url, '-o', file))
  const bytes = await readFile(file)
  expect(bytes.subarray(0, 4).toString()).toBe('PAR1')
  expect(bytes.subarray(-4).toString()).toBe('PAR1')
  const { exitCode } = await sluice(...remote(server.url, '-o', file, '--splits', '3'))
  expect(exitCode).toBe(64)
})

test('a part of the table, and its first rows, are those of a local export', async () => {
  const { splits } = (await (
    await request(`${server.url}/v1/keyspaces/shop/tables/orders/splits?count=4`)
  ).body.json()) as { splits: { from: string; to: string }[] }
  const [, { from, to }] = splits
  for (const ends of [
    ['--from', from, '--to', to],
    ['--after', from],
    ['--to', to],
  ]) {
    const args = [...ends, '--format', 'ndjson']
    const found = await ok(remote(server.url, ...args, '--splits', '3'))
    expect(found.length).toBeGreaterThan(1000)
    expect(found.equals(await local(...args)), ends.join(' ')).toBe(true)
  }
  for (const format of ['ndjson', 'csv']) {
    const args = ['--limit', '17', '--from', from, '--format', format]
    expect((await ok(remote(server.url, ...args))).equals(await local(...args)), format).toBe(true)
  }
  const file = join(folder, 'first.arrows')
  await ok(remote(server.url, '-o', file, '--limit', '90', '--batch-rows', '40'))
  expect(rowsOf(await readFile(file))).toEqual(rowsOf(await local('--limit', '90')))
  expect(await exportsLeft()).toBe(0)
})

test.each(['arrows', 'arrow', 'ndjson'])('a file for each split, %s', async (format) => {
  const directory = join(folder, `per-split-${format}`)
  await ok(remote(server.url, '-o', directory, '--per-split', '--format', format, '--splits', '4'))
  const names = (await readdir(directory)).sort()
  expect(names.length).toBeGreaterThan(2)
  expect(names.every((name) => /^shop\.orders\.\d{5}\.\w+$/.test(name))).toBe(true)
  const files = await Promise.all(names.map((name) => readFile(join(directory, name))))
  if (format === 'ndjson') expect(Buffer.concat(files).equals(await local('--format', 'ndjson'))).toBe(true)
  else expect(files.flatMap(rowsOf)).toEqual(rowsOf(await local()))
})

test('a checkpoint holds while many splits come to their end at once', async () => {
  const [directory, checkpoint] = [join(folder, 'many'), join(folder, 'many.checkpoint')]
  const into = ['-o', directory, '--per-split', '--format', 'csv', '--checkpoint', checkpoint]
  await ok(remote(server.url, ...into, '--splits', '60', '--concurrency', '16'))
  expect((await readdir(directory)).length).toBeGreaterThan(20)
  expect(await readdir(folder)).not.toContain('many.checkpoint')
})

test.each([
  ['one file', ['-o', 'killed.arrows']],
  ['a file for each split', ['-o', 'killed', '--per-split']],
])('killed and gone on with, %s: every row once', async (_, [o, name, ...more]) => {
  const slow = await flakyProxy(server.port, () => undefined, 20_000)
  const checkpoint = join(folder, `${name}.checkpoint`)
  const args = [o, join(folder, name), ...more, '--splits', '3', '--batch-rows', '40', '--checkpoint', checkpoint]
  // The server's URL is a part of the checkpoint: both runs go through a proxy of the same name.
  const child = startSluice(remote(slow.url, ...args))
  started.push(child)
  const end = ended(child)
  const seen = async () => {
    const { splits } = JSON.parse(await readFile(checkpoint, 'utf8').catch(() => '{"splits":[]}'))
    return splits.length as number
  }
  let positions = 0
  const polling = setInterval(async () => {
    positions = await seen()
  }, 50)
  await until(() => positions > 0 || child.exitCode !== null, 'a checkpoint with a position')
  clearInterval(polling)
  child.kill('SIGKILL')
  const { exitCode, stderr } = await end
  expect(exitCode, stderr).toBeNull()
  slow.bytesPerSecond = Number.POSITIVE_INFINITY
  await ok(remote(slow.url, ...args))
  await slow.close()
  const path = join(folder, name)
  const paths = more.length === 0 ? [path] : (await readdir(path)).sort().map((file) => join(path, file))
  const files = await Promise.all(paths.map((file) => readFile(file)))
  expect(files.flatMap(rowsOf)).toEqual(rowsOf(await local()))
  await expectDigestOfSource(files)
  await expect(readFile(checkpoint)).rejects.toThrow()
  expect(await exportsLeft()).toBe(0)
})

test('a checkpoint of another command is refused', async () => {
  const checkpoint = join(folder, 'other.checkpoint')
  const { writeCheckpoint } = await import('../../../src/cli/checkpoint.ts')
  await writeCheckpoint(checkpoint, { url: server.url, exportId: 'x', request: {}, splits: [], sizes: [] })
  const { exitCode, stderr } = await sluice(
    ...remote(server.url, '-o', join(folder, 'other.arrows'), '--checkpoint', checkpoint),
  )
  expect(exitCode).toBe(64)
  expect(stderr).toContain('it is of another command')
})

test('the server killed and started again with --state: the client goes on, every row once', async () => {
  const slow = await flakyProxy(server.port, () => undefined, 60_000)
  const file = join(folder, 'restarted.arrows')
  const child = startSluice(remote(slow.url, '-o', file, '--splits', '3', '--batch-rows', '40'))
  started.push(child)
  const end = ended(child)
  let hasBegun = false
  const polling = setInterval(async () => {
    const names = await readdir(folder)
    if (names.includes('restarted.arrows.part')) hasBegun = (await readFile(`${file}.part`)).length > 20_000
  }, 50)
  await until(() => hasBegun || child.exitCode !== null, 'rows in the file')
  clearInterval(polling)
  server.process.removeAllListeners('exit')
  server.process.kill('SIGKILL')
  await new Promise((resolve) => server.process.once('exit', resolve))
  server = await serve(server.port)
  const { exitCode, stderr } = await end
  expect(exitCode, stderr).toBe(0)
  expect(stderr).toContain('trying again')
  await slow.close()
  expect(rowsOf(await readFile(file))).toEqual(rowsOf(await local()))
  await expectDigestOfSource([await readFile(file)])
})

test('flags of a server’s data need --url, and the other way round', async () => {
  expect((await sluice('export', 'shop.orders', '--splits', '2', '--data', SAMPLE_DATA)).exitCode).toBe(64)
  expect((await sluice('export', 'shop.orders')).exitCode).toBe(64)
  expect((await sluice(...remote(server.url, '--data', SAMPLE_DATA, '--format', 'ndjson'))).exitCode).toBe(64)
  const limited = ['--limit', '3', '-o', join(folder, 'limited.arrows')]
  expect((await sluice(...remote(server.url, ...limited, '--splits', '2'))).exitCode).toBe(64)
  expect((await sluice(...remote(server.url, ...limited, '--checkpoint', join(folder, 'c')))).exitCode).toBe(64)
})
