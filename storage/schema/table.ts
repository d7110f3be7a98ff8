// A table as the schema describes it: from system_schema, from CQL DDL, or from an SSTable's own header.

import type { CqlType } from './cql-type.ts'

export type ColumnKind = 'partition_key' | 'clustering' | 'static' | 'regular'

export interface ColumnSchema {
  name: string
  /** The bytes that SSTables name the column by, where they are not the name in UTF-8 (old tables with a non-text comparator). */
  nameBytes?: Uint8Array
  kind: ColumnKind
  /** 0-based within partition key or clustering; -1 for static and regular. */
  position: number
  type: CqlType
  /** Clustering column in DESC order. */
  reversed: boolean
}

export type CompactKind = 'none' | 'static' | 'dense' | 'super'

/** A column that ALTER TABLE DROP took away; it may exist again under the same name. */
export interface DroppedColumn {
  name: string
  kind: 'static' | 'regular'
  /** Cells and complex deletions with a write timestamp <= this (microseconds) are ignored. */
  droppedAt: bigint
}

export interface TableSchema {
  keyspace: string
  table: string
  /** 32 hex digits; undefined where only a file described the table. */
  id?: string
  partitionKey: ColumnSchema[]
  clustering: ColumnSchema[]
  /** By name bytes. */
  statics: ColumnSchema[]
  /** By name bytes. */
  regulars: ColumnSchema[]
  dropped: DroppedColumn[]
  /** Storage layout of COMPACT STORAGE tables (system_schema.tables.flags); see storage/schema/compact.ts. */
  compact: CompactKind
  /** Columns on disk that CQL does not show (compact tables only): never selected, but their cells keep rows alive. */
  hidden?: ColumnSchema[]
  isCounter: boolean
  /** More columns may exist than are listed here (system_schema): those that only an SSTable's header names are read over. */
  partial?: boolean
  /** A materialised view: rows whose base has a regular column in the view's key live by their liveness alone. */
  view?: { baseTable: string; requiresLiveness: boolean }
  origin: 'system_schema' | 'ddl' | 'header'
  warnings: string[]
}

/** The order of SELECT *: partition key, clustering, static, regular (the latter two by name). */
export function selectOrder(table: TableSchema): ColumnSchema[] {
  return [...table.partitionKey, ...table.clustering, ...table.statics, ...table.regulars]
}
