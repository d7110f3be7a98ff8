import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { compareUnsigned, partitionerByName, tokenOf } from '../../../storage/ring/partitioner.ts'
import {
  behindPartition,
  behindRow,
  type ComparePrefixes,
  comparePartitionToPosition,
  comparePositions,
  decodePosition,
  encodePosition,
  isInsidePartition,
  keyPosition,
  type Position,
} from '../../../storage/ring/position.ts'

const NAMES = ['Murmur3', 'Random', 'ByteOrdered', 'Local'] as const
const by = (name: string) => partitionerByName(`${name}Partitioner`, { kind: 'blob' })
const bytes = (...values: number[]) => Uint8Array.from(values)

const byBytes: ComparePrefixes = (a, b) => {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const x = a[i]
    const y = b[i]
    if (x === null || y === null) {
      if (x !== y) return x === null ? -1 : 1
      continue
    }
    const order = compareUnsigned(x, 0, x.length, y, 0, y.length)
    if (order !== 0) return order
  }
  return 0
}

async function keys(name: string): Promise<Uint8Array[]> {
  const from = name === 'Local' ? 'byteordered' : name.toLowerCase()
  const text = await readFile(join(import.meta.dirname, `tokens.${from}.csv`), 'utf8')
  const lines = text.trim().split('\n')
  return lines.map((line) => Uint8Array.from(Buffer.from(line.split(',')[0], 'hex')))
}

/** All places around some partitions, in their order by definition. */
async function ladder(name: string): Promise<Position[]> {
  const partitioner = by(name)
  const places: Position[] = []
  if (name !== 'Local') places.push({ kind: 'token', token: partitioner.minimum })
  for (const key of (await keys(name)).slice(0, 20)) {
    places.push(keyPosition(partitioner, key, [], false))
    for (const value of [null, bytes(), bytes(1), bytes(1, 0), bytes(2)]) {
      places.push(keyPosition(partitioner, key, [value], false))
      for (const second of [null, bytes(7), bytes(200)]) {
        places.push(keyPosition(partitioner, key, [value, second], false))
        places.push(behindRow(partitioner, key, [value, second]))
      }
      places.push(keyPosition(partitioner, key, [value], true))
    }
    places.push(behindPartition(partitioner, key))
    if (name !== 'Local') places.push({ kind: 'token', token: tokenOf(partitioner, key) })
  }
  return places
}

describe.each(NAMES)('positions under %s', (name) => {
  const partitioner = by(name)

  test('are totally ordered', async () => {
    const places = await ladder(name)
    const wrong = places.flatMap((a, i) =>
      places.flatMap((b, j) =>
        Math.sign(comparePositions(partitioner, byBytes, a, b)) === Math.sign(i - j) ? [] : [[a, b]],
      ),
    )
    expect(places.length).toBeGreaterThan(500)
    expect(wrong).toEqual([])
  })

  test('stand to partitions as they do to the places just before and behind them', async () => {
    const places = await ladder(name)
    for (const key of (await keys(name)).slice(0, 21)) {
      const { words } = tokenOf(partitioner, key)
      for (const place of places) {
        const before = comparePositions(partitioner, byBytes, keyPosition(partitioner, key, [], false), place)
        const behind = comparePositions(partitioner, byBytes, behindPartition(partitioner, key), place)
        const side = comparePartitionToPosition(partitioner, words, 0, key, 0, key.length, place)
        expect(side).toBe(behind <= 0 ? -1 : before >= 0 ? 1 : 0)
        if (side === 0) expect(isInsidePartition(place)).toBe(true)
      }
    }
  })

  test('survive as text', async () => {
    for (const place of await ladder(name)) {
      const text = encodePosition(partitioner, 'ks.t', place)
      expect(text).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(decodePosition(partitioner, 'ks.t', 2, text)).toEqual(place)
    }
  })
})

describe('a position text', () => {
  const murmur3 = by('Murmur3')
  const place = behindRow(murmur3, bytes(0, 0, 0, 1), [bytes(1, 2, 3), null])
  const text = encodePosition(murmur3, 'ks.t', place)
  const refused = expect.objectContaining({ code: 'BAD_POSITION' })

  test('stays the same between releases', () => {
    expect(text).toBe('AQECAAQAAAABAQADAQIDANJ_sOs')
  })

  test('changed in any character, cut or extended is refused', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    for (let i = 0; i < text.length; i++) {
      for (const c of `${alphabet}=+/ é`) {
        if (c === text[i]) continue
        expect(() => decodePosition(murmur3, 'ks.t', 2, text.slice(0, i) + c + text.slice(i + 1))).toThrow(refused)
      }
      expect(() => decodePosition(murmur3, 'ks.t', 2, text.slice(0, i))).toThrow(refused)
    }
    expect(() => decodePosition(murmur3, 'ks.t', 2, `${text}A`)).toThrow(refused)
    expect(() => decodePosition(murmur3, 'ks.t', 2, 'A'.repeat(5_000_000))).toThrow(refused)
  })

  test('of another table, partitioner or clustering is refused', () => {
    expect(() => decodePosition(murmur3, 'ks.u', 2, text)).toThrow(refused)
    expect(() => decodePosition(by('Random'), 'ks.t', 2, text)).toThrow(refused)
    expect(() => decodePosition(murmur3, 'ks.t', 1, text)).toThrow(refused)
  })
})
