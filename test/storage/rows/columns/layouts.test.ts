// The exact bytes of Arrow's physical layouts, written out by hand from the Arrow columnar format.

import { describe, expect, test } from 'vitest'
import type { Vector } from '../../../../storage/rows/batch.ts'
import { createBuilder } from '../../../../storage/rows/columns/create-builder.ts'
import { type FieldOptions, fieldOf } from '../../../../storage/rows/columns/field.ts'
import type { CqlType, ScalarKind } from '../../../../storage/schema/cql-type.ts'
import { feed } from './feed.ts'

const scalar = (kind: ScalarKind): CqlType => ({ kind })

function build(type: CqlType, values: (string | null)[], options: FieldOptions = {}): Vector {
  const builder = createBuilder(fieldOf('c', type, options))
  for (const value of values) feed(builder, value)
  expect(builder.length).toBe(values.length)
  const vector = builder.finish()
  expect(builder.byteLength()).toBe(bytesOf(vector))
  return vector
}

function bytesOf(vector: Vector): number {
  const own = [vector.validity, vector.empty, vector.offsets, vector.values]
  const inner = vector.children.reduce((sum, child) => sum + bytesOf(child), 0)
  return own.reduce((sum, buffer) => sum + (buffer?.byteLength ?? 0), inner)
}

const hex = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString('hex'))

describe('fixed-width values are little-endian', () => {
  test.each([
    ['tinyint', '80', 'int8', '80'],
    ['smallint', '0102', 'int16', '0201'],
    ['int', '01020304', 'int32', '04030201'],
    ['bigint', '0102030405060708', 'int64', '0807060504030201'],
    ['counter', 'fffffffffffffffe', 'int64', 'feffffffffffffff'],
    ['float', '7fa00001', 'float32', '0100a07f'], // a signalling NaN with a payload
    ['double', 'fff0000000000001', 'float64', '010000000000f0ff'],
    ['date', '80000000', 'date32', '00000000'], // 1970-01-01
    ['date', '00000000', 'date32', '00000080'],
    ['date', '7fffffff', 'date32', 'ffffffff'], // the day before
    ['time', '00004e94914effff', 'time64ns', 'ffff4e91944e0000'],
    ['timestamp', '8000000000000000', 'timestamp_ms', '0000000000000080'],
    ['uuid', '00112233445566778899aabbccddeeff', 'uuid', '00112233445566778899aabbccddeeff'],
    ['timeuuid', '138140001dd211b27f7f7f7f7f7f7f7f', 'uuid', '138140001dd211b27f7f7f7f7f7f7f7f'],
  ] as [ScalarKind, string, string, string][])('%s %s', (kind, value, layout, bytes) => {
    const vector = build(scalar(kind), [value, null, value])
    expect(vector.field.layout.kind).toBe(layout)
    expect(hex(vector.values)).toBe(bytes + '00'.repeat(bytes.length / 2) + bytes)
    expect(hex(vector.validity)).toBe('05')
    expect(vector.nullCount).toBe(1)
    expect(vector.empty).toBe(null)
  })
})

test('boolean is bit-packed and any byte but 0 is true', () => {
  const vector = build(scalar('boolean'), ['01', '00', null, 'ff', '02', '00', '00', '00', '80'])
  expect(hex(vector.values)).toBe('1901')
  expect(hex(vector.validity)).toBe('fb01')
})

test('without a null there is no validity bitmap', () => {
  expect(build(scalar('int'), ['00000001', '00000002']).validity).toBe(null)
})

test('an empty value is null with its bit in the empty bitmap', () => {
  const vector = build(scalar('int'), ['', null, '00000007'])
  expect(hex(vector.validity)).toBe('04')
  expect(hex(vector.empty)).toBe('01')
  expect(hex(vector.values)).toBe('000000000000000007000000')
  expect(vector.nullCount).toBe(2)
})

test.each(['text', 'ascii', 'blob'] as ScalarKind[])('a zero-length %s is an ordinary value', (kind) => {
  const vector = build(scalar(kind), ['', null, '6162', ''])
  expect([...vector.offsets!]).toEqual([0, 0, 0, 2, 2])
  expect(hex(vector.values)).toBe('6162')
  expect(hex(vector.validity)).toBe('0d')
  expect(vector.empty).toBe(null)
})

test('text of every length keeps its bytes, ASCII and not', () => {
  const texts: string[] = []
  for (let n = 0; n < 420; n++) texts.push('abcdefghij'.repeat(42).slice(0, n), 'a'.repeat(n) + 'é€😀')
  const vector = build(
    scalar('text'),
    texts.map((text) => Buffer.from(text).toString('hex')),
  )
  const found = texts.map((_, i) =>
    Buffer.from(vector.values.subarray(vector.offsets![i], vector.offsets![i + 1])).toString(),
  )
  expect(found).toEqual(texts)
})

test('a type known by its class alone is binary', () => {
  const vector = build({ kind: 'custom', className: 'a.B' }, ['00ff', ''])
  expect(vector.field.layout.kind).toBe('binary')
  expect([...vector.offsets!]).toEqual([0, 2, 2])
  expect(vector.empty).toBe(null)
})

test('EmptyType has no values and no validity', () => {
  const vector = build(scalar('empty'), ['', null])
  expect(vector).toMatchObject({ length: 2, nullCount: 2, validity: null, offsets: null })
  expect(vector.field.layout.kind).toBe('null')
  expect(hex(vector.empty)).toBe('01')
})

describe('duration', () => {
  const value = '1c32fc2168cdf9d664' // 1y2mo 25d 5h6m7s8ms9us10ns
  const days = 25
  const nanos = (5 * 3600 + 6 * 60 + 7) * 1e9 + 8_009_010

  test('is a MonthDayNano interval', () => {
    const { values, field } = build(scalar('duration'), [value])
    expect(field.layout.kind).toBe('interval')
    const view = new DataView(values.buffer)
    expect([view.getInt32(0, true), view.getInt32(4, true), view.getBigInt64(8, true)]).toEqual([
      14,
      days,
      BigInt(nanos),
    ])
  })

  test('or a struct', () => {
    const vector = build(scalar('duration'), [value, null, ''], { duration: 'struct' })
    expect(vector.field.children.map((f) => `${f.name}:${f.layout.kind}`)).toEqual([
      'months:int32',
      'days:int32',
      'nanoseconds:int64',
    ])
    expect(hex(vector.validity)).toBe('01')
    expect(hex(vector.empty)).toBe('04')
    expect(vector.children.map((child) => child.nullCount)).toEqual([2, 2, 2])
    expect(new DataView(vector.children[2].values.buffer).getBigInt64(0, true)).toBe(BigInt(nanos))
  })

  test.each([
    ['000000', ''],
    ['1c32fc2168cdf9d664', '1y2mo25d5h6m7s8ms9us10ns'],
    ['010305', '-1mo2d3ns'],
    ['f0ffffffff0000', '-178956970y8mo'], // -2^31 months, which Cassandra prints as "-"
    ['0000ffffffffffffffffff', '-2562047h47m16s854ms775us808ns'], // -2^63 ns, likewise
  ])('or text: %s is "%s"', (bytes, text) => {
    const vector = build(scalar('duration'), [bytes], { duration: 'text' })
    expect(Buffer.from(vector.values).toString()).toBe(text)
  })
})

describe('decimals', () => {
  const decimal = (scale: number, unscaled: string): string => (scale >>> 0).toString(16).padStart(8, '0') + unscaled

  test.each([
    [2, decimal(1, '0f'), 150n],
    [2, decimal(4, '2710'), 100n],
    [2, decimal(-3, 'ff'), -100_000n],
    [0, decimal(-37, '01'), 10n ** 37n],
    [5, decimal(0x7fffffff, '00'), 0n],
    [5, decimal(-0x80000000, '00'), 0n],
    [0, decimal(0, '4b3b4ca85a86c47a098a223fffffffff'), 10n ** 38n - 1n],
    [0, decimal(0, 'b4c4b357a5793b85f675ddc000000001'), 1n - 10n ** 38n],
    [3, decimal(0, '0000000000000000000000000000000000000000000005'), 5000n],
    [3, decimal(17, '016345785d8a0000'), 1000n],
  ] as [number, string, bigint][])('decimal128 of scale %i: %s', (scale, value, expected) => {
    const vector = build(scalar('decimal'), [value, null], { decimal: { kind: 'decimal128', scale } })
    expect(vector.field.layout).toEqual({ kind: 'decimal128', precision: 38, scale })
    const view = new DataView(vector.values.buffer)
    expect((view.getBigInt64(8, true) << 64n) | view.getBigUint64(0, true)).toBe(expected)
    expect(hex(vector.values.subarray(16))).toBe('00'.repeat(16))
  })

  test('decimal256, and varint with scale 0', () => {
    const options: FieldOptions = { decimal: { kind: 'decimal256', scale: 7 } }
    const vector = build(scalar('varint'), ['fe', '7f'.repeat(31)], options)
    expect(vector.field.layout).toEqual({ kind: 'decimal256', precision: 76, scale: 0 })
    expect(hex(vector.values)).toBe(`fe${'ff'.repeat(31)}${'7f'.repeat(31)}00`)
  })

  test.each([
    ['decimal', decimal(0, '4b3b4ca85a86c47a098a224000000000'), '100000000000000000000000000000000000000'],
    ['decimal', decimal(3, '01'), '0.001'],
    ['decimal', decimal(0x7fffffff, '01'), '1E-2147483647'],
    ['decimal', decimal(-0x80000000, '01'), '1E+2147483648'],
    ['decimal', decimal(19, '0a3456789012345678'), '18.8238775035240928888'],
    ['varint', '7fffffffffffffffffffffffffffffffff', String(2n ** 135n - 1n)],
  ] as [ScalarKind, string, string][])('%s %s does not fit and is not rounded', (kind, value, text) => {
    const builder = createBuilder(fieldOf('price', scalar(kind), { decimal: { kind: 'decimal128', scale: 2 } }))
    const expected = 'decimal128(38, ' + (kind === 'decimal' ? 2 : 0) + ')'
    const fields = { column: 'price', type: kind, expected, value: text }
    expect(() => feed(builder, value)).toThrow(
      expect.objectContaining({ code: 'VALUE_OUT_OF_RANGE', fields: expect.objectContaining(fields) }),
    )
    expect(builder.length).toBe(0)
    feed(builder, null)
    expect(builder.finish()).toMatchObject({ length: 1, nullCount: 1 })
  })

  test.each([-1, 39, 1.5])('a scale of %d is refused', (scale) => {
    expect(() => fieldOf('c', scalar('decimal'), { decimal: { kind: 'decimal128', scale } })).toThrow(
      expect.objectContaining({ code: 'BAD_PARAMETER' }),
    )
  })
})

describe('nested values', () => {
  const int = scalar('int')
  const list: CqlType = { kind: 'list', element: int, frozen: true }

  test('list', () => {
    const vector = build(list, ['00000002000000040000000100000004ffffffff', null, '00000000', '', '00000001ffffffff'])
    expect([...vector.offsets!]).toEqual([0, 2, 2, 2, 2, 3])
    expect(hex(vector.validity)).toBe('15')
    expect(hex(vector.empty)).toBe('08')
    const [item] = vector.children
    expect(item.field.name).toBe('item')
    expect(item).toMatchObject({ length: 3, nullCount: 1 })
    expect(hex(item.values)).toBe('01000000ffffffff00000000')
    expect(hex(item.validity)).toBe('03')
  })

  test('map', () => {
    const type: CqlType = { kind: 'map', key: scalar('text'), value: int, frozen: true }
    const vector = build(type, ['0000000200000000000000040000000100000001620000000400000002', null])
    expect([...vector.offsets!]).toEqual([0, 2, 2])
    const [entries] = vector.children
    expect(entries).toMatchObject({ length: 2, nullCount: 0, validity: null })
    expect(entries.field).toMatchObject({ name: 'entries', nullable: false, layout: { kind: 'struct' } })
    expect(entries.children.map((c) => [c.field.name, c.field.nullable])).toEqual([
      ['key', false],
      ['value', true],
    ])
    expect(hex(entries.children[0].values)).toBe('62')
    expect([...entries.children[0].offsets!]).toEqual([0, 0, 1])
  })

  test('a null tuple is null in its children, and missing fields are null', () => {
    const type: CqlType = { kind: 'tuple', fields: [int, scalar('text'), list] }
    const vector = build(type, ['0000000400000005', null, '', 'ffffffff0000000178ffffffff'])
    expect(vector.field.children.map((f) => f.name)).toEqual(['field_0', 'field_1', 'field_2'])
    expect(hex(vector.validity)).toBe('09')
    expect(hex(vector.empty)).toBe('04')
    expect(vector.children.map((c) => [c.length, hex(c.validity)])).toEqual([
      [4, '01'],
      [4, '08'],
      [4, '00'],
    ])
  })

  test('a null vector takes its slots', () => {
    const type: CqlType = { kind: 'vector', element: scalar('float'), dimension: 2 }
    const vector = build(type, [null, '3f80000040000000'])
    expect(vector.field.layout).toEqual({ kind: 'fixed_list', size: 2 })
    expect(vector.children[0]).toMatchObject({ length: 4, nullCount: 2 })
    expect(hex(vector.children[0].values)).toBe('00000000000000000000803f00000040')
  })

  test('a vector of a dimension that only damage explains is refused', () => {
    const vector = (dimension: number, element: CqlType): CqlType => ({ kind: 'vector', element, dimension })
    const error = expect.objectContaining({ code: 'UNSUPPORTED_TYPE' })
    expect(() => fieldOf('c', vector(0x7fffffff, int))).toThrow(error)
    expect(() => fieldOf('c', vector(65536, vector(65536, int)))).toThrow(error)
    expect(fieldOf('c', vector(16384, int)).layout).toEqual({ kind: 'fixed_list', size: 16384 })
  })
})
