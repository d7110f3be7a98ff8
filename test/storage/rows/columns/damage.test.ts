// Bytes that are no value of their type end in a typed error, and no builder looks beyond the value it was given.

import { describe, expect, test } from 'vitest'
import { isSluiceError } from '../../../../storage/errors.ts'
import { createBuilder } from '../../../../storage/rows/columns/create-builder.ts'
import { type FieldOptions, fieldOf } from '../../../../storage/rows/columns/field.ts'
import type { CqlType, ScalarKind } from '../../../../storage/schema/cql-type.ts'
import { feed, feedCell, wireHex } from './feed.ts'
import { counted, prefixed, randomSource, randomType, randomValue } from './random-values.ts'

const int: CqlType = { kind: 'int' }
const list: CqlType = { kind: 'list', element: int, frozen: true }
const map: CqlType = { kind: 'map', key: int, value: int, frozen: true }
const tuple: CqlType = { kind: 'tuple', fields: [int, int] }
const one = Buffer.of(0, 0, 0, 1)

function errorOf(type: CqlType, value: Buffer | string, options: FieldOptions = {}): unknown {
  try {
    feed(createBuilder(fieldOf('col', type, options)), value)
  } catch (error) {
    return error
  }
  return undefined
}

const corrupt = (type: string) =>
  expect.objectContaining({
    code: 'CORRUPT_SSTABLE',
    fields: { column: 'col', type, reason: expect.stringMatching(/./) },
  })

describe('a wrong length', () => {
  test.each([
    ['tinyint', [2]],
    ['smallint', [1, 3]],
    ['int', [1, 3, 5, 8]],
    ['float', [3, 8]],
    ['date', [3, 8]],
    ['bigint', [4, 7, 9]],
    ['counter', [4, 16]],
    ['double', [4, 9]],
    ['time', [4, 7]],
    ['timestamp', [4, 12]],
    ['uuid', [15, 17]],
    ['timeuuid', [8, 32]],
    ['boolean', [2, 4]],
    ['inet', [1, 3, 5, 15, 17]],
    ['decimal', [1, 3, 4]],
    ['empty', [1]],
  ] as [ScalarKind, number[]][])('of %s', (kind, lengths) => {
    for (const length of lengths) expect(errorOf({ kind }, Buffer.alloc(length))).toEqual(corrupt(kind))
  })
})

describe('nested values', () => {
  test.each([
    [list, '000000', 'frozen<list<int>>'],
    [list, 'ffffffff', 'frozen<list<int>>'],
    [list, '7fffffff', 'frozen<list<int>>'],
    [list, counted([one]).subarray(0, 6).toString('hex'), 'frozen<list<int>>'],
    [list, counted([one]).subarray(0, 11).toString('hex'), 'frozen<list<int>>'],
    [list, counted([one]).toString('hex') + '00', 'frozen<list<int>>'],
    [list, counted([Buffer.alloc(3)]).toString('hex'), 'int'],
    [map, '00000001' + 'ffffffff' + '00000000', 'frozen<map<int, int>>'],
    [map, '00000001' + prefixed(one).toString('hex'), 'frozen<map<int, int>>'],
    [map, '00000001' + prefixed(one).toString('hex') + '7fffffff00', 'frozen<map<int, int>>'],
    [map, '00000000' + '00', 'frozen<map<int, int>>'],
    [map, '20000000', 'frozen<map<int, int>>'],
    [tuple, '000000', 'frozen<tuple<int, int>>'],
    [tuple, '00000004000000', 'frozen<tuple<int, int>>'],
    [tuple, 'ffffffffffffffffffffffff', 'frozen<tuple<int, int>>'],
    [{ kind: 'vector', element: int, dimension: 2 }, '0000000100000002ff', 'vector<int, 2>'],
    [{ kind: 'vector', element: int, dimension: 2 }, '00000001', 'vector<int, 2>'],
    [{ kind: 'vector', element: { kind: 'text' }, dimension: 2 }, '0161', 'vector<text, 2>'],
    [{ kind: 'vector', element: { kind: 'text' }, dimension: 2 }, '01610561', 'vector<text, 2>'],
    [{ kind: 'vector', element: { kind: 'text' }, dimension: 1 }, 'f0', 'vector<text, 1>'],
    [{ kind: 'vector', element: { kind: 'text' }, dimension: 1 }, 'ffffffffffffffffff61', 'vector<text, 1>'],
    [{ kind: 'vector', element: { kind: 'text' }, dimension: 1 }, '016100', 'vector<text, 1>'],
  ] as [CqlType, string, string][])('%j of %s', (type, value, blamed) => {
    expect(errorOf(type, value)).toEqual(corrupt(blamed))
  })

  test('an empty map key is an error by its own name, frozen or not, unless it is text or blob', () => {
    const error = expect.objectContaining({ code: 'EMPTY_MAP_KEY', fields: { column: 'col', type: 'int' } })
    const nothing = Buffer.alloc(0)
    const frozen = Buffer.concat([one, prefixed(nothing), prefixed(one)])
    expect(errorOf(map, frozen)).toEqual(error)
    expect(errorOf({ ...map, key: { kind: 'text' } } as CqlType, frozen)).toBe(undefined)
    expect(errorOf({ kind: 'tuple', fields: [map] }, prefixed(frozen))).toEqual(error)
    const builder = createBuilder(fieldOf('col', { ...map, frozen: false } as CqlType))
    builder.beginCells()
    expect(() => feedCell(builder, nothing, one)).toThrow(error)
  })

  test('UDT cells need a known field number, in order', () => {
    const type: CqlType = {
      kind: 'udt',
      keyspace: 'k',
      name: 'u',
      fieldNames: ['a', 'b'],
      fields: [int, int],
      frozen: false,
    }
    const builder = createBuilder(fieldOf('col', type))
    for (const path of [[0], [0, 2], [0, 0, 0], [1, 0], []]) {
      builder.reset()
      builder.beginCells()
      expect(() => feedCell(builder, Uint8Array.from(path), one)).toThrow(corrupt('u'))
    }
    builder.reset()
    builder.beginCells()
    feedCell(builder, Uint8Array.of(0, 1), one)
    expect(() => feedCell(builder, Uint8Array.of(0, 1), one)).toThrow(corrupt('u'))
    expect(() => feedCell(builder, Uint8Array.of(0, 0), one)).toThrow(corrupt('u'))
  })

  test('cells of a type that has none are a fault of ours', () => {
    const builder = createBuilder(fieldOf('col', int))
    for (const call of [() => builder.beginCells(), () => builder.endCells(), () => feedCell(builder, one, one)]) {
      expect(call).toThrow(expect.objectContaining({ code: 'INTERNAL' }))
    }
  })
})

test.each([
  '', // handled as empty, not as damage
  '00',
  '0000',
  '000000' + '00',
  '0000f0',
  'ff',
  'f1000000000000', // months beyond 32 bits
  '00f1ffffffff00',
  '010002', // -1 months, +1 ns
  '020100',
])('duration %s', (value) => {
  for (const duration of ['interval', 'struct', 'text'] as const) {
    const error = errorOf({ kind: 'duration' }, value, { duration })
    if (value === '') expect(error).toBe(undefined)
    else expect(error).toEqual(corrupt('duration'))
  }
})

describe('text', () => {
  const invalid = [
    '80',
    'bf',
    'c0',
    'c080',
    'c1bf',
    'c2',
    'c220',
    'e0',
    'e080',
    'e08080',
    'e09fbf',
    'eda080',
    'edbfbf',
    'e28020',
  ]
  const invalidToo = ['f0', 'f09080', 'f08fbfbf', 'f4908080', 'f5808080', 'f8888080', 'fe', 'ff', 'f09f9820', 'e282']
  const valid = ['c280', 'dfbf', 'e0a080', 'ed9fbf', 'ee8080', 'efbfbf', 'f0908080', 'f48fbfbf', '7f', '00', 'efbbbf']

  test.each([0, 1, 2, 3, 30, 93, 100, 200, 400])('is strict UTF-8 behind and before %i letters', (n) => {
    const letters = '61'.repeat(n)
    for (const sequence of [...invalid, ...invalidToo]) {
      const error = expect.objectContaining({ code: 'INVALID_UTF8', fields: { column: 'col', type: 'text' } })
      expect(errorOf({ kind: 'text' }, letters + sequence), sequence).toEqual(error)
      expect(errorOf({ kind: 'text' }, sequence + letters), sequence).toEqual(error)
      expect(errorOf({ kind: 'text' }, letters + sequence + letters), sequence).toEqual(error)
    }
    for (const sequence of valid)
      expect(errorOf({ kind: 'text' }, letters + sequence + letters), sequence).toBe(undefined)
  })

  test.each([1, 2, 3, 4, 5, 40, 97, 500])('ascii of %i bytes has no byte above 0x7f, wherever', (n) => {
    for (let at = 0; at < n; at++) {
      const value = Buffer.alloc(n, 0x7f)
      expect(errorOf({ kind: 'ascii' }, value)).toBe(undefined)
      value[at] = 0x80
      expect(errorOf({ kind: 'ascii' }, value)).toEqual(expect.objectContaining({ code: 'INVALID_UTF8' }))
    }
  })
})

test('a number too long to print is refused', () => {
  const error = errorOf({ kind: 'varint' }, Buffer.alloc(1024 * 1024 + 1, 0x55))
  expect(error).toEqual(expect.objectContaining({ code: 'VALUE_TOO_LARGE' }))
  expect(errorOf({ kind: 'varint' }, Buffer.alloc(1024 * 1024 + 1, 0xff))).toBe(undefined) // -1, padded
})

test('any damage ends in a typed error or a value, and bytes around the value do not matter', () => {
  const codes = new Map<string, number>()
  for (let seed = 1; seed <= 1500; seed++) {
    const random = randomSource(seed * 15485863)
    const type = randomType(random, 3)
    const options: FieldOptions = {
      duration: (['interval', 'struct', 'text'] as const)[seed % 3],
      decimal: seed % 5 === 0 ? { kind: 'decimal256', scale: 10 } : undefined,
    }
    const value = damage(random, randomValue(random, type))
    const outcomes = [0x00, 0x7f, 0xff].map((around) => outcomeOf(type, options, value, around))
    expect(new Set(outcomes).size, `seed ${seed}`).toBe(1)
    const code = outcomes[0].startsWith('!') ? outcomes[0].slice(1).split(' ')[0] : 'a value'
    codes.set(code, (codes.get(code) ?? 0) + 1)
  }
  const allowed = ['a value', 'CORRUPT_SSTABLE', 'EMPTY_MAP_KEY', 'INVALID_UTF8', 'VALUE_OUT_OF_RANGE']
  expect([...codes.keys()].filter((code) => !allowed.includes(code))).toEqual([])
  for (const code of ['a value', 'CORRUPT_SSTABLE']) expect(codes.get(code)).toBeGreaterThan(300)
})

function damage(random: () => number, value: Buffer): Buffer {
  const copy = Buffer.from(value.subarray(0, random() < 0.3 ? Math.floor(random() * (value.length + 1)) : value.length))
  for (let n = Math.floor(random() * 4); n > 0 && copy.length > 0; n--) {
    copy[Math.floor(random() * copy.length)] = [0, 0xff, 0x7f, 0x80, Math.floor(random() * 256)][
      Math.floor(random() * 5)
    ]
  }
  return random() < 0.1 ? Buffer.concat([copy, Buffer.of(Math.floor(random() * 256))]) : copy
}

function outcomeOf(type: CqlType, options: FieldOptions, value: Buffer, around: number): string {
  const bytes = new Uint8Array(value.length + 24).fill(around)
  bytes.set(value, 12)
  const builder = createBuilder(fieldOf('col', type, options))
  try {
    builder.append(bytes, new DataView(bytes.buffer), 12, value.length)
    return String(wireHex(builder.finish(), 0))
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return `!${error.code} ${error.message}`
  }
}
