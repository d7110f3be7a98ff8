// The window over Data.db: what it takes of a memory allowance when values are larger than it.

import { closeSync, openSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAllowance, takenBytes, tryTake } from '../../../storage/bytes/allowance.ts'
import { type ChunkSource, DataWindow } from '../../../storage/bytes/window.ts'

const CHUNK = 16 * 1024
const LENGTH = 4 << 20

let folder: string
let fd: number
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-window-'))
  const file = join(folder, 'Data.db')
  writeFileSync(file, Buffer.alloc(LENGTH, 7))
  fd = openSync(file, 'r')
})
afterAll(async () => {
  closeSync(fd)
  await rm(folder, { recursive: true })
})

function windowOf(memory: ReturnType<typeof createAllowance>, maxBytes = LENGTH): DataWindow {
  const source: ChunkSource = {
    fd,
    file: 'Data.db',
    storedLength: LENGTH,
    dataLength: LENGTH,
    chunkLength: CHUNK,
    longestStored: CHUNK,
    trailer: 0,
    load: async () => {},
    chunkOffset: (chunk) => chunk * CHUNK,
    chunkSize: () => CHUNK,
    expectedCrc: () => null,
    inflate(stored, target, at) {
      target.set(stored, at)
      return undefined
    },
  }
  const options = { windowBytes: 64 * 1024, maxBytes, blockBytes: 64 * 1024 }
  return new DataWindow(source, options, { dataBytesRead: 0, dataBytesInflated: 0, chunksInflated: 0 }, memory)
}

test('ordinary reading takes nothing: its floor is counted beforehand', async () => {
  const memory = createAllowance(1 << 20)
  const window = windowOf(memory)
  while (!window.atEnd) {
    await window.fill(1000)
    window.skip(window.available)
  }
  expect(takenBytes(memory)).toBe(0)
  await window.close()
})

test('a large value takes its memory, twice while the window grows, and gives it back', async () => {
  const memory = createAllowance(8 << 20)
  const window = windowOf(memory)
  await window.fill(1 << 20)
  expect(takenBytes(memory)).toBeGreaterThan(1 << 20)
  expect(takenBytes(memory)).toBeLessThan(2.2 * (1 << 20))
  const taken = takenBytes(memory)
  window.skip(1 << 20)
  await window.fill(1 << 20)
  expect(takenBytes(memory)).toBe(taken)
  await window.close()
  expect(takenBytes(memory)).toBe(0)
})

test('a value that the allowance could never hold is refused by name, one that others leave no room for is put off', async () => {
  const memory = createAllowance(4 << 20)
  const window = windowOf(memory)
  await expect(window.fill(3 << 20)).rejects.toMatchObject({
    code: 'VALUE_TOO_LARGE',
    fields: { file: 'Data.db', offset: 0, limit: 4 << 20 },
  })
  expect(tryTake(memory, 3 << 20)).toBe(true)
  await expect(window.fill(1 << 20)).rejects.toMatchObject({ code: 'OVERLOADED' })
  expect(takenBytes(memory)).toBe(3 << 20)
  await window.close()
})

test('threads count on the same number', async () => {
  const memory = createAllowance(1 << 20)
  const copy = structuredClone(memory)
  expect(tryTake(copy, 1 << 19)).toBe(true)
  expect(takenBytes(memory)).toBe(1 << 19)
  expect(tryTake(memory, (1 << 19) + 1)).toBe(false)
  expect(tryTake(memory, 1 << 19)).toBe(true)
})
