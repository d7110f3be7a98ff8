// Random schemas and batches for the round trips through pyarrow, and the plain form of their values that arrow_values.py has too.
// Every layout, nested to three levels; nulls everywhere, none, or all; batches of 0 to some thousand rows, none or many of them.

import { fieldMetadata } from '../../exporters/arrow/schema.ts'
import type { Batch, BatchSchema, Field, Layout } from '../../storage/rows/batch.ts'
import { batchOf, EMPTY, type Value } from '../exporters/build-batch.ts'
import { below, randomField, randomValue, seeded } from '../exporters/random-batch.ts'

export interface Case {
  schema: BatchSchema
  batches: Batch[]
  /** What arrow_values.py reads. */
  expected: object
}

/** Every tenth case has up to 120 columns, every twentieth a batch of 3000 rows. */
export function randomCase(seed: number, n: number, without: ReadonlySet<Layout['kind']> = new Set()): Case {
  const random = seeded(seed * 100_003 + n)
  const fields = Array.from({ length: 1 + below(random, n % 10 === 9 ? 120 : 8) }, (_, i) =>
    randomField(random, `c${i}`, 3, without),
  )
  fields[0].column = { kind: 'clustering', position: 0, reversed: random() < 0.5, cqlType: 'frozen<"T">' }
  const schema: BatchSchema = {
    fields,
    metadata: new Map([
      ['sluice.table', 'ks."T"'],
      ['empty', ''],
    ]),
  }
  const nulls = [0, 0.2, 1][below(random, 3)]
  const sizes = Array.from(
    { length: below(random, 4) },
    () => [0, 1, 7, 64, 300][below(random, fields.length > 20 ? 4 : 5)],
  )
  if (n % 20 === 18 && fields.length < 5) sizes.push(3000)
  const someValue = (field: Field): Value =>
    random() < 0.02 && field.nullable && field.layout.kind === 'int32' ? EMPTY : randomValue(random, field, nulls)
  const columns: Value[][] = fields.map(() => [])
  const batches = sizes.map((size, i) => {
    const values = fields.map((field) => Array.from({ length: size }, () => someValue(field)))
    values.forEach((column, c) => {
      for (const value of column) columns[c].push(value)
    })
    return batchOf(schema, values, `position ${i}`, { slack: [0, 3, 200][i % 3] * 8, shared: i % 2 === 1 })
  })
  const expected = {
    metadata: Object.fromEntries(schema.metadata),
    sizes,
    fields: fields.map(describe),
    columns: columns.map((values, i) => values.map((value) => plain(fields[i], value))),
  }
  return { schema, batches, expected }
}

function describe(field: Field): object {
  const metadata = Object.fromEntries(fieldMetadata(field))
  return {
    name: field.name,
    nullable: field.nullable,
    layout: field.layout,
    metadata,
    children: field.children.map(describe),
  }
}

function plain(field: Field, value: Value): unknown {
  if (value === null || value === EMPTY) return null
  switch (field.layout.kind) {
    case 'float32':
    case 'float64': {
      if (Number.isNaN(value)) return 'nan'
      const view = new DataView(new ArrayBuffer(field.layout.kind === 'float32' ? 4 : 8))
      if (view.byteLength === 4) view.setFloat32(0, value as number)
      else view.setFloat64(0, value as number)
      return Buffer.from(view.buffer).toString('hex')
    }
    case 'uuid':
    case 'binary':
      return Buffer.from(value as Uint8Array).toString('hex')
    case 'interval': {
      const [months, days, nanoseconds] = value as unknown as [number, number, bigint]
      return [months, days, String(nanoseconds)]
    }
    case 'list':
    case 'fixed_list':
      return (value as Value[]).map((item) => plain(field.children[0], item))
    case 'map': {
      const [key, item] = field.children[0].children
      return (value as [Value, Value][]).map((pair) => [plain(key, pair[0]), plain(item, pair[1])])
    }
    case 'struct':
      return (value as Value[]).map((inner, i) => plain(field.children[i], inner))
    default:
      return typeof value === 'bigint' ? String(value) : value
  }
}
