// The LZ4 module against lz4-napi's compressor, on damaged blocks, and against its own source.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { compressSync } from 'lz4-napi'
import { expect, test } from 'vitest'
import wabtInit from 'wabt'
import { decompressLz4, fitsLz4, MAX_BLOCK_BYTES } from '../../../storage/bytes/lz4-block.ts'

let seed = 1
function random(n: number): number {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
  return (seed >>> 8) % n
}

/** Bytes that repeat with a period, with noise in between: matches of every offset. */
function sample(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  const period = 1 + random(40)
  for (let i = 0; i < length; i++) {
    bytes[i] = random(10) < 8 && i >= period ? bytes[i - period] : random(4) > 0 ? 65 + random(8) : random(256)
  }
  return bytes
}

test('blocks of all kinds come back', () => {
  for (let i = 0; i < 3000; i++) {
    const bytes = sample(1 + random(i < 2990 ? 3000 : MAX_BLOCK_BYTES))
    const block = compressSync(bytes)
    expect(fitsLz4(block.length, bytes.length)).toBe(true)
    const target = Buffer.alloc(bytes.length + 20, 0xee)
    expect(decompressLz4(block, 4, target, 10, bytes.length)).toBe(true)
    expect(target.subarray(10, 10 + bytes.length).equals(bytes)).toBe(true)
    expect(target.subarray(0, 10).every((b) => b === 0xee) && target.subarray(-10).every((b) => b === 0xee)).toBe(true)
  }
})

test('noise, which a block holds as one run of literals, comes back; not where the run is cut or goes on behind the block', () => {
  for (const length of [1, 14, 15, 16, 269, 270, 271, 4096, 65_536, MAX_BLOCK_BYTES]) {
    const bytes = Buffer.from(Array.from({ length }, () => random(256)))
    const block = compressSync(bytes)
    expect(block.length - 4).toBeGreaterThan(length)
    const target = Buffer.alloc(length, 0xee)
    for (const damaged of [block.subarray(0, -1), Buffer.concat([block, Buffer.of(0)])]) {
      expect(decompressLz4(damaged, 4, target, 0, length)).toBe(false)
    }
    expect(target.every((b) => b === 0xee)).toBe(true)
    expect(decompressLz4(block, 4, target, 0, length)).toBe(true)
    expect(target.equals(bytes)).toBe(true)
  }
})

test('a block that gives another length is refused, and nothing is written', () => {
  const block = compressSync(Buffer.from('hello hello hello hello'))
  for (const length of [0, 1, 22, 24, 1000]) {
    const target = Buffer.alloc(1000, 0xee)
    expect(decompressLz4(block, 4, target, 0, length)).toBe(false)
    expect(target.every((b) => b === 0xee)).toBe(true)
  }
})

test('damaged blocks end, and give false or as many bytes as asked for', () => {
  for (let i = 0; i < 5000; i++) {
    const bytes = sample(2000)
    const block = compressSync(bytes)
    for (let k = 0; k <= random(4); k++) block[4 + random(block.length - 4)] = random(256)
    const cut = block.subarray(0, 4 + random(block.length - 3))
    const target = Buffer.alloc(2100, 0xee)
    decompressLz4(cut, 4, target, 0, 2000)
    expect(target.subarray(2000).every((b) => b === 0xee)).toBe(true)
  }
})

test('the module is what its source says', async () => {
  const source = (name: string) =>
    readFileSync(fileURLToPath(new URL(`../../../storage/bytes/${name}`, import.meta.url)), 'utf8')
  const wabt = await wabtInit()
  const parsed = wabt.parseWat('lz4-block.wat', source('lz4-block.wat'), { simd: true })
  const assembled = Buffer.from(parsed.toBinary({}).buffer).toString('base64')
  expect(source('lz4-block.ts')).toContain(assembled)
})
