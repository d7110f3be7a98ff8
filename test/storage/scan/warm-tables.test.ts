// Tables that stay open for a while: the same files are not opened anew, and whatever is different on the disk is noticed. The SSTables
// are real ones.

import { cp, mkdtemp, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Catalog } from '../../../storage/scan/catalog.ts'
import type { PinnedTable } from '../../../storage/scan/pinned-table.ts'
import { WARM_MS } from '../../../storage/scan/warm-tables.ts'
import { SAMPLE_DATA } from '../../corpus/sample.ts'

let data: string
let directory: string
let catalog: Catalog
const folders: string[] = []

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'sluice-warm-'))
  folders.push(data)
  await cp(SAMPLE_DATA, data, { recursive: true })
  const shop = join(data, 'shop')
  directory = join(shop, (await readdir(shop)).find((name) => name.startsWith('orders-'))!)
  catalog = await Catalog.open({ data: [data] })
})
afterEach(() => catalog.close())
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true })
})

/** Pins, releases at once, and gives what it got: warm if it is open still. */
async function look(): Promise<PinnedTable> {
  const pinned = await catalog.pin('shop', 'orders')
  await pinned.release()
  return pinned
}

const isOpen = ({ sstables }: PinnedTable) => sstables.every(({ closed }) => !closed)

async function componentsOf(prefix: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name.startsWith(prefix))
}

test('who asks again gets the same open files', async () => {
  const first = await look()
  expect(first.sstables).toHaveLength(3)
  expect(isOpen(first)).toBe(true)
  expect(await look()).toBe(first)
})

test('an SSTable that came is seen', async () => {
  const [prefix] = (await look()).sstables.map(({ descriptor }) => descriptor.prefix)
  const other = prefix.replace(/-[^-]+-/, '-3h00_0000_000004gr1c1ypzkj88-')
  for (const name of await componentsOf(prefix)) {
    await cp(join(directory, name), join(directory, name.replace(prefix, other)))
  }
  expect((await look()).sstables).toHaveLength(4)
})

test('an SSTable that went is seen, and its files are closed', async () => {
  const first = await look()
  for (const name of await componentsOf(first.sstables[0].descriptor.prefix)) await rm(join(directory, name))
  expect((await look()).sstables).toHaveLength(2)
  expect(first.sstables.every(({ closed }) => closed)).toBe(true)
})

test('another file under the same name is seen', async () => {
  const first = await look()
  const { file } = first.sstables[0]
  await cp(file, join(data, 'copy'))
  await rename(join(data, 'copy'), file)
  const second = await look()
  expect(second).not.toBe(first)
  // The same file, written to.
  await utimes(file, new Date(), new Date())
  expect(await look()).not.toBe(second)
})

test('with a transaction log about, nothing is taken for granted', async () => {
  const first = await look()
  await writeFile(join(directory, 'da_txn_compaction_5f2ab6a0-2002-11ef-9a3b-6f2d5b0a0001.log'), '')
  const second = await look()
  expect(second).not.toBe(first)
  expect(isOpen(second)).toBe(false)
  expect(await look()).not.toBe(second)
})

test('files are closed a while after the last request, and with the catalog; not under a reader', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const first = await look()
    vi.advanceTimersByTime(WARM_MS - 1)
    expect(await look()).toBe(first) // counts anew
    vi.advanceTimersByTime(WARM_MS - 1)
    expect(isOpen(first)).toBe(true)
    const reader = await catalog.pin('shop', 'orders')
    vi.advanceTimersByTime(WARM_MS)
    expect(isOpen(first)).toBe(true)
    await reader.release()
    expect(isOpen(first)).toBe(false)

    const second = await look()
    expect(second).not.toBe(first)
    expect(isOpen(second)).toBe(true)
    await catalog.close()
    expect(isOpen(second)).toBe(false)
  } finally {
    vi.useRealTimers()
  }
})

test('a schema that changed makes another table of the same files', async () => {
  const first = await look()
  const system = join(data, 'system_schema')
  const columns = (await readdir(system)).find((name) => name.startsWith('columns-'))!
  await writeFile(join(system, columns, 'another-file'), '')
  expect((await look()).schema).not.toBe(first.schema)
})
