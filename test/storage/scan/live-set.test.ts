// Which SSTables count, and that the set opened is never a mix: transaction logs at every stage of a compaction, logs and files that
// come and go while the set is opened, snapshots and backups. The SSTables are real ones; compactions are played with their files.

import { appendFile, cp, link, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { Catalog } from '../../../storage/scan/catalog.ts'
import { listLive, openLive } from '../../../storage/scan/live-set.ts'
import { recordChecksum } from '../../../storage/sstable/transaction-log.ts'
import { SAMPLE_DATA } from '../../corpus/sample.ts'

const LOG = 'da_txn_compaction_5f2ab6a0-2002-11ef-9a3b-6f2d5b0a0001.log'

let orders: string
let folder: string
/** Prefixes of the three SSTables of the sample's orders, in order of age. */
let prefixes: string[]

beforeAll(async () => {
  const shop = join(SAMPLE_DATA, 'shop')
  orders = (await readdir(shop)).find((name) => name.startsWith('orders-'))!
  const names = await readdir(join(shop, orders))
  prefixes = names
    .filter((n) => n.endsWith('-Data.db'))
    .map((n) => n.slice(0, -'Data.db'.length))
    .sort()
})

const folders: string[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-live-'))
  folders.push(folder)
  await cp(join(SAMPLE_DATA, 'shop', orders), folder, { recursive: true })
})
afterAll(async () => {
  for (const path of folders) await rm(path, { recursive: true })
})

function record(kind: string, prefix = '', files = 0): string {
  const path = prefix === '' ? '' : `/var/lib/cassandra/data/shop/${orders}/${prefix}`
  const time = prefix === '' ? 0n : 1_717_200_000_000n
  return `${kind}:[${path},${time},${files}][${recordChecksum(kind, path, time, files)}]\n`
}

async function live(): Promise<string[]> {
  return (await listLive(folder)).map(({ descriptor }) => descriptor.prefix).sort()
}

async function componentsOf(prefix: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith(prefix))
}

test('without a log all SSTables count, oldest first', async () => {
  expect(prefixes).toHaveLength(3)
  const opened = await openLive([folder])
  expect(opened.map(({ descriptor }) => descriptor.prefix)).toEqual(prefixes)
  for (const sstable of opened) sstable.close()
  expect(opened.every(({ closed }) => closed)).toBe(true)
})

describe('a compaction of the first two SSTables into the third', () => {
  const removed = () => record('REMOVE', prefixes[0], 8) + record('REMOVE', prefixes[1], 8)

  test('under way: the new one does not count', async () => {
    await writeFile(join(folder, LOG), record('ADD', prefixes[2]))
    expect(await live()).toEqual(prefixes.slice(0, 2))
    await appendFile(join(folder, LOG), removed())
    expect(await live()).toEqual(prefixes.slice(0, 2))
  })

  test('committed: the old ones do not', async () => {
    await writeFile(join(folder, LOG), record('ADD', prefixes[2]) + removed() + record('COMMIT'))
    expect(await live()).toEqual([prefixes[2]])
  })

  test('aborted: the new one does not', async () => {
    await writeFile(join(folder, LOG), record('ADD', prefixes[2]) + removed() + record('ABORT'))
    expect(await live()).toEqual(prefixes.slice(0, 2))
  })

  test('committed, with some files of the old ones gone: they are not missed', async () => {
    await writeFile(join(folder, LOG), record('ADD', prefixes[2]) + removed() + record('COMMIT'))
    for (const name of (await componentsOf(prefixes[0])).slice(0, 3)) await rm(join(folder, name))
    const opened = await openLive([folder])
    expect(opened.map(({ descriptor }) => descriptor.prefix)).toEqual([prefixes[2]])
    for (const sstable of opened) sstable.close()
  })

  test('a last record cut off while written does not count', async () => {
    await writeFile(join(folder, LOG), record('ADD', prefixes[2]) + removed() + record('COMMIT').slice(0, -8))
    expect(await live()).toEqual(prefixes.slice(0, 2))
  })

  test('a damaged record before the last is refused by name', async () => {
    await writeFile(join(folder, LOG), record('ADD', prefixes[2]).replace('1717200', '1717201') + removed())
    await expect(openLive([folder])).rejects.toMatchObject({
      code: 'CORRUPT_SSTABLE',
      fields: { file: join(folder, LOG) },
    })
  })
})

test('files that are gone without a log are damage, said by name', async () => {
  await rm(join(folder, `${prefixes[1]}Statistics.db`))
  await expect(openLive([folder])).rejects.toMatchObject({
    code: 'MISSING_COMPONENT',
    fields: { file: join(folder, `${prefixes[1]}Statistics.db`) },
  })
})

test('a set that changes all the time is given up by name', async () => {
  let n = 0
  const timer = setInterval(() => void writeFile(join(folder, `da-${++n}-bti-Data.db`), '').catch(() => {}), 1)
  try {
    await expect(openLive([folder])).rejects.toMatchObject({
      code: expect.stringMatching(/^(DATA_DIRECTORY|MISSING_COMPONENT)$/),
    })
  } finally {
    clearInterval(timer)
  }
})

/**
 * A table of one node with two data directories: the old SSTables lie in one, the new one in the other, as a compaction that
 * moves data between disks leaves it. Each has its copy of the log.
 */
async function twoDisks(): Promise<{ first: string; second: string }> {
  const first = folder
  const second = join(folder, 'second')
  await mkdir(second)
  for (const name of await componentsOf(prefixes[2])) {
    await cp(join(first, name), join(second, name))
    await rm(join(first, name))
  }
  return { first, second }
}

test('a commit between the reading of two directories is never seen by halves', async () => {
  const { first, second } = await twoDisks()
  const text = record('ADD', prefixes[2]) + record('REMOVE', prefixes[0], 8) + record('REMOVE', prefixes[1], 8)
  const log = (directory: string) => join(directory, LOG)
  for (let round = 0; round < 40; round++) {
    await writeFile(log(first), text)
    await writeFile(log(second), text)
    const opening = openLive([first, second])
    await new Promise((resolve) => setTimeout(resolve, round % 8))
    await appendFile(log(first), record('COMMIT'))
    await appendFile(log(second), record('COMMIT'))
    const opened = await opening
    const got = opened.map(({ descriptor }) => descriptor.prefix)
    for (const sstable of opened) sstable.close()
    expect([prefixes.slice(0, 2), [prefixes[2]]]).toContainEqual(got)
  }
})

test('of two copies of a log the fuller tells for both', async () => {
  const { first, second } = await twoDisks()
  const text = record('ADD', prefixes[2]) + record('REMOVE', prefixes[0], 8) + record('REMOVE', prefixes[1], 8)
  const got = async () => {
    const opened = await openLive([first, second])
    for (const sstable of opened) sstable.close()
    return opened.map(({ descriptor }) => descriptor.prefix)
  }
  await writeFile(join(first, LOG), text + record('COMMIT'))
  await writeFile(join(second, LOG), text + record('COMMIT').slice(0, 9))
  expect(await got()).toEqual([prefixes[2]])
  // Cut off in both: what is to be removed is looked for in all directories of the transaction.
  await writeFile(join(first, LOG), text + record('COMMIT').slice(0, 9))
  expect(await got()).toEqual(prefixes.slice(0, 2))
})

test('compactions that come and go while the set is opened give the old set or the new one', async () => {
  // The three of the sample by turns: [0, 1] is replaced by [2] and back, by hard links, as fast as they can be opened.
  const store = await mkdtemp(join(tmpdir(), 'sluice-store-'))
  folders.push(store)
  await cp(folder, store, { recursive: true })
  const files = await readdir(store)
  for (const name of files) if (name.startsWith(prefixes[2])) await rm(join(folder, name))
  const replace = async (old: string[], fresh: string[], n: number) => {
    const log = join(folder, LOG.replace('5f2ab6a0', `5f2ab6${n.toString(16).padStart(2, '0')}`))
    await writeFile(log, fresh.map((p) => record('ADD', p)).join(''))
    const of = (list: string[]) => files.filter((name) => list.some((p) => name.startsWith(p)))
    for (const name of of(fresh)) await link(join(store, name), join(folder, name))
    await appendFile(log, old.map((p) => record('REMOVE', p, 8)).join('') + record('COMMIT'))
    await new Promise((resolve) => setTimeout(resolve, 3))
    for (const name of of(old)) await rm(join(folder, name))
    await rm(log)
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
  let stop = false
  const compacting = (async () => {
    const [a, b] = [prefixes.slice(0, 2), prefixes.slice(2)]
    for (let n = 0; !stop; n = (n + 2) % 256) {
      await replace(a, b, n)
      await replace(b, a, n + 1)
    }
  })()
  const seen = new Set<string>()
  try {
    for (let round = 0; round < 60; round++) {
      const opened = await openLive([folder])
      const got = opened.map(({ descriptor }) => descriptor.prefix)
      for (const sstable of opened) sstable.close()
      expect([prefixes.slice(0, 2), prefixes.slice(2)]).toContainEqual(got)
      seen.add(got.join())
    }
  } finally {
    stop = true
    await compacting
  }
  expect(seen.size).toBe(2)
})

describe('snapshots and backups', () => {
  let data: string
  let table: string
  const prefixesOf = async (options: { snapshot?: string; backups?: boolean }): Promise<string[]> => {
    const catalog = await Catalog.open({ data: [data], ...options })
    const pinned = await catalog.pin('shop', 'orders')
    const found = pinned.sstables.map(({ descriptor }) => descriptor.prefix)
    await pinned.release()
    await catalog.close()
    return found
  }

  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'sluice-snapshots-'))
    folders.push(data)
    await cp(SAMPLE_DATA, data, { recursive: true })
    table = join(data, 'shop', orders)
    // The oldest SSTable is in the snapshot alone, the newest in backups.
    const moveTo = async (directory: string, prefix: string) => {
      await mkdir(directory, { recursive: true })
      for (const name of (await readdir(table)).filter((n) => n.startsWith(prefix))) {
        await cp(join(table, name), join(directory, name))
        await rm(join(table, name))
      }
    }
    await moveTo(join(table, 'snapshots', 'monday'), prefixes[0])
    await moveTo(join(table, 'backups'), prefixes[2])
  })

  test('live files alone', async () => expect(await prefixesOf({})).toEqual([prefixes[1]]))
  test('a snapshot in their place', async () => expect(await prefixesOf({ snapshot: 'monday' })).toEqual([prefixes[0]]))
  test('backups beside them', async () => expect(await prefixesOf({ backups: true })).toEqual(prefixes.slice(1)))
  test('backups beside a snapshot', async () =>
    expect(await prefixesOf({ snapshot: 'monday', backups: true })).toEqual([prefixes[0], prefixes[2]]))
  test('a snapshot that no table has', async () =>
    expect(prefixesOf({ snapshot: 'tuesday' })).rejects.toMatchObject({ code: 'DATA_DIRECTORY' }))
})

vi.setConfig({ testTimeout: 120_000 })
