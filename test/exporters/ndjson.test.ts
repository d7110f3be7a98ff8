import { expect, test } from 'vitest'
import { createExporter } from '../../exporters/formats.ts'
import type { BatchSchema, Field } from '../../storage/rows/batch.ts'
import { formatCqlType } from '../../storage/schema/cql-type-text.ts'
import { ndjsonDifference, rowShape } from '../corpus/json.ts'
import { batchOf, EMPTY, field, transpose, type Value } from './build-batch.ts'
import { exportBytes, exportParts } from './collect.ts'
import { below, randomField, randomValue, seeded } from './random-batch.ts'
import { referenceJson } from './reference-json.ts'

async function linesOf(fields: Field[], ...batches: Value[][][]): Promise<string[]> {
  const schema: BatchSchema = { fields, metadata: new Map() }
  const made = batches.map((rows, i) =>
    batchOf(schema, transpose(schema, rows), `p${i}`, { slack: 16 * i, shared: i % 2 === 1 }),
  )
  const text = (await exportBytes(createExporter('ndjson'), schema, made)).toString('utf8')
  return text.split('\n').slice(0, -1)
}

test('random rows of every layout are the JSON that they should be', async () => {
  for (let seed = 0; seed < 30; seed++) {
    const random = seeded(seed)
    const fields = Array.from({ length: 1 + below(random, 10) }, (_, i) => randomField(random, `c${i}`, 3))
    const batches = Array.from({ length: 3 }, () =>
      Array.from({ length: below(random, 40) }, () => fields.map((f) => randomValue(random, f, 0.2))),
    )
    const wanted = batches.flat().map((row) => {
      return `{${fields.map((f, i) => `${JSON.stringify(f.name)}:${referenceJson(f, row[i])}`)}}`
    })
    const shape = rowShape(Object.fromEntries(fields.map((f) => [f.name, formatCqlType(f.type)])))
    expect(ndjsonDifference(wanted, await linesOf(fields, ...batches), shape), `seed ${seed}`).toBeUndefined()
  }
})

test('empty values print as empty strings, nulls as null', async () => {
  const fields = [field('i', { kind: 'int' }, { kind: 'int32' }), field('u', { kind: 'uuid' }, { kind: 'uuid' })]
  expect(
    await linesOf(fields, [
      [EMPTY, null],
      [null, EMPTY],
    ]),
  ).toEqual(['{"i": "", "u": null}', '{"i": null, "u": ""}'])
})

test('names that CQL quotes keep their quotes, in columns and in user-defined types', async () => {
  const type = { kind: 'udt', keyspace: 'k', name: 't', fieldNames: ['a', 'B'], fields: [], frozen: true } as const
  const inner = [field('a', { kind: 'int' }, { kind: 'int32' }), field('B c', { kind: 'int' }, { kind: 'int32' })]
  const fields = [
    field('Up', { kind: 'int' }, { kind: 'int32' }),
    field('a"b', { ...type, fieldNames: [], fields: [] }, { kind: 'struct' }, inner),
  ]
  expect(await linesOf(fields, [[1, [2, null]]])).toEqual(['{"\\"Up\\"": 1, "a\\"b": {"a": 2, "\\"B c\\"": null}}'])
})

test('a user-defined type of no bytes has null fields', async () => {
  const type = { kind: 'udt', keyspace: 'k', name: 't', fieldNames: ['a', 'b'], fields: [], frozen: true } as const
  const inner = [field('a', { kind: 'int' }, { kind: 'int32' }), field('b', { kind: 'text' }, { kind: 'utf8' })]
  const udt = field('u', { ...type, fieldNames: ['a', 'b'], fields: [] }, { kind: 'struct' }, inner)
  expect(await linesOf([udt], [[EMPTY], [null]])).toEqual(['{"u": {"a": null, "b": null}}', '{"u": null}'])
})

test('map keys that are no strings become strings', async () => {
  const map = (key: Field): Field => {
    const value = field('value', { kind: 'int' }, { kind: 'int32' })
    const entries = field('entries', { kind: 'tuple', fields: [] }, { kind: 'struct' }, [key, value])
    return field('m', { kind: 'map', key: key.type, value: value.type, frozen: true }, { kind: 'map' }, [entries])
  }
  const text = field('item', { kind: 'text' }, { kind: 'utf8' })
  const list = field('key', { kind: 'list', element: { kind: 'text' }, frozen: true }, { kind: 'list' }, [text])
  expect(await linesOf([map(list)], [[[[['a"\\', 'b'], 1]]]])).toEqual([
    '{"m": {"[\\"a\\\\\\"\\\\\\\\\\", \\"b\\"]": 1}}',
  ])
  expect(
    await linesOf(
      [map(field('key', { kind: 'double' }, { kind: 'float64' }))],
      [
        [
          [
            [1e21, 1],
            [Number.NaN, null],
          ],
        ],
      ],
    ),
  ).toEqual(['{"m": {"1.0E21": 1, "null": null}}'])
})

test('parts end at rows, are about a megabyte, and hold a row of any size', async () => {
  const schema: BatchSchema = { fields: [field('t', { kind: 'text' }, { kind: 'utf8' })], metadata: new Map() }
  const values = [...Array.from({ length: 3000 }, (_, i) => `${i} `.repeat(200)), '\u0001'.repeat(2_000_000), 'end']
  const asked: number[] = []
  const exporter = createExporter('ndjson', {
    allocate: (bytes) => {
      asked.push(bytes)
      return new Uint8Array(new SharedArrayBuffer(bytes))
    },
  })
  const parts = await exportParts(exporter, schema, [batchOf(schema, [values], 'p')])
  const lines = Buffer.concat(parts).toString('utf8').split('\n').slice(0, -1)
  expect(lines.map((line) => JSON.parse(line).t)).toEqual(values)
  expect(parts.length).toBeGreaterThan(2)
  for (const part of parts) {
    expect(part.buffer).toBeInstanceOf(SharedArrayBuffer)
    expect(part.at(-1)).toBe(0x0a)
  }
  for (const part of parts.slice(0, 2)) expect(part.length).toBeLessThan(1024 * 1024 + 64 * 1024)
  expect(Math.max(...asked)).toBeLessThan(60_000_000)
})

test('nothing is written for no rows', async () => {
  expect(await linesOf([field('a', { kind: 'int' }, { kind: 'int32' })], [], [])).toEqual([])
})
