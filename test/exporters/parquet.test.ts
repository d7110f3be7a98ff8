import { tableFromIPC } from 'apache-arrow'
import { readParquet } from 'parquet-wasm/node'
import { describe, expect, test } from 'vitest'
import { footerRows } from '../../exporters/parquet/footer.ts'
import { parquetExporter } from '../../exporters/parquet/parquet.ts'
import type { Batch, BatchSchema } from '../../storage/rows/batch.ts'
import { batchOf, field } from './build-batch.ts'
import { exportBytes } from './collect.ts'
import { bytes as randomBytes, seeded } from './random-batch.ts'

const schema: BatchSchema = {
  fields: [
    field('id', { kind: 'bigint' }, { kind: 'int64' }),
    field('name', { kind: 'text' }, { kind: 'utf8' }),
    field('tags', { kind: 'set', element: { kind: 'int' }, frozen: false }, { kind: 'list' }, [
      field('item', { kind: 'int' }, { kind: 'int32' }),
    ]),
    field('blob', { kind: 'blob' }, { kind: 'binary' }),
  ],
  metadata: new Map([['sluice.table', 'ks.t']]),
}
schema.fields[0].column = { kind: 'clustering', position: 1, reversed: true, cqlType: 'bigint' }

function* batches(count: number, rows: number, blobBytes: number): Generator<Batch> {
  const random = seeded(5)
  const noise = randomBytes(random, blobBytes)
  for (let b = 0; b < count; b++) {
    const index = Array.from({ length: rows }, (_, i) => b * rows + i)
    yield batchOf(
      schema,
      [
        index.map(BigInt),
        index.map((i) => (i % 3 === 0 ? null : `name ${i}`)),
        index.map((i) => (i % 5 === 0 ? null : [i, null])),
        index.map((i) => noise.subarray(i % 7)),
      ],
      `p${b}`,
    )
  }
}

function read(bytes: Uint8Array) {
  return tableFromIPC(readParquet(bytes).intoIPCStream())
}

describe('Parquet', () => {
  test('holds all rows with their types, nulls and metadata', async () => {
    const file = await exportBytes(parquetExporter(), schema, batches(5, 100, 10))
    expect(file.toString('latin1', 0, 4)).toBe('PAR1')
    expect(footerRows(file)).toBe(500)
    const table = read(file)
    expect(table.numRows).toBe(500)
    expect(table.schema.fields[0].metadata.get('cql.order')).toBe('desc')
    expect(table.schema.metadata.get('sluice.table')).toBe('ks.t')
    for (const i of [0, 1, 250, 499]) {
      const row = table.get(i)!.toJSON()
      expect(row.id).toBe(BigInt(i))
      expect(row.name).toBe(i % 3 === 0 ? null : `name ${i}`)
      expect(row.tags === null ? null : Array.from(row.tags)).toEqual(i % 5 === 0 ? null : [i, null])
      expect(row.blob.length).toBe(10 - (i % 7))
    }
  })

  test('of no batch has the schema', async () => {
    const file = await exportBytes(parquetExporter(), schema, [])
    expect(footerRows(file)).toBe(0)
    expect(read(file).schema.names).toEqual(['id', 'name', 'tags', 'blob'])
  })

  test('comes in row groups, which do not wait for the end', async () => {
    const exporter = parquetExporter({ compression: 'none' })
    for await (const _ of exporter.head(schema)) expect.unreachable('nothing stands before the first row group')
    let early = 0
    const all: Uint8Array[] = []
    // 120 MB of blobs that do not repeat within a page.
    for (const batch of batches(30, 4, 1_000_000)) {
      for await (const part of exporter.batch(batch)) {
        early += part.length
        all.push(part)
      }
    }
    expect(early).toBeGreaterThan(60_000_000)
    for await (const part of exporter.tail()) all.push(part)
    expect(Math.max(...all.map((part) => part.length))).toBeLessThan(40_000_000)
    expect(footerRows(all.at(-1)!)).toBe(120)
  })

  test('the same batches give the same bytes', async () => {
    const once = await exportBytes(parquetExporter(), schema, batches(3, 50, 20))
    expect((await exportBytes(parquetExporter(), schema, batches(3, 50, 20))).equals(once)).toBe(true)
  })

  test('a duration has to be a struct or text', () => {
    const interval = field('d', { kind: 'duration' }, { kind: 'interval' })
    const nested = field('l', { kind: 'list', element: { kind: 'duration' }, frozen: true }, { kind: 'list' }, [
      interval,
    ])
    expect(() => parquetExporter().head({ fields: [nested], metadata: new Map() })).toThrow(
      expect.objectContaining({ code: 'BAD_PARAMETER' }),
    )
  })

  test('a batch that cannot be encoded is an error, not a missing row', async () => {
    const [first, second, third] = batches(3, 10, 10)
    second.columns[0].values = second.columns[0].values.subarray(0, 8)
    const writing = exportBytes(parquetExporter(), schema, [first, second, third])
    await expect(writing).rejects.toMatchObject({ code: 'INTERNAL', cause: expect.any(Error) })
  })

  test('an exporter that was closed gives an error, not a short file', async () => {
    const exporter = parquetExporter()
    for await (const _ of exporter.head(schema));
    exporter.close!()
    const all = async () => {
      for (const batch of batches(5, 10, 10)) for await (const _ of exporter.batch(batch));
      for await (const _ of exporter.tail());
    }
    await expect(all()).rejects.toMatchObject({ code: 'INTERNAL' })
  })
})

test('the rows of a footer: those of the file, and nothing of what is no footer', () => {
  // FileMetaData: version 2, schema of two elements (binary, i32, struct with a bool), num_rows 300.
  const element = [0x48, 0x02, 0x61, 0x62, 0x15, 0x04, 0x5c, 0x11, 0x00, 0x00]
  const footer = [0x15, 0x04, 0x19, 0x2c, ...element, ...element, 0x16, 0xd8, 0x04, 0x00]
  const file = Buffer.concat([Buffer.from(footer), Buffer.from([footer.length, 0, 0, 0]), Buffer.from('PAR1')])
  expect(footerRows(file)).toBe(300)
  expect(footerRows(file.subarray(1))).toBeUndefined()
  expect(footerRows(file.subarray(0, -1))).toBeUndefined()
  expect(footerRows(new Uint8Array(0))).toBeUndefined()
  for (let i = 0; i < 1000; i++)
    footerRows(Buffer.concat([randomBytes(seeded(i), 40), Buffer.from([40, 0, 0, 0]), Buffer.from('PAR1')]))
})
