// Column types of the golden tables, from the schema.cql that the node itself printed (DESCRIBE): one column a line.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CqlType, UdtType } from '../../../../storage/schema/cql-type.ts'
import { freeze } from '../../../../storage/schema/cql-type.ts'
import { parseCqlType } from '../../../../storage/schema/cql-type-text.ts'

/** Types by column name, by `keyspace.table`; view columns are their base table's. */
export function goldenTypes(directory: string): Map<string, Map<string, CqlType>> {
  const ddl = readFileSync(join(directory, 'schema.cql'), 'utf8')
  const udts = new Map<string, UdtType>()
  const tables = new Map<string, Map<string, CqlType>>()
  // A type may use one that is printed after it: types are read until all are known.
  const statements = ddl.split(/;\n/)
  const types = statements.filter((s) => /^CREATE TYPE/m.test(s))
  for (let pass = 0; pass <= types.length; pass++) for (const statement of types) readType(statement, udts)
  for (const statement of statements.filter((s) => /^CREATE TABLE/m.test(s))) {
    const [name, columns] = readColumns(statement, udts)
    tables.set(name, columns)
  }
  for (const view of statements.filter((s) => /^CREATE MATERIALIZED VIEW/m.test(s))) {
    const name = /CREATE MATERIALIZED VIEW (?:IF NOT EXISTS )?(\S+)/.exec(view)![1]
    tables.set(unquote(name), tables.get(unquote(/FROM (\S+)/.exec(view)![1]))!)
  }
  return tables
}

function readType(statement: string, udts: Map<string, UdtType>): void {
  try {
    const [name, fields] = readColumns(statement, udts)
    const [keyspace, type] = name.split('.')
    const kinds = [...fields.values()].map(freeze)
    udts.set(name, { kind: 'udt', keyspace, name: type, fieldNames: [...fields.keys()], fields: kinds, frozen: false })
  } catch {
    // uses a type that is not known yet
  }
}

function readColumns(statement: string, udts: Map<string, UdtType>): [string, Map<string, CqlType>] {
  const head = /CREATE (?:TABLE|TYPE) (?:IF NOT EXISTS )?(.+?) \(\n/.exec(statement)!
  const name = unquote(head[1])
  const keyspace = name.split('.')[0]
  const columns = new Map<string, CqlType>()
  for (const line of statement.slice(head.index + head[0].length).split('\n')) {
    const column = /^ {4}("(?:[^"]|"")+"|[a-z0-9_]+) (.+?)(?: static)?(?: PRIMARY KEY)?,?$/.exec(line)
    if (column === null || column[1] === 'PRIMARY') break
    const lookup = (ks: string, type: string): UdtType | undefined => udts.get(`${ks}.${type}`)
    columns.set(unquote(column[1]), parseCqlType(column[2], lookup, keyspace))
  }
  return [name, columns]
}

function unquote(name: string): string {
  return name.replace(/"((?:[^"]|"")*)"/g, (_, inner: string) => inner.replaceAll('""', '"'))
}
