// Columns that no SSTable holds are filled with numbers, not with bytes.

import { expect, test } from 'vitest'
import {
  computedField,
  createHalvesBuilder,
  createIntBuilder,
  createPerCellBuilder,
} from '../../../../storage/rows/columns/computed.ts'
import type { Word32Builder, Word64Builder } from '../../../../storage/rows/columns/fixed-builders.ts'
import { wireHex } from './feed.ts'

const halves = (value: bigint): [number, number] => [
  Number(BigInt.asIntN(32, value >> 32n)),
  Number(BigInt.asIntN(32, value)),
]

test('token and writetime are int64 from two halves', () => {
  const values = [-(2n ** 63n), -1n, 0n, 1n, 1_700_000_000_123_456n, 2n ** 63n - 1n]
  const builder = createHalvesBuilder(computedField('token', 'token'), { rows: 2 })
  for (const value of values) builder.appendHalves(...halves(value))
  builder.appendNull()
  const vector = builder.finish()
  expect(vector.field).toMatchObject({
    layout: { kind: 'int64' },
    column: { kind: 'computed', position: -1, reversed: false, cqlType: 'bigint' },
  })
  const view = new DataView(vector.values.buffer)
  expect(values.map((_, i) => view.getBigInt64(i * 8, true))).toEqual(values)
  expect(vector).toMatchObject({ length: 7, nullCount: 1 })
})

test('ttl is int32', () => {
  const builder = createIntBuilder(computedField('ttl(a)', 'ttl'), { rows: 1 })
  builder.appendInt(630_720_000)
  builder.appendNull()
  const vector = builder.finish()
  expect(vector.field.column?.cqlType).toBe('int')
  expect([wireHex(vector, 0), wireHex(vector, 1)]).toEqual(['25980600', null])
  expect(new DataView(vector.values.buffer).getInt32(0, true)).toBe(630_720_000)
})

test('of a multi-cell column they are lists with a value per cell, null without cells', () => {
  const times = createPerCellBuilder<Word64Builder>(computedField('writetime(l)', 'writetime', true), { rows: 1 })
  const ttls = createPerCellBuilder<Word32Builder>(computedField('ttl(l)', 'ttl', true), { rows: 1 })
  for (const cells of [2, 0, 1]) {
    times.list.beginCells()
    ttls.list.beginCells()
    for (let i = 0; i < cells; i++) {
      times.item.appendHalves(1, i)
      if (i === 0) ttls.item.appendInt(60)
      else ttls.item.appendNull()
    }
    times.list.endCells()
    ttls.list.endCells()
  }
  const written = times.list.finish()
  const living = ttls.list.finish()
  expect(written.field).toMatchObject({ layout: { kind: 'list' }, column: { cqlType: 'frozen<list<bigint>>' } })
  expect([0, 1, 2].map((i) => wireHex(written, i))).toEqual([
    '00000002' + '00000008' + '0000000100000000' + '00000008' + '0000000100000001',
    null,
    '00000001' + '00000008' + '0000000100000000',
  ])
  expect([0, 1, 2].map((i) => wireHex(living, i))).toEqual([
    '00000002' + '00000004' + '0000003c' + 'ffffffff',
    null,
    '00000001' + '00000004' + '0000003c',
  ])
})
