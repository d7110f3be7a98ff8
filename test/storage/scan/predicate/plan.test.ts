// Plans against what a real Cassandra selects: answers.json is written by record-answers.py. Every plan is carried out here over the
// recorded rows the plain way: key, token, slice, filter.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { comparePrefixes } from '../../../../storage/ring/clustering-prefix.ts'
import { type Partitioner, partitionerByName, tokenOf } from '../../../../storage/ring/partitioner.ts'
import { compareToInterval } from '../../../../storage/ring/token-range.ts'
import type { ClusteringBound } from '../../../../storage/scan/predicate/clustering-slices.ts'
import type { RowAccess } from '../../../../storage/scan/predicate/filter.ts'
import { partitionKeyBytes } from '../../../../storage/scan/predicate/partition-keys.ts'
import { type PredicatePlan, planPredicate } from '../../../../storage/scan/predicate/plan.ts'
import { type CqlType, isMultiCell, type UdtType } from '../../../../storage/schema/cql-type.ts'
import { parseCqlType } from '../../../../storage/schema/cql-type-text.ts'
import type { ColumnSchema, TableSchema } from '../../../../storage/schema/table.ts'

interface Answer {
  where: string
  /** Indexes of the rows selected. */
  rows?: number[]
  error?: string
}
interface RecordedTable {
  columns: { name: string; kind: ColumnSchema['kind']; position: number; type: string; order: string }[]
  /** Token, then the columns; hex of the wire's bytes. */
  rows: (string | null)[][]
  answers: Answer[]
}

const recorded = JSON.parse(await readFile(join(import.meta.dirname, 'answers.json'), 'utf8')) as {
  version: string
  tables: Record<string, RecordedTable>
}

const PAIR: UdtType = {
  kind: 'udt',
  keyspace: 'predicates',
  name: 'pair',
  fieldNames: ['x', 'y'],
  fields: [{ kind: 'int' }, { kind: 'text' }],
  frozen: false,
}

function schemaOf(name: string, table: RecordedTable): TableSchema {
  const columns = table.columns.map(
    (c): ColumnSchema => ({
      name: c.name,
      kind: c.kind,
      position: c.position,
      type: parseCqlType(c.type, () => PAIR, 'predicates'),
      reversed: c.order === 'desc',
    }),
  )
  const of = (kind: string) => columns.filter((c) => c.kind === kind).sort((a, b) => a.position - b.position)
  return {
    keyspace: 'predicates',
    table: name,
    partitionKey: of('partition_key'),
    clustering: of('clustering'),
    statics: of('static'),
    regulars: of('regular'),
    dropped: [],
    compact: name === 'dense' ? 'dense' : 'none',
    isCounter: columns.some((c) => c.type.kind === 'counter'),
    origin: 'system_schema',
    warnings: [],
  }
}

type Values = Map<string, Uint8Array | null>

/** Cells of a multi-cell column, out of its frozen form on the wire. */
function cellsOf(type: CqlType, bytes: Uint8Array | null | undefined): { path: Uint8Array; value: Uint8Array }[] {
  if (!bytes) return []
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const empty = new Uint8Array(0)
  let at = type.kind === 'udt' ? 0 : 4
  const next = () => {
    const length = view.getInt32(at)
    at += 4 + Math.max(0, length)
    return length < 0 ? undefined : bytes.subarray(at - length, at)
  }
  const cells: { path: Uint8Array; value: Uint8Array }[] = []
  while (at < bytes.length) {
    const first = next()
    if (type.kind === 'udt') {
      if (first !== undefined) cells.push({ path: empty, value: first })
    } else if (type.kind === 'map') cells.push({ path: first!, value: next()! })
    else if (type.kind === 'set') cells.push({ path: first!, value: empty })
    else cells.push({ path: Uint8Array.of(cells.length), value: first! })
  }
  return cells
}

/** A counter as stored: no header entries, two shards. */
function counterContext(total: Uint8Array): Uint8Array {
  const context = Buffer.alloc(2 + 64)
  context[2] = 1
  context[34] = 2
  context.writeBigInt64BE(Buffer.from(total).readBigInt64BE() - 3n < -(2n ** 63n) ? 0n : 3n, 26)
  context.writeBigInt64BE(Buffer.from(total).readBigInt64BE() - context.readBigInt64BE(26), 58)
  return context
}

function rowAccess(columns: readonly ColumnSchema[], values: Values): RowAccess {
  const cells = columns.map((c) => (isMultiCell(c.type) ? cellsOf(c.type, values.get(c.name)) : []))
  const point = (bytes: Uint8Array) => {
    // Amid other bytes, as in a window.
    access.bytes = new Uint8Array(bytes.length + 7)
    access.bytes.set(bytes, 3)
    access.view = new DataView(access.bytes.buffer)
    access.offset = 3
    access.length = bytes.length
  }
  const access: RowAccess = {
    bytes: new Uint8Array(0),
    view: new DataView(new ArrayBuffer(0)),
    offset: 0,
    length: 0,
    value(slot) {
      const value = values.get(columns[slot].name) ?? null
      if (value !== null) point(columns[slot].type.kind === 'counter' ? counterContext(value) : value)
      return value !== null
    },
    cells: (slot) => cells[slot].length,
    cellPath: (slot, cell) => point(cells[slot][cell].path),
    cellValue: (slot, cell) => point(cells[slot][cell].value),
  }
  return access
}

function selects(plan: PredicatePlan, table: TableSchema, partitioner: Partitioner, values: Values): boolean {
  const key = partitionKeyBytes(table.partitionKey.map((c) => values.get(c.name)!))
  const { words } = tokenOf(partitioner, key)
  if (plan.keys !== undefined && !plan.keys.some((k) => Buffer.compare(k, key) === 0)) return false
  if (!plan.tokens.some((i) => compareToInterval(partitioner, i, words, 0, key, 0, key.length) === 0)) return false
  const access = rowAccess(plan.filter.columns, values)
  if (!plan.filter.matchesPartition(access)) return false
  const clustering = table.clustering.map((c) => values.get(c.name) ?? null)
  const staticOnly = table.statics.length > 0 && clustering.includes(null)
  if (staticOnly) return !plan.restrictsRows
  const within = (plan.slices ?? []).filter(
    ({ start, end }) => side(table, clustering, start, true) > 0 && side(table, clustering, end, false) < 0,
  )
  // Disjoint: no row is in two.
  expect(within.length).toBeLessThanOrEqual(1)
  if (plan.slices !== undefined && within.length === 0) return false
  return plan.filter.matchesRow(access)
}

/** Where a row stands to a bound: -1 before, 1 behind. */
function side(
  table: TableSchema,
  clustering: (Uint8Array | null)[],
  { values, inclusive }: ClusteringBound,
  isStart: boolean,
): number {
  return comparePrefixes(table.clustering, clustering, values) || (isStart === inclusive ? 1 : -1)
}

const partitioner = partitionerByName('Murmur3Partitioner', { kind: 'blob' })

describe.each(Object.keys(recorded.tables))(`rows of Cassandra ${recorded.version}, table %s`, (name) => {
  const table = recorded.tables[name]
  const schema = schemaOf(name, table)
  const rows = table.rows.map(
    ([, ...hex]): Values =>
      new Map(
        table.columns.map((c, i) => [c.name, hex[i] === null ? null : Uint8Array.from(Buffer.from(hex[i], 'hex'))]),
      ),
  )
  const carriedOut = (where: string) => {
    const plan = planPredicate(where, schema, partitioner)
    return rows.flatMap((values, i) => (selects(plan, schema, partitioner, values) ? [i] : []))
  }

  test('selected by WHERE', () => {
    const differing = table.answers
      .filter((a) => a.rows !== undefined)
      .map(({ where, rows: expected }) => ({ where, expected, found: attempt(() => carriedOut(where)) }))
      .filter(({ expected, found }) => JSON.stringify(expected) !== JSON.stringify(found))
    expect(differing).toEqual([])
  })

  test('not selected, because it is refused', () => {
    const refused = table.answers.filter((a) => a.rows === undefined)
    const lenient = refused
      .filter(({ where }) => typeof attempt(() => carriedOut(where)) !== 'string')
      .map((a) => a.where)
    expect(lenient.filter((where) => !BEYOND_CQL.includes(where))).toEqual([])
  })
})

/** What Cassandra refuses and we answer. */
const BEYOND_CQL = ['pk = 1 AND pk = 1', 'n > 0 AND n > 1', 'n IS NOT NULL', 'fm[1] = 1']

function attempt<T>(run: () => T): T | string {
  try {
    return run()
  } catch (error) {
    return String(error)
  }
}
