// What real Cassandra nodes answered to SELECT JSON * over the golden tables, byte for byte against our lines made from the wire bytes
// that the same nodes answered.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createExporter } from '../../exporters/formats.ts'
import type { Batch, BatchSchema } from '../../storage/rows/batch.ts'
import { ColumnMemory } from '../../storage/rows/columns/column-memory.ts'
import { createBuilder } from '../../storage/rows/columns/create-builder.ts'
import { fieldOf } from '../../storage/rows/columns/field.ts'
import { GOLDEN_NAMES, goldenSet } from '../corpus/golden.ts'
import { feed } from '../storage/rows/columns/feed.ts'
import { goldenTypes } from '../storage/rows/columns/golden-types.ts'
import { exportBytes } from './collect.ts'

function lines(path: string): string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
}

/** The keys of a line of SELECT JSON in order, as column names. */
function columnNames(line: string): string[] {
  return Object.keys(JSON.parse(line)).map((key) => (key.startsWith('"') ? key.slice(1, -1) : key))
}

/** Rows in batches of some rows, through the builders. */
function* batchesOf(schema: BatchSchema, rows: Record<string, string>[], size: number): Generator<Batch> {
  const builders = schema.fields.map((field) => createBuilder(field, { memory: new ColumnMemory(true) }))
  for (let from = 0; from < rows.length; from += size) {
    const some = rows.slice(from, from + size)
    for (const builder of builders) {
      builder.reset()
      for (const row of some) feed(builder, row[builder.field.name] ?? null)
    }
    const columns = builders.map((builder) => builder.finish())
    yield { schema, rows: some.length, columns, position: String(from), bytes: 1000, release() {} }
  }
}

/** 3.11 prints dates and timestamps before 1583 and after 9999 in another calendar and form: 5.0's way is ours. */
function withoutOldDates(line: string): string {
  return line.replace(/"[+-]?(\d{4,})-\d\d-\d\d( [\d:.]+Z)?"/g, (text, year: string) =>
    Number(year) < 1583 || Number(year) > 9999 ? '"old"' : text,
  )
}

test.each(GOLDEN_NAMES)('every table of golden set %s is the same bytes as SELECT JSON', async (set) => {
  const directory = await goldenSet(set)
  const types = goldenTypes(directory)
  const expected = join(directory, 'expected')
  let tables = 0
  for (const file of readdirSync(expected).filter((name) => name.endsWith('.raw.ndjson'))) {
    const table = file.slice(0, -'.raw.ndjson'.length)
    const theirs = lines(join(expected, `${table}.ndjson`))
    if (theirs.length === 0) continue
    const fields = columnNames(theirs[0]).map((name) => fieldOf(name, types.get(table)!.get(name)!))
    const schema: BatchSchema = { fields, metadata: new Map() }
    const rows = lines(join(expected, file)).map((line) => JSON.parse(line) as Record<string, string>)
    const bytes = await exportBytes(createExporter('ndjson'), schema, batchesOf(schema, rows, 7))
    const ours = bytes.toString('utf8').split('\n').slice(0, -1)
    const read = (line: string): string => (set === 'me' ? withoutOldDates(line) : line)
    expect(ours.map(read), table).toEqual(theirs.map(read))
    tables++
  }
  expect(tables).toBeGreaterThanOrEqual(set.endsWith('codecs') ? 2 : 55)
})
