import { describe, expect, test } from 'vitest'
import { partitionerByName } from '../../../storage/ring/partitioner.ts'
import { parseSelection, selectedColumns } from '../../../storage/scan/selection.ts'
import type { CqlType } from '../../../storage/schema/cql-type.ts'
import type { ColumnKind, ColumnSchema, TableSchema } from '../../../storage/schema/table.ts'

const INT: CqlType = { kind: 'int' }
const BIGINT: CqlType = { kind: 'bigint' }
const column = (name: string, kind: ColumnKind, position: number, type: CqlType = INT): ColumnSchema => ({
  name,
  kind,
  position,
  type,
  reversed: false,
})
const table: TableSchema = {
  keyspace: 'ks',
  table: 't',
  partitionKey: [column('pk', 'partition_key', 0), column('Pk 2', 'partition_key', 1)],
  clustering: [column('c', 'clustering', 0)],
  statics: [column('st', 'static', -1)],
  regulars: [
    column('Order', 'regular', -1),
    column('m', 'regular', -1, { kind: 'map', key: INT, value: INT, frozen: false }),
    column('fm', 'regular', -1, { kind: 'map', key: INT, value: INT, frozen: true }),
    column('token', 'regular', -1, { kind: 'text' }),
    column('ttl', 'regular', -1, { kind: 'text' }),
    column('a"b', 'regular', -1),
  ],
  dropped: [],
  compact: 'none',
  isCounter: false,
  origin: 'ddl',
  warnings: [],
}
const by = (name: string) => partitionerByName(`${name}Partitioner`, INT)
const parse = (text?: string, partitioner = 'Murmur3') => parseSelection(text, table, by(partitioner))
const names = (text?: string) => parse(text).map((s) => s.name)
const kinds = (text: string) => parse(text).map((s) => `${s.kind} ${s.name} ${s.type.kind}`)
const ALL = ['pk', 'Pk 2', 'c', 'st', 'Order', 'm', 'fm', 'token', 'ttl', 'a"b']

describe('columns', () => {
  test('are all, in the order of SELECT *, without a text or by *', () => {
    expect(names()).toEqual(ALL)
    expect(names('*')).toEqual(ALL)
    expect(names(' * , writetime(st)')).toEqual([...ALL, 'writetime(st)'])
  })

  test('come in the order asked for, named as CQL names them', () => {
    expect(names('st,C, "Order" ,"Pk 2","a""b"')).toEqual(['st', 'c', 'Order', 'Pk 2', 'a"b'])
    expect(kinds('"token", ttl')).toEqual(['column token text', 'column ttl text'])
  })

  test('can be renamed', () => {
    expect(names('c AS Foo, c as "Foo", writetime(st) AS w, token AS t')).toEqual(['foo', 'Foo', 'w', 't'])
    expect(kinds('"token" as t, token')).toEqual(['column t text', 'token token bigint'])
  })

  test('that exist twice in the output are refused', () => {
    const twice = (position: number, name: string) =>
      expect.objectContaining({ code: 'BAD_SELECTOR', fields: expect.objectContaining({ position, column: name }) })
    expect(() => parse('c, st, C')).toThrow(twice(7, 'c'))
    expect(() => parse('*, c')).toThrow(twice(3, 'c'))
    expect(() => parse('token, "token"')).toThrow(twice(7, 'token'))
    expect(() => parse('c AS st, st')).toThrow(twice(9, 'st'))
  })

  test('that do not exist are refused, with a hint where case is the trouble', () => {
    const unknown = (fields: object) =>
      expect.objectContaining({ code: 'UNKNOWN_COLUMN', fields: expect.objectContaining(fields) })
    expect(() => parse('c, nope')).toThrow(
      unknown({ column: 'nope', position: 3, keyspace: 'ks', table: 't', hint: undefined }),
    )
    expect(() => parse('Order')).toThrow(unknown({ column: 'order', position: 0, hint: 'write "Order"' }))
    expect(() => parse('ttl("C")')).toThrow(unknown({ column: 'C', position: 4, hint: 'write c' }))
  })
})

describe('functions', () => {
  // Names and types as a Cassandra 5.0.8 node gives them.
  test('writetime and ttl, of cells and of many cells', () => {
    expect(kinds('WriteTime("Order"), ttl("Order"), writetime(fm), ttl(st), ttl(ttl)')).toEqual([
      'writetime writetime(Order) bigint',
      'ttl ttl(Order) int',
      'writetime writetime(fm) bigint',
      'ttl ttl(st) int',
      'ttl ttl(ttl) int',
    ])
    expect(parse('writetime(m), ttl(m)').map((s) => s.type)).toEqual([
      { kind: 'list', element: BIGINT, frozen: true },
      { kind: 'list', element: INT, frozen: true },
    ])
  })

  test('of a key column are refused', () => {
    for (const [text, position] of [
      ['writetime(pk)', 10],
      ['ttl( c )', 5],
    ] as const) {
      expect(() => parse(text)).toThrow(
        expect.objectContaining({ code: 'BAD_SELECTOR', fields: expect.objectContaining({ position }) }),
      )
    }
  })

  test('token, with or without the key columns', () => {
    expect(kinds('token(pk, "Pk 2")')).toEqual(['token token bigint'])
    expect(parse('token', 'Random')[0].type).toEqual({ kind: 'varint' })
    expect(parse('token', 'ByteOrdered')[0].type).toEqual({ kind: 'blob' })
    for (const text of ['token(pk)', 'token("Pk 2", pk)', 'token(c)', 'token()', 'token(pk, "Pk 2", c)']) {
      expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'BAD_SELECTOR' }))
    }
    expect(() => parse('token', 'Local')).toThrow(expect.objectContaining({ code: 'BAD_SELECTOR' }))
  })

  test('of the row itself', () => {
    expect(kinds('row_writetime(), Row_TTL( )')).toEqual([
      'row_writetime row_writetime() bigint',
      'row_ttl row_ttl() int',
    ])
  })
})

test('the columns that are read', () => {
  expect([...selectedColumns(parse('c, writetime(st), token, row_ttl(), ttl(st), c as d'))]).toEqual(['c', 'st'])
})

test.each([
  ['', 0, 'end of text'],
  ['c,', 2, 'end of text'],
  [',c', 0, ','],
  ['c st', 2, 'st'],
  ['c;', 1, ';'],
  ['count(*)', 0, 'count'],
  ['writetime()', 10, ')'],
  ['writetime(c', 11, 'end of text'],
  ['row_ttl(c)', 8, 'c'],
  ['m[1]', 1, '['],
  ['1', 0, '1'],
  ["'c'", 0, "'c'"],
  ['c as', 4, 'end of text'],
  ['"c', 0, '"c'],
  ['c, é', 3, 'é'],
])('%s is refused where it goes wrong', (text, position, found) => {
  expect(() => parse(text)).toThrow(
    expect.objectContaining({ code: 'BAD_SELECTOR', fields: expect.objectContaining({ position, found }) }),
  )
})
