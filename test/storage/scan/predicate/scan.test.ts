// Predicates carried out by scans over SSTables, against what Cassandra's ALLOW FILTERING gave over the same data: answers.json
// (record-answers.py, small tables made for it) and golden-answers.json (record-golden.py, random predicates over golden tables).
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Catalog } from '../../../../storage/scan/catalog.ts'
import { openScan } from '../../../../storage/scan/scan.ts'
import type { ScanRequest } from '../../../../storage/scan/scan-request.ts'
import { ndjsonOf, wireRowsOf } from '../../../corpus/compare-table.ts'
import { goldenMeta, goldenSet } from '../../../corpus/golden.ts'

interface Recorded {
  tables: Record<
    string,
    {
      columns: { name: string }[]
      rows: (string | null)[][]
      answers: { where: string; rows?: number[]; error?: string }[]
    }
  >
}

const read = async (name: string) => JSON.parse(await readFile(join(import.meta.dirname, name), 'utf8'))
const recorded = (await read('answers.json')) as Recorded
/** [where, runs of row indexes or `count:SHA-1`] by table. */
const golden = (await read('golden-answers.json')) as Record<string, [string, [number, number][] | string][]>

describe('tables made for predicates', () => {
  test.each(Object.keys(recorded.tables))('%s: scans give the rows that Cassandra gave', async (name) => {
    const catalog = await Catalog.open({ data: [join(await goldenSet('predicates-da'), 'data')] })
    const pinned = await catalog.pin('predicates', name)
    const { columns, rows, answers } = recorded.tables[name]
    const expected = rows.map(([token, ...values]) =>
      rowText(
        token!,
        columns.map((c, i) => [c.name, values[i]] as const),
      ),
    )
    const now = Math.floor(Date.now() / 1000)
    const differing: unknown[] = []
    let compared = 0
    for (const { where, rows: indexes } of answers) {
      if (indexes === undefined) continue
      for (const plainDecoder of [false, true]) {
        const found = await wireRowsOf(pinned, { where, now, plainDecoder })
        const texts = found.rows.map((row, i) =>
          rowText(
            hexToken(found.tokens[i]),
            columns.map((c) => [c.name, row[c.name] ?? null] as const),
          ),
        )
        const wanted = indexes.map((i) => expected[i])
        compared++
        if (JSON.stringify(texts.sort()) !== JSON.stringify(wanted.sort())) differing.push({ where, texts, wanted })
      }
    }
    await pinned.release()
    expect(compared).toBeGreaterThan(10)
    expect(differing).toEqual([])
  })
})

function rowText(token: string, values: readonly (readonly [string, string | null])[]): string {
  return `${token} ${values
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join(' ')}`
}

function hexToken(token: string): string {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(token))
  return bytes.toString('hex')
}

function summary(indexes: readonly number[]): [number, number][] | string {
  const runs: [number, number][] = []
  for (const i of indexes) {
    const last = runs.at(-1)
    if (last !== undefined && last[1] === i - 1) last[1] = i
    else runs.push([i, i])
  }
  if (runs.length <= 40) return runs
  return `${indexes.length}:${createHash('sha1').update(indexes.join(',')).digest('hex')}`
}

describe.each(['da', 'oa', 'nb', 'me'] as const)('golden set %s', (set) => {
  test.each(Object.keys(golden))('%s: scans give the rows that Cassandra gave', async (table) => {
    const directory = await goldenSet(set)
    const meta = await goldenMeta(set)
    const catalog = await Catalog.open({ data: [join(directory, 'data')] })
    const pinned = await catalog.pin('golden', table)
    const whole = await ndjsonOf(pinned, { now: meta.now })
    // The answers are one node's; the other sets hold the same rows.
    const ofNode = await readFile(join(await goldenSet('da'), 'expected', `golden.${table}.ndjson`), 'utf8')
    expect(whole.length).toBe(ofNode.split('\n').length - 1)
    const index = new Map(whole.map((line, i) => [line, i]))
    const differing: unknown[] = []
    const request = (where: string): ScanRequest => ({ where, now: meta.now })
    for (const [where, expected] of golden[table]) {
      const lines = await ndjsonOf(pinned, request(where))
      const found = summary(lines.map((line) => index.get(line)!))
      if (JSON.stringify(found) !== JSON.stringify(expected)) differing.push({ where, found, expected })
    }
    await pinned.release()
    expect(differing).toEqual([])
  })
})

test('what a predicate cannot say is refused by name', async () => {
  const catalog = await Catalog.open({ data: [join(await goldenSet('predicates-da'), 'data')] })
  const pinned = await catalog.pin('predicates', 'statics')
  const refused = async (request: Partial<ScanRequest>) => {
    try {
      await openScan(pinned, { now: 0, ...request })
      return 'taken'
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  expect(await refused({ where: 'pk = ' })).toBe('BAD_PREDICATE')
  expect(await refused({ where: 'nope = 1' })).toBe('UNKNOWN_COLUMN')
  expect(await refused({ where: 'v = 1', distinct: true })).toBe('BAD_PREDICATE')
  expect(await refused({ columns: 'pk, v', distinct: true })).toBe('BAD_SELECTOR')
  await pinned.release()
})
