import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { encodeClusteringPrefix } from '../../../storage/schema/byte-comparable.ts'
import { comparator } from '../../../storage/schema/compare.ts'
import { parseDdl } from '../../../storage/schema/ddl-parser.ts'
import type { TableSchema } from '../../../storage/schema/table.ts'
import { goldenSet } from '../../corpus/golden.ts'

type RawRow = Record<string, string | null>

/** The rows that a node answered, as wire bytes, a list for each partition. */
function partitions(table: TableSchema, directory: string): Buffer[][][] {
  const path = join(directory, 'expected', `${table.keyspace}.${table.table}.raw.ndjson`)
  if (!existsSync(path)) return [] // large tables come without
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  const found: Buffer[][][] = []
  let last = ''
  for (const line of lines) {
    const row = JSON.parse(line) as RawRow
    if (table.clustering.some((column) => row[column.name] == null)) continue // a static row alone
    const key = JSON.stringify(table.partitionKey.map((column) => row[column.name]))
    if (key !== last) found.push([])
    last = key
    found[found.length - 1].push(table.clustering.map((column) => Buffer.from(row[column.name]!, 'hex')))
  }
  return found
}

/** -1, 0, 1 by the comparators of the clustering columns. */
function compareRows(table: TableSchema, a: Buffer[], b: Buffer[]): number {
  for (const [i, column] of table.clustering.entries()) {
    const [x, y] = [a[i], b[i]]
    const c = comparator(column.type)(x, viewOf(x), 0, x.length, y, viewOf(y), 0, y.length)
    if (c !== 0) return Math.sign(column.reversed ? -c : c)
  }
  return 0
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

test.each(['me', 'nb', 'nb-5.0', 'oa', 'da'] as const)(
  '%s: rows come in the order that the clustering types give',
  async (name) => {
    const directory = await goldenSet(name)
    const { tables } = parseDdl(readFileSync(join(directory, 'schema.cql'), 'utf8'))
    const wrong: string[] = []
    let pairs = 0
    for (const table of tables.filter((t) => t.clustering.length > 0)) {
      const types = table.clustering.map((column) => column.type)
      const reversed = table.clustering.map((column) => column.reversed)
      for (const rows of partitions(table, directory)) {
        const encoded = rows.map((row) => encodeClusteringPrefix(types, reversed, row, 4))
        for (let i = 1; i < rows.length; i++) {
          const text = `${table.table}: ${rows[i - 1].map((v) => v.toString('hex'))} before ${rows[i].map((v) => v.toString('hex'))}`
          if (compareRows(table, rows[i - 1], rows[i]) !== -1) wrong.push(text)
          if (Buffer.compare(encoded[i - 1], encoded[i]) !== -1) wrong.push(`${text} in byte-comparable form`)
          pairs++
        }
      }
    }
    expect(wrong).toEqual([])
    expect(pairs).toBeGreaterThan(1500)
  },
)
