// inet, decimal, varint and duration become text: the same text as a real Cassandra's SELECT JSON over the same rows.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Vector } from '../../../../storage/rows/batch.ts'
import { createBuilder } from '../../../../storage/rows/columns/create-builder.ts'
import { fieldOf } from '../../../../storage/rows/columns/field.ts'
import { GOLDEN_NAMES, goldenSet } from '../../../corpus/golden.ts'
import { feed } from './feed.ts'
import { goldenTypes } from './golden-types.ts'

const KINDS = ['inet', 'decimal', 'varint', 'duration']

/** A value as printed in a line of flat JSON, quotes taken off: numbers stay text, exact. */
function printed(line: string, column: string): string {
  const start = line.indexOf(`"${column}": `)
  if (start < 0) throw new Error(`no ${column} in ${line}`)
  const rest = line.slice(start + column.length + 4)
  return rest.startsWith('"') ? rest.slice(1, rest.indexOf('"', 1)) : /^[^,}]*/.exec(rest)![0]
}

function textAt(vector: Vector, i: number): string {
  if (vector.validity !== null && ((vector.validity[i >> 3] >> (i & 7)) & 1) === 0) return 'null'
  return Buffer.from(vector.values.subarray(vector.offsets![i], vector.offsets![i + 1])).toString('latin1')
}

describe.each(GOLDEN_NAMES)('golden set %s', (set) => {
  test('text is as SELECT JSON prints it', async () => {
    const directory = await goldenSet(set)
    let values = 0
    for (const [table, columns] of goldenTypes(directory)) {
      const path = join(directory, 'expected', `${table}.raw.ndjson`)
      if (!existsSync(path)) continue
      const lines = (file: string) =>
        readFileSync(file, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
      const raw = lines(path).map((line) => JSON.parse(line) as Record<string, string>)
      const json = lines(path.replace('.raw.', '.'))
      expect(json.length).toBe(raw.length)
      for (const [name, type] of columns) {
        if (!KINDS.includes(type.kind)) continue
        const builder = createBuilder(fieldOf(name, type, { duration: 'text' }))
        for (const row of raw) feed(builder, row[name] ?? null)
        const vector = builder.finish()
        // An empty value has its own bit; SELECT JSON prints it as "".
        const found = raw.map((row, i) => (row[name] === '' ? '' : textAt(vector, i)))
        expect(found).toEqual(json.map((line) => printed(line, name)))
        values += raw.filter((row) => row[name]).length
      }
    }
    if (!set.endsWith('codecs')) expect(values).toBeGreaterThan(150)
  })
})
