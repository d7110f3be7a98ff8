// How the columns of one table lie in rows: every column that any of its SSTables holds gets a *slot*, in Cassandra's cell
// order (simple before complex, then by name: ColumnMetadata.comparisonOrder), so that cells of several files merge by slot.
// And per SSTable: which slot each column of its header feeds (SerializationHeader.Component.toHeader).

import { SluiceError } from '../errors.ts'
import { columnNameBytes, type StoredColumns, storedColumns } from '../schema/compact.ts'
import { comparator, type ValueComparator } from '../schema/compare.ts'
import { type CqlType, isMultiCell } from '../schema/cql-type.ts'
import { fixedLength } from '../schema/fixed-length.ts'
import { checkHeader } from '../schema/header-schema.ts'
import { parseMarshalType, repairFrozen } from '../schema/marshal.ts'
import type { ColumnSchema, TableSchema } from '../schema/table.ts'
import type { SSTableData } from '../sstable/sstable.ts'

export interface Slot {
  name: string
  type: CqlType
  complex: boolean
  counter: boolean
  /** The schema's column; undefined for dropped and hidden ones, which still count for row liveness. */
  column: ColumnSchema | undefined
  /** Order of the cells of a complex column. */
  comparePaths: ValueComparator | undefined
}

/** The slots of static or of regular rows. */
export interface RowShape {
  slots: Slot[]
  byColumn: Map<string, number>
}

export interface TableLayout {
  table: TableSchema
  clusteringCompare: ValueComparator[]
  clusteringReversed: boolean[]
  statics: RowShape
  regulars: RowShape
}

/** Columns of one kind in one SSTable, in cell order; all arrays by the file's column index. */
export interface FileColumns {
  count: number
  names: string[]
  slot: Int32Array
  /** On-disk value length, -1: uvint before the value. */
  fixed: Int32Array
  complex: Uint8Array
  /** 1: the value is read by someone; 0: only its timestamps are (a scan sets it, all 1 at first). */
  wanted: Uint8Array
  /** 1: cells written at or before dropHi/dropLo are ignored. */
  dropped: Uint8Array
  dropHi: Int32Array
  dropLo: Int32Array
}

export interface FileLayout {
  sstable: SSTableData
  clusteringCount: number
  clusteringFixed: Int32Array
  statics: FileColumns
  regulars: FileColumns
  hasStatics: boolean
  minTimestampHi: number
  minTimestampLo: number
  minLdt: number
  minTtl: number
  /** No timestamp in the file is before the first or behind the last; high halves signed, low halves unsigned. */
  firstTimestampHi: number
  firstTimestampLo: number
  lastTimestampHi: number
  lastTimestampLo: number
  /** Local deletion times are unsigned (oa, da); else signed with 2^31 - 1 for none. */
  unsignedLdt: boolean
}

interface HeaderColumn {
  name: string
  nameBytes: Uint8Array
  type: CqlType
}

interface Laid {
  layout: TableLayout
  files: FileLayout[]
}

/** By the very set of SSTables, which goes with the pinned table: a short scan takes less time than laying its table out. */
const known = new WeakMap<readonly SSTableData[], Laid>()

/** The layout of a table over the SSTables that a scan reads. SCHEMA_MISMATCH where a file does not fit. */
export function layoutTable(table: TableSchema, sstables: readonly SSTableData[]): Laid {
  let laid = known.get(sstables)
  if (laid?.layout.table !== table) {
    laid = layOut(table, sstables)
    known.set(sstables, laid)
  }
  const { layout, files } = laid
  return {
    layout,
    files: files.map((file) => ({ ...file, statics: allWanted(file.statics), regulars: allWanted(file.regulars) })),
  }
}

/** What a scan wants is its own. */
function allWanted(columns: FileColumns): FileColumns {
  return { ...columns, wanted: new Uint8Array(columns.count).fill(1) }
}

function layOut(table: TableSchema, sstables: readonly SSTableData[]): Laid {
  const stored = storedColumns(table)
  if (!table.partial) for (const sstable of sstables) checkHeader(table, sstable.statistics.header, sstable.file)
  const headers = sstables.map((sstable) => readHeader(stored, sstable))
  const statics = shape(
    table,
    stored.statics,
    headers.map((h) => h.statics),
  )
  const regulars = shape(
    table,
    stored.regulars,
    headers.map((h) => h.regulars),
  )
  const layout: TableLayout = {
    table,
    clusteringCompare: stored.clustering.map((c) => comparator(c.type)),
    clusteringReversed: stored.clustering.map((c) => c.reversed),
    statics,
    regulars,
  }
  const files = sstables.map((sstable, i) => fileLayout(layout, sstable, headers[i]))
  return { layout, files }
}

interface Header {
  clustering: CqlType[]
  statics: HeaderColumn[]
  regulars: HeaderColumn[]
}

function readHeader(stored: StoredColumns, sstable: SSTableData): Header {
  const { header } = sstable.statistics
  const column =
    (known: ColumnSchema[]) =>
    (c: { name: string; nameBytes: Uint8Array; type: string }): HeaderColumn => {
      const parsed = parseMarshalType(c.type).type
      const schema = known.find((k) => Buffer.compare(columnNameBytes(k), c.nameBytes) === 0)
      return { name: c.name, nameBytes: c.nameBytes, type: schema ? repairFrozen(parsed, schema.type) : parsed }
    }
  return {
    clustering: header.clusteringTypes.map((t) => parseMarshalType(t).type),
    statics: header.statics.map(column(stored.statics)).sort(cellOrder),
    regulars: header.regulars.map(column(stored.regulars)).sort(cellOrder),
  }
}

/** Order of columns in a row; exported for its test. */
export function cellOrder(
  a: { nameBytes: Uint8Array; type: CqlType },
  b: { nameBytes: Uint8Array; type: CqlType },
): number {
  const complexA = isMultiCell(a.type) ? 1 : 0
  const complexB = isMultiCell(b.type) ? 1 : 0
  return (
    complexA - complexB || firstByte(a.nameBytes) - firstByte(b.nameBytes) || Buffer.compare(a.nameBytes, b.nameBytes)
  )
}

/**
 * ColumnMetadata.comparisonOrder packs ColumnIdentifier.prefixComparison, whose top bit is flipped for a signed comparison, and compares
 * it unsigned: names that begin with a byte from 0x80 on come before all ASCII names.
 */
function firstByte(name: Uint8Array): number {
  return name.length === 0 ? 0 : name[0] ^ 0x80
}

function slotKey(nameBytes: Uint8Array, complex: boolean): string {
  return `${complex ? 'complex' : 'simple'} ${Buffer.from(nameBytes).toString('latin1')}`
}

function shape(table: TableSchema, columns: ColumnSchema[], headers: HeaderColumn[][]): RowShape {
  const found = new Map<
    string,
    { nameBytes: Uint8Array; type: CqlType; name: string; column: ColumnSchema | undefined }
  >()
  for (const column of columns) {
    const nameBytes = columnNameBytes(column)
    found.set(slotKey(nameBytes, isMultiCell(column.type)), {
      nameBytes,
      type: column.type,
      name: column.name,
      column,
    })
  }
  for (const header of headers) {
    for (const { name, nameBytes, type } of header) {
      const key = slotKey(nameBytes, isMultiCell(type))
      if (!found.has(key)) found.set(key, { nameBytes, type, name, column: undefined })
    }
  }
  const entries = [...found.entries()].sort((a, b) => cellOrder(a[1], b[1]))
  const byColumn = new Map<string, number>()
  const slots = entries.map(([key, { name, type, column }], index): Slot => {
    byColumn.set(key, index)
    const complex = isMultiCell(type)
    const counter = type.kind === 'counter' || (table.isCounter && !complex && column === undefined)
    return { name, type, complex, counter, column, comparePaths: complex ? pathComparator(type) : undefined }
  })
  return { slots, byColumn }
}

/** The slot of a schema column. */
export function slotOf(shape: RowShape, column: ColumnSchema): number {
  return shape.byColumn.get(slotKey(columnNameBytes(column), isMultiCell(column.type)))!
}

function pathComparator(type: CqlType): ValueComparator {
  if (type.kind === 'set') return comparator(type.element)
  if (type.kind === 'map') return comparator(type.key)
  if (type.kind === 'list') return comparator({ kind: 'timeuuid' })
  return comparator({ kind: 'smallint' }) // UDT: field index (UserType.nameComparator is ShortType)
}

function fileLayout(layout: TableLayout, sstable: SSTableData, header: Header): FileLayout {
  const { table, statics, regulars } = layout
  const { minTimestamp, minLocalDeletionTime, minTtl } = sstable.statistics.header
  const { minTimestamp: first, maxTimestamp: last } = sstable.statistics
  if (header.clustering.length !== layout.clusteringCompare.length) {
    throw new SluiceError('SCHEMA_MISMATCH', {
      file: sstable.file,
      expected: `${layout.clusteringCompare.length} clustering columns`,
      found: `${header.clustering.length}`,
    })
  }
  return {
    sstable,
    clusteringCount: header.clustering.length,
    clusteringFixed: Int32Array.from(header.clustering, fixedLength),
    statics: fileColumns(table, sstable, header.statics, statics),
    regulars: fileColumns(table, sstable, header.regulars, regulars),
    hasStatics: header.statics.length > 0,
    minTimestampHi: Number(BigInt.asIntN(32, minTimestamp >> 32n)),
    minTimestampLo: Number(BigInt.asIntN(32, minTimestamp)),
    minLdt: minLocalDeletionTime,
    minTtl,
    firstTimestampHi: Number(BigInt.asIntN(32, first >> 32n)),
    firstTimestampLo: Number(BigInt.asUintN(32, first)),
    lastTimestampHi: Number(BigInt.asIntN(32, last >> 32n)),
    lastTimestampLo: Number(BigInt.asUintN(32, last)),
    unsignedLdt: sstable.version.unsignedDeletionTime,
  }
}

function fileColumns(table: TableSchema, sstable: SSTableData, columns: HeaderColumn[], shape: RowShape): FileColumns {
  const count = columns.length
  const result: FileColumns = {
    count,
    names: columns.map((c) => c.name),
    slot: new Int32Array(count),
    fixed: Int32Array.from(columns, (c) => fixedLength(c.type)),
    complex: Uint8Array.from(columns, (c) => (isMultiCell(c.type) ? 1 : 0)),
    wanted: new Uint8Array(count).fill(1),
    dropped: new Uint8Array(count),
    dropHi: new Int32Array(count),
    dropLo: new Int32Array(count),
  }
  columns.forEach((column, i) => {
    const slot = shape.byColumn.get(slotKey(column.nameBytes, result.complex[i] === 1))!
    result.slot[i] = slot
    // Drop times go by name alone (TableMetadata.droppedColumns), also for a column that was added again.
    const drops = table.dropped.filter((d) => d.name === column.name).map((d) => d.droppedAt)
    if (drops.length > 0) {
      const at = drops.reduce((a, b) => (a > b ? a : b))
      result.dropped[i] = 1
      result.dropHi[i] = Number(BigInt.asIntN(32, at >> 32n))
      result.dropLo[i] = Number(BigInt.asIntN(32, at))
    } else if (shape.slots[slot].column === undefined && !table.partial) {
      throw new SluiceError('SCHEMA_MISMATCH', {
        file: sstable.file,
        column: column.name,
        reason: 'the SSTable holds a column that the schema neither has nor lists as dropped',
      })
    }
  })
  return result
}
