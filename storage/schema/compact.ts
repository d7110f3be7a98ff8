// COMPACT STORAGE tables (Cassandra's CompactTables, TableMetadata.CompactTableMetadata): the columns that lie on disk without
// being part of the CQL table.
//
// static   no clustering in CQL; one row per partition, made from the static row. The value columns are the table's `statics`, as
//          they are stored. Hidden: clustering `column1` and regular `value`, of which no rows exist.
// dense    at most one regular column, whose cell keeps the row alive: rows have no liveness. Without one in CQL: hidden regular
//          `value` of type empty. Clusterings may be shorter than the schema's (null parts).
// super    Thrift super columns: refused by the scan.

import type { ColumnSchema, CompactKind, TableSchema } from './table.ts'

/** Columns as an SSTable holds them: what CQL shows and what it hides. Statics and regulars by name bytes. */
export interface StoredColumns {
  clustering: ColumnSchema[]
  statics: ColumnSchema[]
  regulars: ColumnSchema[]
}

export function storedColumns(table: TableSchema): StoredColumns {
  const { clustering, statics, regulars, hidden } = table
  if (hidden === undefined || hidden.length === 0) return { clustering, statics, regulars }
  const kind = (wanted: ColumnSchema['kind']): ColumnSchema[] => hidden.filter((column) => column.kind === wanted)
  return {
    clustering: [...clustering, ...kind('clustering')],
    statics,
    regulars: [...regulars, ...kind('regular')].sort(compareNames),
  }
}

/** The bytes that SSTables name a column by. */
export function columnNameBytes(column: ColumnSchema): Uint8Array {
  return column.nameBytes ?? Buffer.from(column.name, 'utf8')
}

/** Cassandra's order of columns of one kind, as far as names go. */
export function compareNames(a: ColumnSchema, b: ColumnSchema): number {
  return Buffer.compare(columnNameBytes(a), columnNameBytes(b))
}

/** The layout that system_schema.tables.flags stand for. */
export function compactKindOf(flags: Iterable<string>): CompactKind {
  const set = new Set(flags)
  if (set.has('super')) return 'super'
  if (set.has('dense')) return 'dense'
  return set.has('compound') ? 'none' : 'static'
}

/** Takes the columns that CQL does not show out of those on disk. */
export function hideCompactColumns(
  kind: CompactKind,
  stored: StoredColumns,
): StoredColumns & { hidden: ColumnSchema[] } {
  const { clustering, statics, regulars } = stored
  if (kind === 'static') return { clustering: [], statics, regulars: [], hidden: [...clustering, ...regulars] }
  if (kind === 'dense') {
    const shown = regulars.filter((column) => column.type.kind !== 'empty')
    return { clustering, statics, regulars: shown, hidden: regulars.filter((column) => column.type.kind === 'empty') }
  }
  return { ...stored, hidden: [] }
}

/**
 * The hidden columns that Cassandra makes up for a table that CQL creates WITH COMPACT STORAGE (CreateTableStatement).
 * @param used names that are taken
 */
export function defaultHiddenColumns(
  kind: CompactKind,
  used: Set<string>,
  hasRegulars: boolean,
  isCounter: boolean,
): ColumnSchema[] {
  const free = (base: string, first: string): string => {
    let name = first
    for (let i = 1; used.has(name); i++) name = base + i
    return name
  }
  const regular = (type: ColumnSchema['type']): ColumnSchema => {
    return { name: free('value', 'value'), kind: 'regular', position: -1, type, reversed: false }
  }
  if (kind === 'static') {
    const name = free('column', 'column1')
    const column1: ColumnSchema = { name, kind: 'clustering', position: 0, type: { kind: 'text' }, reversed: false }
    return [column1, regular({ kind: isCounter ? 'counter' : 'blob' })]
  }
  return kind === 'dense' && !hasRegulars ? [regular({ kind: 'empty' })] : []
}
