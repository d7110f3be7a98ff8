// XXH3-128 against hash-wasm's, at every length around the borders of the algorithm and in pieces of all sizes; and its module against
// its own source.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { xxhash128 } from 'hash-wasm'
import { expect, test } from 'vitest'
import wabtInit from 'wabt'
import { createXxh3, INPUT_BYTES } from '../../../storage/bytes/xxh3.ts'

let seed = 7
function random(n: number): number {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
  return (seed >>> 8) % n
}

const noise = Buffer.from(Array.from({ length: 3 * INPUT_BYTES }, () => random(256)))

test('every length up to some blocks, in one piece', async () => {
  const lengths = [...Array(700).keys(), 1023, 1024, 1025, 2048, 2049, 2112, 65_536, INPUT_BYTES, INPUT_BYTES + 1]
  for (const length of lengths) {
    const bytes = noise.subarray(0, length)
    const hash = await createXxh3()
    hash.update(bytes)
    expect(hash.digest(), String(length)).toBe(await xxhash128(bytes))
  }
})

test('pieces of all sizes, copied and in place', async () => {
  for (let i = 0; i < 300; i++) {
    const length = random(i < 280 ? 5000 : noise.length)
    const bytes = noise.subarray(0, length)
    const hash = await createXxh3()
    for (let at = 0; at < length; ) {
      const most = [3, 70, 300, 4096, 2 * INPUT_BYTES][random(5)]
      const part = bytes.subarray(at, at + random(most))
      at += part.length
      if (random(2) === 0 || part.length > INPUT_BYTES) hash.update(part)
      else {
        hash.input.set(part)
        hash.update(hash.input.subarray(0, part.length))
      }
    }
    expect(hash.digest(), `${i}: ${length}`).toBe(await xxhash128(bytes))
  }
})

test('the module is what its source says', async () => {
  const source = (name: string) =>
    readFileSync(fileURLToPath(new URL(`../../../storage/bytes/${name}`, import.meta.url)), 'utf8')
  const wabt = await wabtInit()
  const parsed = wabt.parseWat('xxh3.wat', source('xxh3.wat'), { simd: true })
  const assembled = Buffer.from(parsed.toBinary({}).buffer).toString('base64')
  expect(source('xxh3.ts')).toContain(assembled)
})
