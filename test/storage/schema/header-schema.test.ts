import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findTableDirectories } from '../../../storage/scan/data-directory.ts'
import { openLive } from '../../../storage/scan/live-set.ts'
import { readSystemSchema } from '../../../storage/scan/schema-reader.ts'
import { formatCqlType } from '../../../storage/schema/cql-type-text.ts'
import { parseDdl } from '../../../storage/schema/ddl-parser.ts'
import { checkHeader, headerSchema } from '../../../storage/schema/header-schema.ts'
import type { ColumnSchema, TableSchema } from '../../../storage/schema/table.ts'
import { GOLDEN_NAMES, goldenSet } from '../../corpus/golden.ts'
import { fieldsOf } from './faults.ts'

const show = (columns: ColumnSchema[] = []): string =>
  columns.map((c) => `${c.name} ${formatCqlType(c.type)}${c.reversed ? ' desc' : ''}`).join(', ')

const named = (columns: Record<string, string>) =>
  Object.entries(columns).map(([name, type]) => ({ name, nameBytes: Buffer.from(name), type }))
const header = (
  keyType: string,
  clusteringTypes: string[],
  statics: Record<string, string>,
  regulars: Record<string, string>,
) => {
  return { keyType, clusteringTypes, statics: named(statics), regulars: named(regulars) }
}
const table = (text: string): TableSchema => parseDdl(text, undefined, 'ks').tables.at(-1)!

describe('headers of real SSTables', () => {
  test.each(GOLDEN_NAMES)('%s: every one fits its schema and describes its table', async (name) => {
    const directory = await goldenSet(name)
    const directories = await findTableDirectories(join(directory, 'data'))
    const { tables } = await readSystemSchema(directories.filter((d) => d.keyspace === 'system_schema'))
    let checked = 0
    for (const schema of tables) {
      const own = directories.filter(
        (d) => d.keyspace === schema.keyspace && d.table === schema.table && d.id === schema.id,
      )
      const sstables = await openLive(own.map((d) => d.path))
      try {
        for (const sstable of sstables) checkHeader(schema, sstable.statistics.header, sstable.file)
        checked += sstables.length
        if (sstables.length === 0 || schema.compact !== 'none') continue
        const alone = headerSchema(
          schema.keyspace,
          schema.table,
          sstables.map((s) => s.statistics.header),
        )
        const types = (columns: ColumnSchema[]) => columns.map((c) => [formatCqlType(c.type), c.reversed])
        expect([schema.table, types(alone.partitionKey)]).toEqual([schema.table, types(schema.partitionKey)])
        expect([schema.table, types(alone.clustering)]).toEqual([schema.table, types(schema.clustering)])
        expect(alone.isCounter).toBe(schema.isCounter)
        expect(alone.warnings).toHaveLength(1)
      } finally {
        for (const sstable of sstables) sstable.release()
      }
    }
    expect(checked).toBeGreaterThan(20)
  })

  test('a header alone gives the columns, made-up key names, the types of the newest file', async () => {
    const directory = await goldenSet('da')
    const directories = (await findTableDirectories(join(directory, 'data'))).filter(
      (d) => d.table === 'clustering_mixed',
    )
    const sstables = await openLive(directories.map((d) => d.path))
    const alone = headerSchema(
      'golden',
      'clustering_mixed',
      sstables.map((s) => s.statistics.header),
    )
    for (const sstable of sstables) sstable.release()
    const { tables } = parseDdl(readFileSync(join(directory, 'schema.cql'), 'utf8'))
    const known = tables.find((t) => t.table === 'clustering_mixed')!
    expect(known.clustering.some((c) => c.reversed)).toBe(true)
    expect(alone.clustering.map((c) => c.name)).toEqual(known.clustering.map((_, i) => `clustering${i + 1}`))
    expect(show([...alone.statics, ...alone.regulars])).toBe(show([...known.statics, ...known.regulars]))
  })
})

describe('headerSchema', () => {
  test('names keys around the columns; merges headers, the last type wins', () => {
    const alone = headerSchema(
      'ks',
      't',
      [
        header(
          'CompositeType(Int32Type,UTF8Type)',
          ['ReversedType(Int32Type)'],
          { s: 'UTF8Type' },
          { key: 'Int32Type', a: 'Int32Type' },
        ),
        header(
          'CompositeType(Int32Type,UTF8Type)',
          ['ReversedType(Int32Type)'],
          {},
          { a: 'IntegerType', b: 'ListType(Int32Type)' },
        ),
      ],
      '00',
    )
    expect([alone.partitionKey, alone.clustering, alone.statics, alone.regulars].map(show)).toEqual([
      'key_ int, key2 text',
      'clustering1 int desc',
      's text',
      'a varint, b list<int>, key int',
    ])
    expect(alone).toMatchObject({ id: '00', origin: 'header', isCounter: false })
  })

  test('headers of different tables, or none', () => {
    const two = [header('Int32Type', [], {}, {}), header('UTF8Type', [], {}, {})]
    expect(fieldsOf(() => headerSchema('ks', 't', two))).toMatchObject({ code: 'SCHEMA_MISMATCH', column: 'key' })
    expect(fieldsOf(() => headerSchema('ks', 't', []))).toMatchObject({ code: 'SCHEMA_MISSING', table: 't' })
    expect(fieldsOf(() => headerSchema('ks', 't', [header('Nope(', [], {}, {})]))).toMatchObject({
      code: 'SCHEMA_INVALID',
    })
  })
})

describe('checkHeader', () => {
  const schema =
    table(`CREATE TYPE u (a int, b text); CREATE TABLE t (p int, q text, c int, d text, s int static, v varint, f frozen<u>,
    l list<int>, PRIMARY KEY ((p, q), c, d)) WITH CLUSTERING ORDER BY (c DESC)`)
  const KEY = 'CompositeType(Int32Type,UTF8Type)'
  const CLUSTERING = ['ReversedType(Int32Type)', 'UTF8Type']
  const check = (
    key: string,
    clustering: string[],
    statics: Record<string, string>,
    regulars: Record<string, string>,
  ) => fieldsOf(() => checkHeader(schema, header(key, clustering, statics, regulars), 'x-Data.db'))

  test.each([
    [KEY, CLUSTERING, {}, {}],
    [
      KEY,
      CLUSTERING,
      { s: 'Int32Type' },
      { v: 'IntegerType', f: 'FrozenType(UserType(ks,75,61:Int32Type))', l: 'ListType(Int32Type)' },
    ],
    // What ALTER TYPE and old versions leave behind.
    ['CompositeType(Int32Type,AsciiType)', ['ReversedType(Int32Type)', 'AsciiType'], {}, { v: 'Int32Type' }],
    [KEY, CLUSTERING, {}, { f: 'UserType(ks,75,61:Int32Type)' }],
    // Columns that the schema does not have are the layout's business.
    [KEY, CLUSTERING, { v: 'Int32Type' }, { gone: 'Int32Type', s: 'UTF8Type' }],
  ])('%s %j %j %j fits', (key, clustering, statics, regulars) => {
    expect(
      check(key, clustering, statics as Record<string, string>, regulars as Record<string, string>),
    ).toBeUndefined()
  })

  test.each([
    ['Int32Type', CLUSTERING, {}, 'partition key', 'int, text', 'Int32Type'],
    ['CompositeType(Int32Type,Int32Type)', CLUSTERING, {}, 'q', 'text', 'int'],
    [KEY, ['Int32Type', 'UTF8Type'], {}, 'c', 'int DESC', 'int'],
    [KEY, ['ReversedType(LongType)', 'UTF8Type'], {}, 'c', 'int DESC', 'bigint DESC'],
    [KEY, ['ReversedType(Int32Type)'], {}, 'clustering columns', '2 columns', '1 columns'],
    [KEY, CLUSTERING, { v: 'UTF8Type' }, 'v', 'varint', 'text'],
    [KEY, CLUSTERING, { l: 'FrozenType(ListType(Int32Type))' }, 'l', 'list<int>', 'frozen<list<int>>'],
    [KEY, CLUSTERING, { l: 'SetType(Int32Type)' }, 'l', 'list<int>', 'set<int>'],
    [KEY, CLUSTERING, { f: 'FrozenType(UserType(ks,75,61:LongType))' }, 'f', 'frozen<u>', 'frozen<u>'],
  ])('%s %j %j is refused', (key, clustering, regulars, column, expected, found) => {
    const fields = check(key, clustering, {}, regulars as unknown as Record<string, string>)
    expect(fields).toEqual({
      code: 'SCHEMA_MISMATCH',
      file: 'x-Data.db',
      keyspace: 'ks',
      table: 't',
      column,
      expected,
      found,
    })
  })

  test('a column that was dropped and added again may have any type in an old file', () => {
    const again = table(
      'CREATE TABLE t (k int PRIMARY KEY, v int); ALTER TABLE t DROP v USING TIMESTAMP 5; ALTER TABLE t ADD v text',
    )
    expect(fieldsOf(() => checkHeader(again, header('Int32Type', [], {}, { v: 'SetType(Int32Type)' })))).toBeUndefined()
  })

  test('a single key column may have a composite type', () => {
    const single = table(
      "CREATE TABLE t (k 'org.apache.cassandra.db.marshal.CompositeType(UTF8Type,Int32Type)' PRIMARY KEY)",
    )
    expect(fieldsOf(() => checkHeader(single, header('CompositeType(UTF8Type,Int32Type)', [], {}, {})))).toBeUndefined()
    expect(fieldsOf(() => checkHeader(single, header('CompositeType(UTF8Type,LongType)', [], {}, {})))).toMatchObject({
      column: 'k',
    })
  })

  test('a compact table is checked with its hidden columns', () => {
    const compact = table('CREATE TABLE t (k int PRIMARY KEY, v int) WITH COMPACT STORAGE')
    expect(
      fieldsOf(() =>
        checkHeader(compact, header('Int32Type', ['UTF8Type'], { v: 'Int32Type' }, { value: 'BytesType' })),
      ),
    ).toBeUndefined()
    expect(fieldsOf(() => checkHeader(compact, header('Int32Type', [], { v: 'Int32Type' }, {})))).toMatchObject({
      found: '0 columns',
    })
  })
})
