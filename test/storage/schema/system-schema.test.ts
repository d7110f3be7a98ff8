import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findTableDirectories } from '../../../storage/scan/data-directory.ts'
import { readSystemSchema } from '../../../storage/scan/schema-reader.ts'
import { storedColumns } from '../../../storage/schema/compact.ts'
import { formatCqlType } from '../../../storage/schema/cql-type-text.ts'
import { parseDdl } from '../../../storage/schema/ddl-parser.ts'
import { SYSTEM_SCHEMA_TABLES } from '../../../storage/schema/system-schema.ts'
import { buildSchema, type ColumnRow, type SystemSchemaRows } from '../../../storage/schema/system-schema-rows.ts'
import type { ColumnSchema, TableSchema } from '../../../storage/schema/table.ts'
import { GOLDEN_NAMES, goldenSet } from '../../corpus/golden.ts'

const show = (columns: ColumnSchema[] = []): string =>
  columns.map((c) => `${c.name} ${formatCqlType(c.type)}${c.reversed ? ' desc' : ''}`).join(', ')

function comparable(table: TableSchema, withInternals: boolean): object {
  const { partitionKey, clustering, statics, regulars, hidden, compact, isCounter, view } = table
  const shown = [partitionKey, clustering, statics, regulars, hidden].map(show)
  if (!withInternals) return { shown, compact, isCounter, view }
  const dropped = table.dropped.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return { shown, compact, isCounter, view, dropped, id: table.id }
}

describe('the schema in the SSTables of a real node is the one it describes', () => {
  test.each(GOLDEN_NAMES)('%s', async (name) => {
    const directory = await goldenSet(name)
    const withInternals = name !== 'me' // 3.11 has no such DESCRIBE
    const file = withInternals ? 'schema.internals.cql' : 'schema.cql'
    const described = parseDdl(readFileSync(join(directory, file), 'utf8'))
    const found = (await findTableDirectories(join(directory, 'data'))).filter((d) => d.keyspace === 'system_schema')
    const { tables, udts, faults } = await readSystemSchema(found)
    expect(faults).toEqual([])
    expect(described.tables.length).toBeGreaterThan(10)
    for (const table of described.tables) {
      const own = tables.find((t) => t.keyspace === table.keyspace && t.table === table.table)!
      expect([table.table, comparable(own, withInternals)]).toEqual([table.table, comparable(table, withInternals)])
    }
    const fields = (all: typeof udts) =>
      all.map((t) => [t.keyspace, t.name, t.fieldNames, t.fields.map(formatCqlType)]).sort()
    expect(fields(udts)).toEqual(fields(described.udts))
    // The node's own tables are described there too, by their name in system_schema itself.
    const own = tables.find((t) => t.keyspace === 'system_schema' && t.table === 'columns')!
    expect(show(own.regulars)).toBe(show(SYSTEM_SCHEMA_TABLES.columns.regulars))
  })

  test.each(['me', 'nb', 'da'] as const)('%s: SYSTEM_SCHEMA_TABLES lists every column of theirs', async (name) => {
    const directory = await goldenSet(name)
    const found = (await findTableDirectories(join(directory, 'data'))).filter((d) => d.keyspace === 'system_schema')
    const { tables } = await readSystemSchema(found)
    for (const table of Object.values(SYSTEM_SCHEMA_TABLES)) {
      const real = tables.find((t) => t.keyspace === 'system_schema' && t.table === table.table)!
      expect(show(real.clustering)).toBe(show(table.clustering))
      const listed = new Set(show(table.regulars).split(', '))
      // A comma stands in map<text, text> as well: both sides are cut alike.
      expect(
        show(real.regulars)
          .split(', ')
          .filter((column) => !listed.has(column)),
      ).toEqual([])
    }
  })
})

describe('buildSchema', () => {
  const column = (table_name: string, column_name: string, kind: string, position: number, type: string): ColumnRow => {
    return { keyspace_name: 'k', table_name, column_name, kind, position, type, clustering_order: 'none' }
  }
  const build = (rows: Partial<SystemSchemaRows>) =>
    buildSchema({ keyspaces: [{ keyspace_name: 'k' }], tables: [], columns: [], types: [], ...rows })
  const key = column('t', 'key', 'partition_key', 0, 'int')

  test('a table that cannot be read is a fault with its name, and does not hide others', () => {
    const { tables, faults } = build({
      tables: ['t', 'bad', 'none', 'gap', 'kind'].map((table_name) => ({
        keyspace_name: 'k',
        table_name,
        flags: ['compound'],
      })),
      columns: [
        key,
        column('bad', 'key', 'partition_key', 0, 'int'),
        column('bad', 'v', 'regular', -1, 'frozen<nope>'),
        column('gap', 'key', 'partition_key', 1, 'int'),
        column('kind', 'key', 'odd', 1, 'int'),
      ],
    })
    expect(tables.map((t) => t.table)).toEqual(['t'])
    expect(faults.map(({ table, error }) => [table, error.code, error.fields.table, error.fields.column])).toEqual([
      ['bad', 'SCHEMA_INVALID', 'bad', 'v'],
      ['none', 'SCHEMA_INVALID', 'none', undefined],
      ['gap', 'SCHEMA_INVALID', 'gap', 'key'],
      ['kind', 'SCHEMA_INVALID', 'kind', 'key'],
    ])
  })

  test('a type that contains itself is a fault of the tables that use it', () => {
    const { tables, udts, faults } = build({
      types: [{ keyspace_name: 'k', type_name: 'a', field_names: ['x'], field_types: ['frozen<list<frozen<a>>>'] }],
      tables: [{ keyspace_name: 'k', table_name: 't', flags: ['compound'] }],
      columns: [key, column('t', 'v', 'regular', -1, 'frozen<a>')],
    })
    expect([tables, udts]).toEqual([[], []])
    expect(faults[0].error.fields).toMatchObject({ table: 't', column: 'v', type: 'a' })
  })

  test('flags tell compact tables apart', () => {
    const columns = [
      key,
      column('t', 'column1', 'clustering', 0, 'text'),
      column('t', 'a', 'static', -1, 'int'),
      column('t', 'value', 'regular', -1, 'blob'),
    ]
    const kindOf = (flags: string[] | null) =>
      build({ tables: [{ keyspace_name: 'k', table_name: 't', flags }], columns }).tables[0]
    expect(kindOf([]).compact).toBe('static')
    expect(show(kindOf([]).hidden)).toBe('column1 text, value blob')
    expect(kindOf([]).clustering).toEqual([])
    expect(show(storedColumns(kindOf([])).clustering)).toBe('column1 text')
    expect(kindOf(['dense', 'compound']).compact).toBe('dense')
    expect(kindOf(['super', 'dense']).compact).toBe('super')
    expect(kindOf(['compound']).compact).toBe('none')
    expect(kindOf(['compound', 'counter']).isCounter).toBe(true)
    expect(kindOf(null).compact).toBe('none')
  })

  test('names of old tables keep their bytes', () => {
    const bytes = Uint8Array.of(0, 0, 0, 5)
    const { tables } = build({
      tables: [{ keyspace_name: 'k', table_name: 't', flags: [] }],
      columns: [
        key,
        { ...column('t', '5', 'static', -1, 'int'), column_name_bytes: bytes },
        column('t', 'b', 'static', -1, 'int'),
      ],
    })
    expect(tables[0].statics.map((c) => [c.name, c.nameBytes])).toEqual([
      ['5', bytes],
      ['b', undefined],
    ])
  })

  test('dropped times are milliseconds there, microseconds here; a missing kind is regular', () => {
    const { tables } = build({
      tables: [{ keyspace_name: 'k', table_name: 't', flags: ['compound'] }],
      columns: [key],
      dropped_columns: [
        { keyspace_name: 'k', table_name: 't', column_name: 'a', dropped_time: 1717171717171n, kind: null },
        { keyspace_name: 'k', table_name: 't', column_name: 's', dropped_time: 5n, kind: 'static' },
      ],
    })
    expect(tables[0].dropped).toEqual([
      { name: 'a', kind: 'regular', droppedAt: 1717171717171000n },
      { name: 's', kind: 'static', droppedAt: 5000n },
    ])
  })

  test('a view needs its base table', () => {
    const rows = {
      tables: [{ keyspace_name: 'k', table_name: 't', flags: ['compound'] }],
      columns: [
        key,
        column('t', 'v', 'regular', -1, 'int'),
        column('w', 'v', 'partition_key', 0, 'int'),
        column('w', 'key', 'clustering', 0, 'int'),
      ],
    }
    const views = (base_table_name: string) =>
      build({ ...rows, views: [{ keyspace_name: 'k', view_name: 'w', base_table_name }] })
    expect(views('t').tables[1]).toMatchObject({ table: 'w', view: { baseTable: 't', requiresLiveness: true } })
    expect(views('x').faults.map((fault) => fault.table)).toEqual(['w'])
  })
})
