// `sluice verify` over whole and damaged SSTables.

import { cp, mkdtemp, open, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { verify } from '../../../src/cli/verify.ts'
import { SAMPLE_DATA } from '../../corpus/sample.ts'

let printed = ''
beforeEach(() => {
  printed = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text, ...rest) => {
    printed += text
    const done = rest.find((r) => typeof r === 'function') as (() => void) | undefined
    done?.()
    return true
  })
})
afterEach(() => {
  vi.restoreAllMocks()
})

test('whole SSTables: a line each, and no error', async () => {
  await verify('shop.orders', { data: [SAMPLE_DATA], format: 'text' })
  expect(printed.match(/checked open, digest, data, totals, index/g)).toHaveLength(3)
})

test('a flipped byte: told of its SSTable, by check and code', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-verify-'))
  try {
    await cp(SAMPLE_DATA, directory, { recursive: true })
    const table = (await readdir(join(directory, 'shop'))).find((name) => name.startsWith('orders-'))!
    const file = (await readdir(join(directory, 'shop', table))).find((name) => name.endsWith('-Data.db'))!
    const handle = await open(join(directory, 'shop', table, file), 'r+')
    const byte = Buffer.alloc(1)
    await handle.read(byte, 0, 1, 2000)
    byte[0] ^= 0x10
    await handle.write(byte, 0, 1, 2000)
    await handle.close()
    await expect(verify('shop.orders', { data: [directory], format: 'json' })).rejects.toMatchObject({
      code: 'CORRUPT_SSTABLE',
    })
    const reports = JSON.parse(printed) as { faults: { check: string; code: string }[] }[]
    expect(reports.map((r) => r.faults.map((f) => `${f.check} ${f.code}`))).toContainEqual([
      'digest CHECKSUM_MISMATCH',
      'data CHECKSUM_MISMATCH',
    ])
    expect(reports.filter((r) => r.faults.length === 0)).toHaveLength(2)
  } finally {
    await rm(directory, { recursive: true })
  }
})
