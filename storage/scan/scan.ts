// From a request to a scan: checks what was asked against the table, lays out columns and sources. Nothing of Data.db is read
// before the first next().

import { DataWindow, DEFAULT_WINDOW } from '../bytes/window.ts'
import { SluiceError } from '../errors.ts'
import { type Partitioner, partitionerByName } from '../ring/partitioner.ts'
import { decodePosition, type Position } from '../ring/position.ts'
import { parseTokenRange } from '../ring/token-range.ts'
import type { BatchSchema, Field } from '../rows/batch.ts'
import { ClusteringOrder } from '../rows/clustering.ts'
import { type FieldOptions, fieldOf } from '../rows/columns/field.ts'
import { PartitionSource } from '../rows/partition-source.ts'
import { type OutputColumn, type OutputSource, RowWriter } from '../rows/row-writer.ts'
import { runDecoder } from '../rows/run-decoder.ts'
import { RunState } from '../rows/run-state.ts'
import {
  type FileColumns,
  type FileLayout,
  layoutTable,
  type RowShape,
  slotOf,
  type TableLayout,
} from '../rows/table-layout.ts'
import { isMultiCell } from '../schema/cql-type.ts'
import { formatCqlType } from '../schema/cql-type-text.ts'
import type { ColumnSchema, TableSchema } from '../schema/table.ts'
import { dataChunks } from '../sstable/data-chunks.ts'
import { PartitionMerger } from './partition-merger.ts'
import type { PinnedTable } from './pinned-table.ts'
import { ScanBounds } from './scan-bounds.ts'
import { newScanStats, type Scan, type ScanRequest } from './scan-request.ts'
import { parseSelection, type Selector } from './selection.ts'
import { TableScan } from './table-scan.ts'
import { type TimeWindow, timeWindow } from './time-window.ts'

export const DEFAULT_BATCH_ROWS = 32_768
export const DEFAULT_BATCH_BYTES = 4 << 20
export const MAX_BATCH_ROWS = 1_048_576

/** Opens a scan of a pinned table, which stays pinned until the scan is closed. Raises BAD_* for what cannot be asked. */
export async function openScan(pinned: PinnedTable, request: ScanRequest): Promise<Scan> {
  const table = pinned.schema
  if (table.compact === 'super') {
    throw new SluiceError('UNSUPPORTED_TABLE', {
      keyspace: table.keyspace,
      table: table.table,
      reason: 'Thrift super columns',
    })
  }
  const partitioner = partitionerOf(pinned)
  const intervals = parseTokenRange(partitioner, request.start, request.end)
  const selectors = parseSelection(request.columns, table, partitioner)
  const { layout, files } = layoutTable(table, pinned.sstables)
  const columns = selectors.map((s) => outputColumn(s, layout, request))
  const schema: BatchSchema = { fields: columns.map((c) => c.field), metadata: metadataOf(pinned, request) }
  const scope = `${table.keyspace}.${table.table}`
  const position = (text: string | undefined): Position | undefined =>
    text === undefined ? undefined : decodePosition(partitioner, scope, table.clustering.length, text)
  const lower = position(request.after) ?? position(request.from)
  const bounds = new ScanBounds(partitioner, lower, position(request.to))
  const limits = batchLimits(request)
  const window = timeWindow(request)
  markWanted(files, layout, columns)

  const stats = newScanStats()
  const order = new ClusteringOrder(layout)
  const limit = request.limit ?? Number.POSITIVE_INFINITY
  const writer = new RowWriter(schema, columns, limits, table.partitionKey.length, partitioner)
  const sources = files.map((file) => {
    const data = new DataWindow(dataChunks(file.sstable), DEFAULT_WINDOW, stats)
    stats.dataBytesTotal += file.sstable.dataFileLength
    const source = new PartitionSource(data, file, partitioner, order, stats, DEFAULT_WINDOW.maxBytes)
    // Runs of rows are decoded without a look at their write times.
    const decode =
      request.plainDecoder || window !== undefined ? undefined : runDecoder(layout, file, columns, partitioner)
    if (decode !== undefined) {
      source.run = { decode, state: new RunState(file, writer, request.now, table.partitionKey.length) }
    }
    return source
  })
  pinned.retain()
  return new TableScan({
    schema,
    stats,
    sources,
    partitioner,
    intervals,
    merger: new PartitionMerger(layout, order, stats, {
      now: request.now,
      limit,
      window,
      showsStatics: selectors.some((s) => 'column' in s && s.column.kind === 'static'),
    }),
    proposers: window && proposers(window, sources),
    writer,
    bounds,
    limit,
    scope,
    signal: request.signal,
    onClose: () => pinned.release(),
  })
}

function partitionerOf(pinned: PinnedTable): Partitioner {
  const { schema } = pinned
  // Only Local orders by the key's own type, and its tables have single keys.
  return partitionerByName(pinned.partitioner, schema.partitionKey[0].type)
}

function batchLimits(request: ScanRequest): { rows: number; bytes: number } {
  const rows = request.batchRows ?? DEFAULT_BATCH_ROWS
  const bytes = request.batchBytes ?? DEFAULT_BATCH_BYTES
  if (!Number.isInteger(rows) || rows < 1 || rows > MAX_BATCH_ROWS) {
    throw new SluiceError('BAD_PARAMETER', {
      parameter: 'batch_rows',
      value: String(rows),
      expected: `1 to ${MAX_BATCH_ROWS}`,
    })
  }
  return { rows, bytes }
}

function metadataOf(pinned: PinnedTable, request: ScanRequest): Map<string, string> {
  return new Map([
    ['cql.keyspace', pinned.schema.keyspace],
    ['cql.table', pinned.schema.table],
    ['sluice.now', String(request.now)],
    ['sluice.partitioner', pinned.partitioner],
  ])
}

function outputColumn(selector: Selector, layout: TableLayout, request: ScanRequest): OutputColumn {
  const options: FieldOptions = {
    decimal: request.decimal === undefined || request.decimal.kind === 'text' ? undefined : request.decimal,
    duration: request.duration,
  }
  if (selector.kind === 'column') {
    const { column } = selector
    return {
      field: fieldOf(selector.name, selector.type, options, {
        kind: column.kind,
        position: column.position,
        reversed: column.reversed,
        cqlType: formatCqlType(column.type),
      }),
      source: sourceOf(column, layout),
    }
  }
  const field: Field = fieldOf(
    selector.name,
    selector.type,
    {},
    {
      kind: 'computed',
      position: -1,
      reversed: false,
      cqlType: formatCqlType(selector.type),
    },
  )
  switch (selector.kind) {
    case 'token':
      return { field, source: { kind: 'token' } }
    case 'row_writetime':
      return { field, source: { kind: 'row_time', what: 'writetime' } }
    case 'row_ttl':
      return { field, source: { kind: 'row_time', what: 'ttl' } }
    default: {
      const { isStatic, slot } = cellOf(selector.column, layout)
      const complex = isMultiCell(selector.column.type)
      return { field, source: { kind: 'cell_time', what: selector.kind, isStatic, slot, complex } }
    }
  }
}

function sourceOf(column: ColumnSchema, layout: TableLayout): OutputSource {
  if (column.kind === 'partition_key') return { kind: 'partition_key', index: column.position }
  if (column.kind === 'clustering') return { kind: 'clustering', index: column.position }
  const { isStatic, slot } = cellOf(column, layout)
  const { complex, counter } = (isStatic ? layout.statics : layout.regulars).slots[slot]
  return { kind: 'cell', isStatic, slot, complex, counter }
}

function cellOf(column: ColumnSchema, layout: TableLayout): { isStatic: boolean; slot: number } {
  const isStatic = layout.statics.slots.some((s) => s.column === column)
  return { isStatic, slot: slotOf(isStatic ? layout.statics : layout.regulars, column) }
}

/** Values that no output column needs are stepped over. */
function markWanted(files: FileLayout[], layout: TableLayout, columns: OutputColumn[]): void {
  const wanted = { statics: new Set<number>(), regulars: new Set<number>() }
  for (const { source } of columns) {
    if (source.kind === 'cell') wanted[source.isStatic ? 'statics' : 'regulars'].add(source.slot)
    else if (source.kind === 'cell_time') wanted[source.isStatic ? 'statics' : 'regulars'].add(source.slot)
  }
  for (const file of files) {
    mark(file.statics, layout.statics, wanted.statics)
    mark(file.regulars, layout.regulars, wanted.regulars)
  }
}

function mark(columns: FileColumns, _shape: RowShape, wanted: Set<number>): void {
  for (let i = 0; i < columns.count; i++) columns.wanted[i] = wanted.has(columns.slot[i]) ? 1 : 0
}

/**
 * The sources in which a row's newest write can lie in the window. The others are merged where these hold a partition, so that a
 * row is never older than it is; alone they have nothing to tell.
 */
function proposers(window: TimeWindow, sources: readonly PartitionSource[]): Set<PartitionSource> {
  return new Set(
    sources.filter(({ layout }) => {
      const { minTimestamp, maxTimestamp } = layout.sstable.statistics
      return window.overlaps(minTimestamp, maxTimestamp)
    }),
  )
}

/** The table's name for use as a CQL name in messages. */
export function tableName(table: TableSchema): string {
  return `${table.keyspace}.${table.table}`
}
