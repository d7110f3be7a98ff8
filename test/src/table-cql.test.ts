// A schema printed as CQL.

import { expect, test } from 'vitest'
import { tableCql } from '../../src/table-cql.ts'
import type { CqlType, UdtType } from '../../storage/schema/cql-type.ts'
import type { ColumnKind, ColumnSchema, TableSchema } from '../../storage/schema/table.ts'

const column = (name: string, kind: ColumnKind, type: CqlType, position = -1, reversed = false): ColumnSchema => ({
  name,
  kind,
  position,
  type,
  reversed,
})

const BASE: TableSchema = {
  keyspace: 'ks',
  table: 't',
  partitionKey: [column('id', 'partition_key', { kind: 'int' }, 0)],
  clustering: [],
  statics: [],
  regulars: [],
  dropped: [],
  compact: 'none',
  isCounter: false,
  origin: 'ddl',
  warnings: [],
}

test('a plain table', () => {
  const schema = { ...BASE, regulars: [column('v', 'regular', { kind: 'text' })] }
  expect(tableCql(schema, ({ name }) => (name === 'v' ? 'string' : 'int32'))).toBe(
    `CREATE TABLE ks.t (
    id int,  -- int32
    v text,  -- string
    PRIMARY KEY (id)
);
`,
  )
})

test('composite and reversed keys, statics, names that need quotes, types that need types', () => {
  const inner: UdtType = {
    kind: 'udt',
    keyspace: 'ks',
    name: 'inner',
    fieldNames: ['a', 'B'],
    fields: [{ kind: 'int' }, { kind: 'text' }],
    frozen: true,
  }
  const outer: UdtType = { ...inner, name: 'Outer', fieldNames: ['i'], fields: [inner], frozen: false }
  const schema: TableSchema = {
    ...BASE,
    keyspace: 'CaseKs',
    table: 'select',
    partitionKey: [
      column('id', 'partition_key', { kind: 'int' }, 0),
      column('Id2', 'partition_key', { kind: 'uuid' }, 1),
    ],
    clustering: [
      column('c1', 'clustering', { kind: 'timestamp' }, 0, true),
      column('c2', 'clustering', { kind: 'text' }, 1),
    ],
    statics: [column('s', 'static', { kind: 'list', element: { kind: 'int' }, frozen: false })],
    regulars: [column('o', 'regular', outer)],
  }
  expect(tableCql(schema, () => undefined)).toBe(
    `CREATE TYPE ks.inner (
    a int,
    "B" text
);
CREATE TYPE ks."Outer" (
    i frozen<inner>
);
CREATE TABLE "CaseKs"."select" (
    id int,
    "Id2" uuid,
    c1 timestamp,
    c2 text,
    s list<int> STATIC,
    o "Outer",
    PRIMARY KEY ((id, "Id2"), c1, c2)
) WITH CLUSTERING ORDER BY (c1 DESC, c2 ASC);
`,
  )
})
