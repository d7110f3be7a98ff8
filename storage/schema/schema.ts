// All keyspaces that one source describes: system_schema, or a file of CQL. A table that cannot be understood does not stand in
// the way of the others: it keeps its error until somebody asks for it.

import { SluiceError } from '../errors.ts'
import type { UdtType } from './cql-type.ts'
import type { TableSchema } from './table.ts'

export interface KeyspaceSchema {
  name: string
  /** Tables and materialised views, by name. */
  tables: Map<string, TableSchema>
  /** User-defined types, by name; not frozen. */
  udts: Map<string, UdtType>
  /** Why a table or view is not among `tables`. */
  faults: Map<string, SluiceError>
}

export interface Schema {
  keyspaces: Map<string, KeyspaceSchema>
}

export function emptySchema(): Schema {
  return { keyspaces: new Map() }
}

/** The keyspace of this name; made if it is not there. */
export function keyspaceOf(schema: Schema, name: string): KeyspaceSchema {
  let keyspace = schema.keyspaces.get(name)
  if (keyspace === undefined) {
    keyspace = { name, tables: new Map(), udts: new Map(), faults: new Map() }
    schema.keyspaces.set(name, keyspace)
  }
  return keyspace
}

/**
 * The table or view of this name.
 * @throws SluiceError UNKNOWN_KEYSPACE, UNKNOWN_TABLE, or what is wrong with the table's description
 */
export function findTable(schema: Schema, keyspace: string, table: string): TableSchema {
  const found = schema.keyspaces.get(keyspace)
  if (found === undefined) throw new SluiceError('UNKNOWN_KEYSPACE', { keyspace })
  const fault = found.faults.get(table)
  if (fault !== undefined) throw fault
  const schemaOfTable = found.tables.get(table)
  if (schemaOfTable === undefined) throw new SluiceError('UNKNOWN_TABLE', { keyspace, table })
  return schemaOfTable
}
