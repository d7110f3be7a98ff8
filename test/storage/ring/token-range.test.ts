import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { partitionerByName, tokenOf } from '../../../storage/ring/partitioner.ts'
import {
  compareToInterval,
  formatIntervals,
  intersect,
  isWholeRing,
  normalise,
  parseRangeText,
  parseTokenRange,
  type TokenInterval,
  WHOLE_RING,
} from '../../../storage/ring/token-range.ts'

const by = (name: string) => partitionerByName(`${name}Partitioner`, { kind: 'blob' })
const murmur3 = by('Murmur3')
const MIN = '-9223372036854775808'
const MAX = '9223372036854775807'
const text = (start?: string, end?: string, partitioner = murmur3) =>
  formatIntervals(partitioner, parseTokenRange(partitioner, start, end))

describe('(start, end] in normal form', () => {
  test.each([
    ['5', '9', '(5,9]'],
    ['-3', undefined, '(-3,]'],
    [undefined, '7', '(,7]'],
    ['', '', '(,]'],
    // Equal ends, the ring's minimum on either side
    ['5', '5', '(,]'],
    [MIN, MIN, '(,]'],
    [MIN, '0', '(,0]'],
    ['0', MIN, '(0,]'],
    [MIN, MAX, `(,${MAX}]`],
    // Wrapping
    ['9', '5', '(,5] (9,]'],
    ['9', MIN, '(9,]'],
    [MAX, '5', '(,5]'],
    // Nothing lies above the maximum
    [MAX, undefined, ''],
    [MAX, MIN, ''],
    [MAX, MAX, '(,]'],
  ])('%s to %s is %s', (start, end, expected) => expect(text(start, end)).toBe(expected))

  test('of Random and ByteOrdered', () => {
    const random = by('Random')
    expect(text('-1', '100', random)).toBe('(,100]')
    expect(text('100', '-1', random)).toBe('(100,]')
    expect(text('100', '0', random)).toBe('(,0] (100,]')
    expect(text(String(2n ** 127n), undefined, random)).toBe('')
    const bytes = by('ByteOrdered')
    expect(text('0a', '0A00', bytes)).toBe('(0a,0a00]')
    expect(text('0xff', '00', bytes)).toBe('(,00] (ff,]')
    expect(text('ff', undefined, bytes)).toBe('(ff,]')
  })

  test('Local has the whole table alone', () => {
    expect(isWholeRing(parseTokenRange(by('Local'), undefined, undefined))).toBe(true)
    expect(() => parseTokenRange(by('Local'), '1', undefined)).toThrow(
      expect.objectContaining({ code: 'BAD_RANGE', fields: expect.objectContaining({ parameter: 'start' }) }),
    )
  })

  test('START,END as one text', () => {
    expect(formatIntervals(murmur3, parseRangeText(murmur3, '-1, 1'))).toBe('(-1,1]')
    expect(isWholeRing(parseRangeText(murmur3, ','))).toBe(true)
    for (const bad of ['', '1', '1,2,3', 'a,b', '1,2.5']) {
      expect(() => parseRangeText(murmur3, bad)).toThrow(expect.objectContaining({ code: 'BAD_RANGE' }))
    }
  })
})

test('intervals are sorted and joined', () => {
  const parts = [
    ['7', '9'],
    ['1', '3'],
    ['3', '4'],
    ['8', '12'],
    ['20', undefined],
    ['30', '40'],
  ]
  const all = parts.flatMap(([start, end]) => parseTokenRange(murmur3, start, end))
  expect(formatIntervals(murmur3, normalise(murmur3, all))).toBe('(1,4] (7,12] (20,]')
  expect(
    isWholeRing(normalise(murmur3, [...parseTokenRange(murmur3, '5', MIN), ...parseTokenRange(murmur3, MIN, '5')])),
  ).toBe(true)
})

// A seeded generator (mulberry32): the same cases on every run.
function random(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

describe.each(['Murmur3', 'Random', 'ByteOrdered'])('the keys of a node under %s', (name) => {
  const partitioner = by(name)
  const load = async () => {
    const file = join(import.meta.dirname, `tokens.${name.toLowerCase()}.csv`)
    const lines = (await readFile(file, 'utf8')).trim().split('\n')
    return lines.map((line) => {
      const [hex, token] = line.split(',')
      const key = Uint8Array.from(Buffer.from(hex, 'hex'))
      return { key, token, words: tokenOf(partitioner, key).words }
    })
  }
  type Key = Awaited<ReturnType<typeof load>>[number]
  const held = (intervals: readonly TokenInterval[], { key, words }: Key) =>
    intervals.filter((i) => compareToInterval(partitioner, i, words, 0, key, 0, key.length) === 0).length

  test('a wrapping cover of the ring holds each key exactly once', async () => {
    const keys = await load()
    const next = random(11)
    for (let round = 0; round < 30; round++) {
      const cuts = [
        ...new Set(
          Array.from({ length: 1 + Math.floor(next() * 9) }, () => keys[Math.floor(next() * keys.length)].token),
        ),
      ]
      cuts.sort((a, b) => keys.findIndex((k) => k.token === a) - keys.findIndex((k) => k.token === b))
      const ranges = cuts.map((cut, i) => parseTokenRange(partitioner, cut, cuts[(i + 1) % cuts.length]))
      for (const key of keys) {
        expect(ranges.reduce((n, range) => n + held(range, key), 0)).toBe(1)
      }
    }
  })

  test('the end is in, the start is out', async () => {
    const keys = await load()
    for (let i = 0; i + 2 < keys.length; i++) {
      const range = parseTokenRange(partitioner, keys[i].token, keys[i + 1].token)
      expect([held(range, keys[i]), held(range, keys[i + 1]), held(range, keys[i + 2])]).toEqual([0, 1, 0])
    }
    for (const key of keys) expect(held(WHOLE_RING, key)).toBe(1)
  })

  test('an intersection holds what both hold', async () => {
    const keys = await load()
    const next = random(12)
    const pick = () => (next() < 0.1 ? undefined : keys[Math.floor(next() * keys.length)].token)
    const some = () =>
      normalise(partitioner, [
        ...parseTokenRange(partitioner, pick(), pick()),
        ...parseTokenRange(partitioner, pick(), pick()),
      ])
    for (let round = 0; round < 60; round++) {
      const a = some()
      const b = some()
      const both = intersect(partitioner, a, b)
      expect(both).toEqual(normalise(partitioner, both))
      for (const key of keys) expect(held(both, key)).toBe(held(a, key) * held(b, key))
    }
  })
})
