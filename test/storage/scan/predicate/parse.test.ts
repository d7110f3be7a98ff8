// What a faulty WHERE body says, and how a sound one is taken apart.
import { describe, expect, test } from 'vitest'
import { partitionerByName, tokenOf } from '../../../../storage/ring/partitioner.ts'
import { formatIntervals } from '../../../../storage/ring/token-range.ts'
import type { ClusteringSlice } from '../../../../storage/scan/predicate/clustering-slices.ts'
import { planPredicate } from '../../../../storage/scan/predicate/plan.ts'
import type { CqlType } from '../../../../storage/schema/cql-type.ts'
import type { ColumnKind, ColumnSchema, TableSchema } from '../../../../storage/schema/table.ts'

const INT: CqlType = { kind: 'int' }
const TEXT: CqlType = { kind: 'text' }
const column = (
  name: string,
  kind: ColumnKind,
  position: number,
  type: CqlType = INT,
  reversed = false,
): ColumnSchema => ({
  name,
  kind,
  position,
  type,
  reversed,
})
const table: TableSchema = {
  keyspace: 'ks',
  table: 't',
  partitionKey: [column('p', 'partition_key', 0), column('Q', 'partition_key', 1, TEXT)],
  clustering: [column('c1', 'clustering', 0), column('c2', 'clustering', 1, TEXT, true), column('c3', 'clustering', 2)],
  statics: [column('s', 'static', -1)],
  regulars: [
    column('v', 'regular', -1),
    column('d', 'regular', -1, { kind: 'duration' }),
    column('l', 'regular', -1, { kind: 'list', element: INT, frozen: false }),
    column('m', 'regular', -1, { kind: 'map', key: TEXT, value: INT, frozen: false }),
    column('token', 'regular', -1),
  ],
  dropped: [],
  compact: 'none',
  isCounter: false,
  origin: 'ddl',
  warnings: [],
}
const by = (name: string) => partitionerByName(`${name}Partitioner`, { kind: 'blob' })
const plan = (where: string, name = 'Murmur3') => planPredicate(where, table, by(name))
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('where', () => {
  test.each([
    ['', 0, 'end of text'],
    ['v', 1, 'end of text'],
    ['v = ', 4, 'end of text'],
    ['v = 1 AND', 9, 'end of text'],
    ['v = 1 v = 2', 6, 'v'],
    ['v = 1; s = 2', 5, ';'],
    ['v == 1', 3, '='],
    ['v = 1 OR v = 2', 6, 'OR'],
    ['v != 1', 2, '!='],
    ['NOT v = 1', 0, 'not'],
    ["v LIKE 'a'", 2, 'like'],
    ['v BETWEEN 1 AND 2', 2, 'between'],
    ['v IS NULL', 5, 'NULL'],
    ['v = NULL', 4, 'null'],
    ['v IN (1, null)', 9, 'null'],
    ['v IN 1', 5, '1'],
    ['v IN (1', 7, 'end of text'],
    ['v = ?', 4, '?'],
    ['v = :x', 4, ':'],
    ['v CONTAINS 1', 2, 'contains'],
    ['l CONTAINS KEY 1', 2, 'contains'],
    ['l = [1]', 2, '='],
    ['m IN ({})', 2, 'in'],
    ["m['a'] > 1", 7, '>'],
    ['l[0] = 1', 1, '['],
    ['d > 1d', 2, '>'],
    ['(v) = (1)', 1, 'v'],
    ['(c1, c3) = (1, 2)', 5, 'c3'],
    ["(c2, c1) = ('a', 1)", 5, 'c1'],
    ['(c1, c1) = (1, 1)', 5, 'c1'],
    ["(c1, c2) = (1, 'a', 2)", 18, ','],
    ['(c1, c2) = (1)', 13, ')'],
    ['(c1, c2) = 1', 11, '1'],
    ['(v = 1', 6, 'end of text'],
    ['token(p) > 1', 7, ')'],
    ['token("Q", p) > 1', 6, '"Q"'],
    ['token(p, "Q") > 1.5', 16, '1.5'],
    ['token(p, "Q") > 9223372036854775808', 16, '9223372036854775808'],
    ['token(p, "Q") IN (1)', 14, 'IN'],
    ["token(p, \"Q\") > token('a', 'b')", 22, "'a'"],
  ])('%s is refused where it goes wrong', (where, position, found) => {
    expect(() => plan(where)).toThrow(
      expect.objectContaining({ code: 'BAD_PREDICATE', fields: expect.objectContaining({ position, found }) }),
    )
  })

  test('names columns by the rules of CQL', () => {
    expect(plan('V = 1').filter.columns[0].name).toBe('v')
    expect(plan('"token" = 1').filter.columns[0].name).toBe('token')
    expect(() => plan("q = 'a'")).toThrow(
      expect.objectContaining({
        code: 'UNKNOWN_COLUMN',
        fields: expect.objectContaining({ hint: 'write "Q"', position: 0 }),
      }),
    )
    expect(() => plan('v = 1 AND "V" = 2')).toThrow(
      expect.objectContaining({ code: 'UNKNOWN_COLUMN', fields: expect.objectContaining({ position: 10 }) }),
    )
  })

  test('is bounded', () => {
    expect(() => plan(`${'('.repeat(100_000)}v = 1`)).toThrow(expect.objectContaining({ code: 'BAD_PREDICATE' }))
    const many = Array.from({ length: 300 }, (_, i) => i).join(', ')
    const texts = Array.from({ length: 300 }, (_, i) => `'${i}'`).join(', ')
    expect(() => plan(`p IN (${many}) AND "Q" IN (${texts})`)).toThrow(
      expect.objectContaining({ code: 'BAD_PREDICATE', fields: expect.objectContaining({ limit: 65536 }) }),
    )
    expect(() => plan(`p = 1 AND "Q" = '${'x'.repeat(70_000)}'`)).toThrow(
      expect.objectContaining({ code: 'BAD_PREDICATE' }),
    )
    // Too many slices are none: the filter does the work.
    const wide = plan(`c1 IN (${many}) AND c2 IN (${texts}) AND c3 = 1`)
    expect(wide.slices).toHaveLength(300)
    expect(wide.filter.columns.map((c) => c.name)).toEqual(['c2', 'c3'])
  })
})

describe('a plan', () => {
  test('of exact keys, in ring order, without what another relation rules out', () => {
    const { keys, tokens, filter, restrictsRows } = plan(`p IN (2, 1, 2) AND "Q" = 'a'`)
    expect(keys!.map(hex).sort()).toEqual(['000400000001000001' + '6100', '0004000000020000016100'])
    const [first, second] = keys!.map((key) => by('Murmur3').formatToken(tokenOf(by('Murmur3'), key).words, 0, key)!)
    expect(BigInt(first)).toBeLessThan(BigInt(second))
    expect(formatIntervals(by('Murmur3'), tokens)).toBe('(,]')
    expect([filter.columns, filter.hasPartitionTests, filter.hasRowTests, restrictsRows]).toEqual([
      [],
      false,
      false,
      false,
    ])
    const half = plan(`p IN (2, 1) AND "Q" = 'a' AND token(p, "Q") > ${first}`)
    expect(half.keys).toEqual([keys![1]])
    expect(plan(`p = 1 AND p = 2 AND "Q" = 'a'`).filter.columns.map((c) => c.name)).toEqual(['p'])
  })

  test('of tokens', () => {
    const tokens = (where: string, name = 'Murmur3') => formatIntervals(by(name), plan(where, name).tokens)
    expect(tokens('token(p, "Q") > -5 AND token(p, "Q") <= 10')).toBe('(-5,10]')
    expect(tokens('token(p, "Q") >= 0 AND token(p, "Q") < 4294967296')).toBe('(-1,4294967295]')
    expect(tokens('token(p, "Q") = -4294967296')).toBe('(-4294967297,-4294967296]')
    expect(tokens('token(p, "Q") > 10 AND token(p, "Q") <= 5')).toBe('')
    expect(tokens('token(p, "Q") >= 18446744073709551616', 'Random')).toBe('(18446744073709551615,]')
    expect(tokens('token(p, "Q") >= -1', 'Random')).toBe('(,]')
    expect(tokens('token(p, "Q") > 0xff00 AND token(p, "Q") <= 0xffff', 'ByteOrdered')).toBe('(ff00,ffff]')
    for (const [where, name] of [
      ['token(p, "Q") >= 0xff', 'ByteOrdered'],
      ['token(p, "Q") > 1', 'ByteOrdered'],
      ['token(p, "Q") > 1', 'Local'],
      ['token(p, "Q") > 0x01', 'Murmur3'],
    ]) {
      expect(() => plan(where, name)).toThrow(expect.objectContaining({ code: 'BAD_PREDICATE' }))
    }
  })

  // c1 ascends, c2 descends, c3 ascends.
  const text = (slices: ClusteringSlice[] | undefined) =>
    slices?.map(({ start, end }) => {
      const values = (v: Uint8Array[]) =>
        v.map((x) => (x.length === 4 ? Buffer.from(x).readInt32BE() : Buffer.from(x).toString())).join(',')
      return `${start.inclusive ? '[' : '('}${values(start.values)} .. ${values(end.values)}${end.inclusive ? ']' : ')'}`
    })

  test.each([
    ['v = 1', undefined, 'v'],
    ['c1 = 1', ['[1 .. 1]'], ''],
    ['c1 > 1', ['(1 .. ]'], ''],
    ['c1 <= 1', ['[ .. 1]'], ''],
    ['c1 > 1 AND c1 <= 4', ['(1 .. 4]'], ''],
    ['c1 > 4 AND c1 <= 4', [], ''],
    ['c1 IN (3, 1, 3)', ['[1 .. 1]', '[3 .. 3]'], ''],
    ['c1 IN ()', [], ''],
    ["c1 = 1 AND c2 > 'a'", ['[1 .. 1,a)'], ''],
    ["c1 = 1 AND c2 > 'a' AND c2 <= 'b'", ['[1,b .. 1,a)'], ''],
    ["c1 IN (1, 2) AND c2 IN ('a', 'b')", ['[1,b .. 1,b]', '[1,a .. 1,a]', '[2,b .. 2,b]', '[2,a .. 2,a]'], ''],
    ["c2 = 'a'", undefined, 'c2'],
    ["c1 > 1 AND c2 = 'a'", ['(1 .. ]'], 'c2'],
    ["(c1, c2) = (1, 'a') AND c3 < 5", ['[1,a .. 1,a,5)'], ''],
    ["(c1, c2) IN ((1, 'a'), (0, 'b'))", ['[0,b .. 0,b]', '[1,a .. 1,a]'], ''],
    ["(c1, c2) > (1, 'a')", ['[1 .. 1,a)', '(1 .. ]'], ''],
    ["(c1, c2, c3) <= (1, 'a', 5)", ['[ .. 1)', '[1,a .. 1,a,5]', '(1,a .. 1]'], ''],
    ["c1 = 1 AND (c2, c3) >= ('a', 5)", ['[1 .. 1,a)', '[1,a,5 .. 1,a]'], ''],
    ['c1 = 1 AND c1 = 2', ['[1 .. 1]'], 'c1'],
    ['c1 > 1 AND c1 > 2', ['(1 .. ]'], 'c1'],
    ['c3 = 1 AND s = 1', undefined, 'c3 s'],
  ])('%s has slices %j and tests "%s"', (where, slices, tested) => {
    const made = plan(where)
    expect(text(made.slices)).toEqual(slices)
    expect(made.filter.columns.map((c) => c.name).join(' ')).toBe(tested)
    expect(made.restrictsRows).toBe(true)
  })

  test('of static columns alone lets partitions without rows pass', () => {
    expect(plan('s = 1').restrictsRows).toBe(false)
    expect(plan('s IS NOT NULL AND p > 1').restrictsRows).toBe(false)
    expect(planPredicate('v = 1', { ...table, compact: 'static' }, by('Murmur3')).restrictsRows).toBe(false)
  })
})
