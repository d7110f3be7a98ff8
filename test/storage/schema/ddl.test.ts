import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { storedColumns } from '../../../storage/schema/compact.ts'
import { formatCqlType } from '../../../storage/schema/cql-type-text.ts'
import { parseDdl } from '../../../storage/schema/ddl-parser.ts'
import type { ColumnSchema, TableSchema } from '../../../storage/schema/table.ts'
import { GOLDEN_NAMES, goldenSet } from '../../corpus/golden.ts'
import { fieldsOf } from './faults.ts'

const show = (columns: ColumnSchema[] = []): string =>
  columns.map((c) => `${c.name} ${formatCqlType(c.type)}${c.reversed ? ' desc' : ''}`).join(', ')
const columns = (table: TableSchema): string =>
  [table.partitionKey, table.clustering, table.statics, table.regulars].map(show).join(' | ')
const only = (text: string): TableSchema => parseDdl(text, 'x.cql', 'ks').tables[0]

describe('DESCRIBE output of real nodes', () => {
  test.each(GOLDEN_NAMES)('%s: every table parses, with the columns and order that SELECT gave', async (name) => {
    const directory = await goldenSet(name)
    const rows = JSON.parse(readFileSync(join(directory, 'expected/meta.json'), 'utf8')).rows as Record<string, number>
    for (const file of ['schema.cql', 'schema.internals.cql']) {
      if (file === 'schema.internals.cql' && name === 'me') continue
      const { tables } = parseDdl(readFileSync(join(directory, file), 'utf8'), file)
      expect(tables.map((t) => `${t.keyspace}.${t.table}`).sort()).toEqual(Object.keys(rows).sort())
      for (const table of tables) {
        const path = join(directory, 'expected', `${table.keyspace}.${table.table}.ndjson`)
        const first = readFileSync(path, 'utf8').split('\n')[0]
        if (first === '') continue
        // SELECT JSON quotes names that are not plain lower case within the JSON name.
        const shown = [...table.partitionKey, ...table.clustering, ...table.statics, ...table.regulars]
        const keys = Object.keys(JSON.parse(first)).map((key) => key.replace(/^"(.*)"$/, '$1'))
        expect([table.table, ...keys]).toEqual([table.table, ...shown.map((column) => column.name)])
      }
    }
  })

  test('DROP statements of WITH INTERNALS give dropped columns with their times', async () => {
    const directory = await goldenSet('nb')
    const { tables } = parseDdl(readFileSync(join(directory, 'schema.internals.cql'), 'utf8'))
    const table = tables.find((t) => t.table === 'altered_drop')!
    expect(columns(table)).toBe('pk int | c int |  | a int')
    expect(table.dropped).toEqual([
      { name: 'b', kind: 'regular', droppedAt: 1796061375161000n },
      { name: 's', kind: 'static', droppedAt: 1796061375483000n },
      { name: 'l', kind: 'regular', droppedAt: 1796061375288000n },
      { name: 'm', kind: 'regular', droppedAt: 1796061375377000n },
    ])
    const again = tables.find((t) => t.table === 'altered_readd')!
    expect(columns(again)).toBe('pk int | c int |  | a int, b text, m map<text, int>')
    expect(again.dropped.map((d) => d.name)).toEqual(['m', 'b'])
  })

  test('compact tables are read out of the comment that 4.x puts them in', async () => {
    const directory = await goldenSet('nb')
    const text = readFileSync(join(directory, 'schema.cql'), 'utf8')
    expect(text).toContain('/*\nWarning: Table golden.compact_sparse omitted')
    const byName = new Map(parseDdl(text).tables.map((table) => [table.table, table]))
    const stored = (name: string): string => {
      const { clustering, statics, regulars } = storedColumns(byName.get(name)!)
      return [clustering, statics, regulars].map(show).join(' | ')
    }
    expect(byName.get('compact_sparse')).toMatchObject({ compact: 'static' })
    expect(columns(byName.get('compact_sparse')!)).toBe('k int |  | a int, b text | ')
    expect(stored('compact_sparse')).toBe('column1 text | a int, b text | value blob')
    expect(byName.get('compact_noval')).toMatchObject({ compact: 'dense' })
    expect(columns(byName.get('compact_noval')!)).toBe('k int | c int |  | ')
    expect(stored('compact_noval')).toBe('c int |  | value empty')
    expect(columns(byName.get('compact_dense_multi')!)).toBe('k int | c1 int desc, c2 text |  | v blob')
    expect(byName.get('compact_counter')).toMatchObject({ compact: 'dense', isCounter: true })
  })
})

describe('parseDdl', () => {
  test('primary keys, orders, statics, quoted names, comments', () => {
    const table = only(`
      -- first
      CREATE TABLE IF NOT EXISTS "Ks"."T" ( // more
        "A b" int, b text, c timestamp STATIC, d frozen<list<int>>, /* e int, */ z int, y int,
        PRIMARY KEY (("A b", b), y, d)
      ) WITH CLUSTERING ORDER BY (y DESC, d ASC) AND comment = 'a;b' AND compression = {'class': 'X', 'a': '1'};`)
    expect([table.keyspace, table.table]).toEqual(['Ks', 'T'])
    expect(columns(table)).toBe('A b int, b text | y int desc, d frozen<list<int>> | c timestamp | z int')
    expect(table.partitionKey.map((c) => c.position)).toEqual([0, 1])
    expect(table.origin).toBe('ddl')
  })

  test('USE, IF NOT EXISTS, DROP', () => {
    const { keyspaces, tables } = parseDdl(`
      CREATE KEYSPACE one WITH replication = {'class': 'SimpleStrategy'};
      USE one; CREATE TABLE a (k int PRIMARY KEY); CREATE TABLE IF NOT EXISTS a (k text PRIMARY KEY);
      USE "Two"; CREATE TABLE a (k text PRIMARY KEY); CREATE TABLE b (k int PRIMARY KEY);
      DROP TABLE b; DROP TABLE IF EXISTS nope; CREATE TABLE three.c (k int PRIMARY KEY); DROP KEYSPACE three`)
    expect(keyspaces).toEqual(['one', 'Two'])
    expect(tables.map((t) => `${t.keyspace}.${t.table} ${columns(t)}`)).toEqual([
      'one.a k int |  |  | ',
      'Two.a k text |  |  | ',
    ])
  })

  test('types in any order, altered', () => {
    const { tables, udts } = parseDdl(`
      CREATE TYPE ks.b (x frozen<a>, "Y" int);
      CREATE TYPE ks.a (p int, q list<int>);
      ALTER TYPE ks.a ADD r text;
      ALTER TYPE ks.a RENAME p TO pp AND q TO qq;
      ALTER TYPE ks.a ALTER r TYPE blob;
      CREATE TABLE ks.t (k int PRIMARY KEY, v b, f frozen<b>, l list<frozen<a>>);`)
    expect(udts.map((t) => t.name)).toEqual(['b', 'a'])
    expect(udts[1]).toMatchObject({
      fieldNames: ['pp', 'qq', 'r'],
      fields: [{ kind: 'int' }, { kind: 'list', frozen: true }, { kind: 'blob' }],
    })
    expect(columns(tables[0])).toBe('k int |  |  | f frozen<b>, l list<frozen<a>>, v b')
  })

  test('ALTER TABLE', () => {
    const table = only(`
      CREATE TABLE t (k int, c int, a int, b text, s int static, PRIMARY KEY (k, c));
      ALTER TABLE t ADD d int; ALTER TABLE t ADD (e int, f int static); ALTER TABLE t ADD IF NOT EXISTS g int, h int;
      ALTER TABLE t DROP d USING TIMESTAMP 5; ALTER TABLE t DROP (g, h); ALTER TABLE t ADD g text;
      ALTER TABLE t RENAME k TO "K" AND c TO cc; ALTER TABLE t ALTER a TYPE varint; ALTER TABLE t WITH comment = 'x';
      ALTER TABLE IF EXISTS nope DROP x;`)
    expect(columns(table)).toBe('K int | cc int | f int, s int | a varint, b text, e int, g text')
    expect(table.dropped).toEqual([
      { name: 'd', kind: 'regular', droppedAt: 5n },
      { name: 'h', kind: 'regular', droppedAt: 2n ** 63n - 1n },
    ])
    expect(table.warnings).toEqual([expect.stringContaining('column g was dropped and added again')])
  })

  test('ID, DROPPED COLUMN RECORD, masks, options before the order', () => {
    const table =
      only(`CREATE TABLE t (k int, c int MASKED WITH DEFAULT, m text MASKED WITH mask_inner(1, null), PRIMARY KEY (k, c))
      WITH ID = 5A1C395E-B41F-11E5-9F22-BA0BE0483C18 AND gc_grace_seconds=10 AND caching={'keys':'ALL'} AND
      DROPPED COLUMN RECORD x set<int> static USING TIMESTAMP 77 AND CLUSTERING ORDER BY (c DESC)`)
    expect(table.id).toBe('5a1c395eb41f11e59f22ba0be0483c18')
    expect(columns(table)).toBe('k int | c int desc |  | m text')
    expect(table.dropped).toEqual([{ name: 'x', kind: 'static', droppedAt: 77n }])
  })

  test('statements that are no tables are stepped over', () => {
    const { tables } = parseDdl(`
      CREATE OR REPLACE FUNCTION ks.f (x int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS $$ return x; /* CREATE TABLE ks.no ( */ $$;
      CREATE FUNCTION ks.g (x int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return ";";';
      CREATE AGGREGATE ks.a (int) SFUNC f STYPE int INITCOND 0;
      CREATE ROLE r WITH LOGIN = true; GRANT SELECT ON ks.t TO r; CREATE INDEX i ON ks.t (v);
      CREATE CUSTOM INDEX j ON ks.t (v) USING 'X' WITH OPTIONS = {'a': ';'};
      INSERT INTO ks.t (k) VALUES (1); BEGIN BATCH UPDATE ks.t SET v = 1 WHERE k = 1; APPLY BATCH;
      /* Warning: Table ks.vt is a virtual table and cannot be recreated with CQL.
      VIRTUAL TABLE ks.vt (k int PRIMARY KEY) */
      ;; CREATE TABLE ks.t (k int PRIMARY KEY, v int)`)
    expect(tables.map((t) => t.table)).toEqual(['t'])
  })

  test('views take their columns from the base table', () => {
    const base =
      'CREATE TABLE t (a int, b int, c int, v text, w text, s int static, PRIMARY KEY (a, b, c)) WITH CLUSTERING ORDER BY (b DESC, c ASC);'
    const [, all, some] = parseDdl(
      `${base}
      CREATE MATERIALIZED VIEW x AS SELECT * FROM t WHERE v IS NOT NULL AND a IS NOT NULL PRIMARY KEY ((v), a, b, c) WITH CLUSTERING ORDER BY (a DESC);
      CREATE MATERIALIZED VIEW y AS SELECT a, w, b, c FROM ks.t WHERE c > 5 AND a IN (1, 2) PRIMARY KEY (c, b, a) WITH ID = 5a1c395e-b41f-11e5-9f22-ba0be0483c18 AND comment = '';`,
      'x.cql',
      'ks',
    ).tables
    expect(columns(all)).toBe('v text | a int desc, b int, c int |  | w text')
    expect(all.view).toEqual({ baseTable: 't', requiresLiveness: true })
    expect(columns(some)).toBe('c int | b int, a int |  | w text')
    expect(some.view).toEqual({ baseTable: 't', requiresLiveness: false })
    expect(some.id).toBe('5a1c395eb41f11e59f22ba0be0483c18')
  })

  test('compact storage: hidden columns take free names', () => {
    const table = only(
      'CREATE TABLE t (k int PRIMARY KEY, column1 int, value int, value1 counter) WITH COMPACT STORAGE',
    )
    expect(show(table.hidden)).toBe('column2 text, value2 counter')
    expect(
      only('CREATE TABLE t (k int, c int, "" map<int, int>, PRIMARY KEY (k, c)) WITH COMPACT STORAGE').compact,
    ).toBe('super')
  })

  test.each([
    ['CREATE TABLE t (k int)', 22, 'a primary key in the table'],
    ['CREATE TABLE t (k int PRIMARY KEY) garbage', 35, ';'],
    ['CREATE TABLE t (k int PRIMARY KEY', 33, ')'],
    ['CREATE TABLE t (k int PRIMARY KEY, v foo)', 37, 'a known type'],
    ['CREATE TABLE t (k int PRIMARY KEY, v list<foo>)', 42, 'a known type'],
    ['CRATE TABLE t (k int PRIMARY KEY)', 0, 'a CQL statement'],
    ['CONSISTENCY ONE\nCREATE TABLE t (k int PRIMARY KEY)', 0, 'a CQL statement'],
    ['CREATE TABLE t (k int, PRIMARY KEY (k, c))', 0, undefined],
    ['CREATE TABLE t (k int, k text, PRIMARY KEY (k))', 0, undefined],
    ['CREATE TABLE t (k int, PRIMARY KEY (k, k))', 0, undefined],
    ['CREATE TABLE t (k int PRIMARY KEY, c int PRIMARY KEY)', 52, 'one primary key'],
    ['CREATE TABLE t (k int PRIMARY KEY); CREATE TABLE t (k int PRIMARY KEY)', 36, undefined],
    ['CREATE TABLE t (k int PRIMARY KEY) WITH ID = 5', 45, 'a uuid'],
    ['CREATE TABLE t (k int PRIMARY KEY) WITH comment = ', 50, 'a value'],
    ['ALTER TABLE nope ADD c int', 0, 'a name declared before'],
    ['CREATE TABLE t (k int PRIMARY KEY); ALTER TABLE t DROP c', 36, 'a column or field that is there'],
    ['CREATE MATERIALIZED VIEW v AS SELECT * FROM t WHERE k IS NOT NULL PRIMARY KEY (k)', 0, undefined],
    ['CREATE TYPE a (x frozen<a>); CREATE TABLE t (k int PRIMARY KEY, v frozen<a>)', undefined, undefined],
    ["CREATE TABLE t (k int PRIMARY KEY, v 'org.apache.cassandra.db.marshal.ListType(')", 37, 'a class name'],
  ])('refuses %j', (text, position, expected) => {
    const found = fieldsOf(() => parseDdl(text, 'x.cql', 'ks'))
    expect(found).toMatchObject({ code: 'SCHEMA_INVALID' })
    expect(found).toMatchObject(JSON.parse(JSON.stringify({ position, expected })))
  })

  test('errors name file and line', () => {
    const found = fieldsOf(() =>
      parseDdl('USE ks;\n\nCREATE TABLE t (\n  k int PRIMARY KEY,\n  v foo\n);', 'some/schema.cql'),
    )
    expect(found).toMatchObject({ file: 'some/schema.cql', line: 5, found: 'foo' })
    expect(fieldsOf(() => parseDdl('CREATE TABLE t (k int PRIMARY KEY)', 'x.cql'))).toMatchObject({
      file: 'x.cql',
      found: 't',
    })
  })
})
