// Every value that real Cassandra nodes answered with over the golden tables, as raw wire bytes: through a builder into
// Arrow's layout and back it must be the same bytes.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Vector } from '../../../../storage/rows/batch.ts'
import { ColumnMemory } from '../../../../storage/rows/columns/column-memory.ts'
import { createBuilder } from '../../../../storage/rows/columns/create-builder.ts'
import { fieldOf } from '../../../../storage/rows/columns/field.ts'
import { type CqlType, isMultiCell, isZeroLengthOrdinary } from '../../../../storage/schema/cql-type.ts'
import { formatCqlType } from '../../../../storage/schema/cql-type-text.ts'
import { GOLDEN_NAMES, goldenSet } from '../../../corpus/golden.ts'
import { complete, feed, feedAsCells, wireHex } from './feed.ts'
import { goldenTypes } from './golden-types.ts'

const DURATIONS = ['interval', 'struct', 'text'] as const

/** Columns of every *.raw.ndjson: per table and column the values in hex, null where the row has none. */
function rawColumns(directory: string): Map<string, Map<string, (string | null)[]>> {
  const tables = new Map<string, Map<string, (string | null)[]>>()
  const expected = join(directory, 'expected')
  for (const file of readdirSync(expected).filter((name) => name.endsWith('.raw.ndjson'))) {
    const text = readFileSync(join(expected, file), 'utf8')
    const rows = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, string>)
    const names = new Set(rows.flatMap((row) => Object.keys(row)))
    tables.set(
      file.slice(0, -'.raw.ndjson'.length),
      new Map([...names].map((name) => [name, rows.map((row) => row[name] ?? null)])),
    )
  }
  return tables
}

function canonical(type: CqlType, hex: string | null): string | null {
  return hex === null ? null : complete(type, Buffer.from(hex, 'hex')).toString('hex')
}

function expectSame(vector: Vector, type: CqlType, values: (string | null)[]): void {
  expect(vector.length).toBe(values.length)
  expect(values.map((_, i) => wireHex(vector, i))).toEqual(values.map((value) => canonical(type, value)))
  const missing = values.filter((value) => value === null || (value === '' && !isZeroLengthOrdinary(type)))
  expect(vector.nullCount).toBe(missing.length)
  const empties = missing.filter((value) => value === '').length
  expect(countBits(vector.empty)).toBe(empties)
  if (vector.validity !== null) expect(countBits(vector.validity)).toBe(vector.length - vector.nullCount)
}

function countBits(bits: Uint8Array | null): number {
  let n = 0
  for (const byte of bits ?? []) for (let b = byte; b !== 0; b &= b - 1) n++
  return n
}

describe.each(GOLDEN_NAMES)('golden set %s', (set) => {
  const load = goldenSet(set).then((directory) => ({ types: goldenTypes(directory), tables: rawColumns(directory) }))

  async function everyColumn(check: (type: CqlType, values: (string | null)[]) => void) {
    const { types, tables } = await load
    let columns = 0
    for (const [table, values] of tables) {
      for (const [name, column] of values) {
        const type = types.get(table)?.get(name)
        if (type === undefined) throw new Error(`no type for ${table}.${name}`)
        check(type, column)
        columns++
      }
    }
    return columns
  }

  test('wire bytes come back', async () => {
    const columns = await everyColumn((type, values) => {
      const durations = formatCqlType(type).includes('duration') ? DURATIONS : DURATIONS.slice(0, 1)
      for (const duration of durations) {
        const builder = createBuilder(fieldOf('c', type, { duration }), { rows: 3, memory: new ColumnMemory(true) })
        for (const value of values) feed(builder, value)
        expectSame(builder.finish(), type, values)
      }
    })
    if (!set.endsWith('codecs')) expect(columns).toBeGreaterThan(200)
  })

  test('multi-cell values come back from their cells', async () => {
    await everyColumn((type, values) => {
      if (!isMultiCell(type)) return
      const builder = createBuilder(fieldOf('c', type), { rows: 1 })
      for (const value of values) {
        if (value === null) builder.appendNull()
        else feedAsCells(builder, type, Buffer.from(value, 'hex'))
      }
      expectSame(builder.finish(), type, values)
    })
  })
})
