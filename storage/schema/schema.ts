// All that one source describes: system_schema, or a file of CQL. A table that cannot be understood does not stand in the way of
// the others: it keeps its error until somebody asks for it.

import type { SluiceError } from '../errors.ts'
import type { UdtType } from './cql-type.ts'
import type { TableSchema } from './table.ts'

export interface Schema {
  /** Names of all keyspaces, those without tables too. */
  keyspaces: string[]
  /** Tables and materialised views. */
  tables: TableSchema[]
  /** User-defined types; not frozen. */
  udts: UdtType[]
  /** Tables and views that are not among `tables`, and why. */
  faults: SchemaFault[]
}

export interface SchemaFault {
  keyspace: string
  table: string
  error: SluiceError
}
