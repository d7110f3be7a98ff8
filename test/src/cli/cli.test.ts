// The command line over the bundled sample: output, exit codes, what is said on stderr.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tableFromIPC } from 'apache-arrow'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SampleMeta } from '../../corpus/sample.ts'
import { SAMPLE_DATA, sampleLines, sampleMeta } from '../../corpus/sample.ts'
import { buildSluice, ended, sluice, startSluice } from './running.ts'

const DATA = ['--data', SAMPLE_DATA]
let meta: SampleMeta
let folder: string

beforeAll(async () => {
  await buildSluice()
  meta = await sampleMeta()
  folder = await mkdtemp(join(tmpdir(), 'sluice-cli-'))
})
afterAll(() => rm(folder, { recursive: true }))

const exporting = (table: string, ...args: string[]) =>
  sluice('export', table, ...DATA, '--now', String(meta.now), ...args)

const lines = (text: Buffer) => text.toString().split('\n').slice(0, -1)

test('tables are listed', async () => {
  const { exitCode, stdout } = await sluice('tables', ...DATA)
  expect(exitCode).toBe(0)
  const names = lines(stdout)
  expect(names.filter((name) => name.startsWith('shop.'))).toEqual([
    'shop.orders',
    'shop.products',
    'shop.sensor_readings',
  ])
  const json = JSON.parse((await sluice('tables', ...DATA, '--format', 'json')).stdout.toString())
  expect(json.keyspaces.find(({ name }: { name: string }) => name === 'shop').tables).toHaveLength(3)
})

test('a schema is shown as CQL with Arrow types', async () => {
  const { exitCode, stdout } = await sluice('schema', 'shop.orders', ...DATA)
  expect(exitCode).toBe(0)
  const text = stdout.toString()
  expect(text).toContain('CREATE TABLE shop.orders (')
  expect(text).toMatch(/customer_name text STATIC, +-- string/)
  expect(text).toMatch(/order_time timestamp, +-- timestamp\[ms, tz=UTC\]/)
  expect(text).toContain('PRIMARY KEY ((customer_id), order_time, order_id)')
  expect(text).toContain('CLUSTERING ORDER BY (order_time DESC, order_id ASC)')
  expect(text).toContain('-- SSTables: 3 (da)')
})

test('NDJSON goes to standard output, and nothing else does', async () => {
  const { exitCode, stdout, stderr } = await exporting('shop.orders', '--format', 'ndjson', '--limit', '3')
  expect(exitCode).toBe(0)
  const rows = lines(stdout).map((line) => JSON.parse(line))
  const expected = (await sampleLines('shop.orders', 'ndjson')).slice(0, 3).map((line) => JSON.parse(line))
  expect(rows).toEqual(expected)
  expect(stderr).toBe('sluice: warning: unflushed writes are not exported: flush the table or read a snapshot\n')
})

test('an Arrow file is whole, has its name and nothing beside it', async () => {
  const path = join(folder, 'orders.arrow')
  const { exitCode, stdout, stderr } = await exporting('shop.orders', '-o', path, '--quiet')
  expect({ exitCode, stdout: stdout.length, stderr }).toEqual({ exitCode: 0, stdout: 0, stderr: '' })
  const bytes = await readFile(path)
  expect(bytes.subarray(0, 6).toString()).toBe('ARROW1')
  expect(tableFromIPC(bytes).numRows).toBe(meta.tables['shop.orders'].rows)
  expect((await readdir(folder)).filter((name) => name.includes('part'))).toEqual([])
})

test('the same export twice gives the same bytes', async () => {
  const [one, two] = await Promise.all([exporting('shop.orders'), exporting('shop.orders')])
  expect(one.stdout.length).toBeGreaterThan(100_000)
  expect(one.stdout.equals(two.stdout)).toBe(true)
})

test('two ranges that cover the ring give every row once', async () => {
  const args = ['--format', 'ndjson', '-q']
  const [low, high] = await Promise.all([
    exporting('shop.sensor_readings', ...args, '--range', ',-12345'),
    exporting('shop.sensor_readings', ...args, '--range', '-12345,'),
  ])
  expect(low.exitCode).toBe(0)
  const expected = await sampleLines('shop.sensor_readings', 'ndjson')
  expect([...lines(low.stdout), ...lines(high.stdout)].map((line) => JSON.parse(line))).toEqual(
    expected.map((line) => JSON.parse(line)),
  )
  expect(lines(low.stdout).length).toBeGreaterThan(100)
})

test('an empty result is a valid one', async () => {
  const arrow = await exporting('shop.orders', '--limit', '0')
  expect(tableFromIPC(arrow.stdout).numRows).toBe(0)
  expect(tableFromIPC(arrow.stdout).schema.fields.length).toBeGreaterThan(5)
  const ndjson = await exporting('shop.orders', '--limit', '0', '--format', 'ndjson')
  expect(ndjson).toMatchObject({ exitCode: 0, stdout: Buffer.alloc(0) })
})

test('counters of the scan are printed on request', async () => {
  const { stderr } = await exporting(
    'shop.orders',
    '-q',
    '--stats',
    '-o',
    join(folder, 'a.csv'),
    '--columns',
    'customer_id',
  )
  const stats = JSON.parse(stderr)
  expect(stats).toMatchObject({ rows: meta.tables['shop.orders'].rows, now: meta.now })
  expect(stats.rowsEmitted).toBe(stats.rows)
  expect(stats.dataBytesRead).toBeGreaterThan(0)
})

test.each([
  [['export', 'shop.nope'], 66, 'UNKNOWN_TABLE'],
  [['export', 'nope.orders'], 66, 'UNKNOWN_KEYSPACE'],
  [['export', 'orders'], 64, 'BAD_PARAMETER'],
  [['export', 'shop.orders', '--limit', 'x'], 64, 'BAD_PARAMETER'],
  [['export', 'shop.orders', '--now', 'x'], 64, 'BAD_PARAMETER'],
  [['export', 'shop.orders', '--format', 'xml'], 64, 'NOT_ACCEPTABLE'],
  [['export', 'shop.orders', '--range', '5'], 64, 'BAD_RANGE'],
  [['export', 'shop.orders', '--range', 'x,y'], 64, 'BAD_RANGE'],
  [['export', 'shop.orders', '--columns', 'nope'], 64, 'UNKNOWN_COLUMN'],
  [['export', 'shop.orders', '-o', '/nope/nope/x'], 73, 'CANNOT_WRITE'],
  [['schema', 'shop.nope'], 66, 'UNKNOWN_TABLE'],
  [['serve', '--port', '99999'], 64, 'BAD_PARAMETER'],
  [['serve', '--host', '203.0.113.1', '--port', '0'], 69, 'CANNOT_LISTEN'],
])('%j fails in one line', async (args, exitCode, code) => {
  const result = await sluice(...args, ...DATA)
  expect(result.exitCode).toBe(exitCode)
  expect(result.stdout.length).toBe(0)
  const told = result.stderr.split('\n').filter((line) => line !== '' && !line.includes('warning:'))
  expect(told).toEqual([expect.stringMatching(new RegExp(`^sluice: ${code}: `))])
})

test('errors come as JSON where that is asked for', async () => {
  const { stderr } = await sluice('export', 'shop.nope', ...DATA, '--log-format', 'json')
  expect(JSON.parse(stderr)).toMatchObject({ level: 'error', code: 'UNKNOWN_TABLE', fields: { table: 'nope' } })
})

test.each([[[]], [['frobnicate']], [['export']], [['tables']], [['export', 'a.b', '--data', 'x', '--bogus']]])(
  'the command line %j is refused with 64',
  async (args) => {
    const { exitCode, stderr, stdout } = await sluice(...args)
    expect({ exitCode, stdout: stdout.length }).toEqual({ exitCode: 64, stdout: 0 })
    expect(stderr).not.toContain('    at ')
  },
)

test('help and version are no failures', async () => {
  for (const args of [['--help'], ['--version'], ['export', '--help']]) {
    expect((await sluice(...args)).exitCode).toBe(0)
  }
})

test('a data directory that is not there, is empty, or is a file', async () => {
  const file = join(folder, 'file')
  await writeFile(file, '')
  for (const path of [join(folder, 'nope'), await mkdtemp(join(folder, 'empty-')), file]) {
    const { exitCode, stderr } = await sluice('tables', '--data', path)
    expect(exitCode).toBe(66)
    expect(stderr).toContain('DATA_DIRECTORY')
  }
})

test('a reader that has enough ends the export quietly', async () => {
  const child = startSluice(['export', 'shop.sensor_readings', ...DATA, '--format', 'ndjson', '-q'])
  const result = ended(child)
  child.stdout!.once('data', () => child.stdout!.destroy())
  expect(await result).toMatchObject({ exitCode: 0, stderr: '' })
})

test('an interrupt ends an export that waits for its reader', async () => {
  const child = startSluice(['export', 'shop.sensor_readings', ...DATA, '--format', 'ndjson', '-q'])
  await new Promise((resolve) => child.stdout!.once('readable', resolve))
  child.kill('SIGINT')
  await new Promise((resolve) => child.once('exit', resolve))
  expect(child.exitCode).toBe(130)
})

test('a server starts, answers, and ends on a signal', async () => {
  const child = startSluice(['serve', ...DATA, '--port', '0', '--log-level', 'warn'])
  const result = ended(child)
  const hello = await new Promise<string>((resolve) => child.stdout!.once('data', (part) => resolve(String(part))))
  const url = /http:\S+/.exec(hello)![0]
  const response = await fetch(`${url}/v1/keyspaces/shop/tables/orders/rows.ndjson?now=${meta.now}`)
  expect((await response.text()).split('\n')).toHaveLength(meta.tables['shop.orders'].rows + 1)
  child.kill('SIGTERM')
  expect(await result).toMatchObject({ exitCode: 0, stderr: '' })
})
