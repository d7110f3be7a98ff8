// Random values of random nested types: what goes in as bytes comes out as the same bytes, in plain and in shared
// buffers, also when a builder is used again.

import { expect, test } from 'vitest'
import { ColumnMemory } from '../../../../storage/rows/columns/column-memory.ts'
import { createBuilder } from '../../../../storage/rows/columns/create-builder.ts'
import { type FieldOptions, fieldOf } from '../../../../storage/rows/columns/field.ts'
import type { Int8Builder } from '../../../../storage/rows/columns/fixed-builders.ts'
import type { ListBuilder } from '../../../../storage/rows/columns/list-builder.ts'
import type { BinaryBuilder } from '../../../../storage/rows/columns/varlen-builder.ts'
import type { CqlType } from '../../../../storage/schema/cql-type.ts'
import { formatCqlType } from '../../../../storage/schema/cql-type-text.ts'
import { feed, feedAsCells, wireHex } from './feed.ts'
import { randomElement, randomSource, randomType, randomValue } from './random-values.ts'

const isShared = (bytes: ArrayBufferView): boolean => bytes.buffer instanceof SharedArrayBuffer

test.each(Array.from({ length: 200 }, (_, i) => i + 1))('seed %i', (seed) => {
  const random = randomSource(seed * 7919)
  const type = randomType(random, seed % 5)
  const options: FieldOptions = { duration: (['interval', 'struct', 'text'] as const)[seed % 3] }
  const shared = seed % 2 === 0
  const builder = createBuilder(fieldOf('c', type, options), { rows: 1 + (seed % 3), memory: new ColumnMemory(shared) })
  for (let round = 0; round < 3; round++) {
    builder.reset()
    const values = Array.from({ length: Math.floor(random() * 60) }, () => randomElement(random, type))
    for (const value of values) feed(builder, value)
    const vector = builder.finish()
    const found = values.map((_, i) => wireHex(vector, i))
    expect(found, formatCqlType(type)).toEqual(values.map((value) => value?.toString('hex') ?? null))
    expect(vector.length).toBe(values.length)
    for (const buffer of [vector.values, vector.offsets, vector.validity, vector.empty]) {
      if (buffer !== null && buffer.length > 0) expect(isShared(buffer)).toBe(shared)
    }
  }
})

test('the same values give the same buffers, whatever was in them before', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = randomSource(seed * 31337)
    const field = fieldOf('c', randomType(random, 3))
    const [before, values] = [50, 30].map((n) => Array.from({ length: n }, () => randomElement(random, field.type)))
    const used = createBuilder(field)
    for (const value of before) feed(used, value)
    used.finish()
    used.reset()
    const fresh = createBuilder(field)
    for (const value of values) {
      feed(used, value)
      feed(fresh, value)
    }
    expect(used.byteLength()).toBe(fresh.byteLength())
    expect(used.finish()).toEqual(fresh.finish())
  }
})

/** True if a collection holds a null, which no cell can be. */
function hasNull(value: Buffer): boolean {
  for (let at = 4; at < value.length; at += 4 + value.readInt32BE(at)) if (value.readInt32BE(at) < 0) return true
  return false
}

/** A collection without elements or a UDT of nulls: as cells, no cells. */
function isNothing(type: CqlType, value: Buffer): boolean {
  return type.kind === 'udt' ? /^(ffffffff)*$/.test(value.toString('hex')) : value.length === 4
}

test('multi-cell values of random types come back from their cells', () => {
  let checked = 0
  for (let seed = 1; checked < 500; seed++) {
    const random = randomSource(seed * 104729)
    const frozen = randomType(random, 3)
    if (frozen.kind !== 'list' && frozen.kind !== 'set' && frozen.kind !== 'map' && frozen.kind !== 'udt') continue
    const type = { ...frozen, frozen: false } as CqlType
    const builder = createBuilder(fieldOf('c', type), { rows: 1 })
    const values = Array.from({ length: 20 }, () => randomValue(random, type)).filter(
      (value) => type.kind === 'udt' || !hasNull(value),
    )
    for (const value of values) feedAsCells(builder, type, value)
    const vector = builder.finish()
    expect(values.map((_, i) => wireHex(vector, i))).toEqual(
      values.map((value) => (isNothing(type, value) ? null : value.toString('hex'))),
    )
    checked += values.length
  }
})

test('a huge value does not hold its memory beyond shrink()', () => {
  const huge = 17 * 1024 * 1024
  const blob = createBuilder(fieldOf('c', { kind: 'blob' })) as BinaryBuilder
  const list = createBuilder(fieldOf('c', { kind: 'list', element: { kind: 'tinyint' }, frozen: true })) as ListBuilder
  const item = list.item as Int8Builder
  for (const value of [Buffer.alloc(huge, 7), Buffer.of(1, 2, 3)]) {
    feed(blob, value)
    list.beginCells()
    for (const byte of value) feedByte(item, byte)
    list.endCells()
    const [blobs, lists] = [blob.finish(), list.finish()]
    expect(Buffer.compare(blobs.values, value)).toBe(0)
    expect(Buffer.compare(lists.children[0].values, value)).toBe(0)
    expect([...lists.offsets!]).toEqual([0, value.length])
    for (const builder of [blob, list]) {
      builder.reset()
      builder.shrink()
    }
    expect(blob.data.length + item.values.length).toBeLessThan(4096)
  }
})

const single = new Uint8Array(1)
const singleView = new DataView(single.buffer)

function feedByte(builder: Int8Builder, byte: number): void {
  single[0] = byte
  builder.append(single, singleView, 0, 1)
}
