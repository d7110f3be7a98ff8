// From a request to a scan: checks what was asked against the table, lays out columns and sources. Nothing of Data.db is read
// before the first next().

import { DataWindow, DEFAULT_WINDOW } from '../bytes/window.ts'
import { SluiceError } from '../errors.ts'
import { type Partitioner, partitionerByName } from '../ring/partitioner.ts'
import { isInsidePartition } from '../ring/position.ts'
import type { BatchSchema, Field } from '../rows/batch.ts'
import { BIG_ROW_BYTES, WHOLE_ROW_BYTES } from '../rows/big-row.ts'
import { ClusteringOrder } from '../rows/clustering.ts'
import { type FieldOptions, fieldOf } from '../rows/columns/field.ts'
import { Lane } from '../rows/lane.ts'
import { laneDecoder } from '../rows/lane-decoder.ts'
import { PartitionSource } from '../rows/partition-source.ts'
import { type BatchLimits, type OutputColumn, type OutputSource, RowWriter } from '../rows/row-writer.ts'
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
import { BigIndex } from '../sstable/big-index.ts'
import { dataChunks } from '../sstable/data-chunks.ts'
import { newIndexCounters } from '../sstable/index.ts'
import { openIndex } from '../sstable/open-index.ts'
import type { SSTableData } from '../sstable/sstable.ts'
import { IndexKeyScan, type IndexKeyScanParts, indexTellsLiveness } from './index-key-scan.ts'
import { LaneMerge } from './lane-merge.ts'
import { PartitionMerger } from './partition-merger.ts'
import type { ScannedTable } from './pinned-table.ts'
import { ScanRowAccess } from './row-access.ts'
import { ScanBounds } from './scan-bounds.ts'
import { newScanStats, type Scan, type ScanRequest } from './scan-request.ts'
import { mayHold, type ScanTarget, scanTarget } from './scan-target.ts'
import { parseSelection, type Selector } from './selection.ts'
import { rowSlices } from './slice-walk.ts'
import { SourceRoute } from './source-route.ts'
import { TableScan } from './table-scan.ts'
import { proposers, timeWindow } from './time-window.ts'
import { openTombstoneScan } from './tombstone-scan.ts'

export const DEFAULT_BATCH_ROWS = 32_768
export const DEFAULT_BATCH_BYTES = 4 << 20
export const MAX_BATCH_ROWS = 1_048_576
/** Where partitions are asked for by key, columns begin with room for so many rows of each. */
const FIRST_ROWS_OF_KEY = 64

/** Opens a scan of a pinned table, which stays pinned until the scan is closed. Raises BAD_* for what cannot be asked. */
export async function openScan(pinned: ScannedTable, request: ScanRequest): Promise<Scan> {
  const table = pinned.schema
  if (table.compact === 'super') {
    throw new SluiceError('UNSUPPORTED_TABLE', {
      keyspace: table.keyspace,
      table: table.table,
      reason: 'Thrift super columns',
    })
  }
  const partitioner = partitionerOf(pinned)
  if (request.tombstones) {
    const metadata = metadataOf(pinned, request)
    return openTombstoneScan(pinned, request, { partitioner, limits: batchLimits(request, pinned.sstables), metadata })
  }
  const target = scanTarget(table, partitioner, request)
  const selectors = selectorsOf(table, partitioner, request)
  const { layout, files } = layoutTable(table, pinned.sstables)
  const columns = selectors.map((s) => outputColumn(s, layout, request))
  const schema: BatchSchema = { fields: columns.map((c) => c.field), metadata: metadataOf(pinned, request) }
  const scope = `${table.keyspace}.${table.table}`
  const limits = batchLimits(request, pinned.sstables, target)
  const window = timeWindow(request)
  markWanted(files, layout, columns, target.filter?.columns ?? [])

  const stats = newScanStats()
  stats.sstables = files.length
  const indexCounters = newIndexCounters()
  const order = new ClusteringOrder(layout)
  const { filter, slices, restrictsRows } = target
  const bounds = new ScanBounds(partitioner, order, target.lower, target.upper, slices && rowSlices(slices))
  const limit = request.limit ?? Number.POSITIVE_INFINITY
  const writer = new RowWriter(schema, columns, limits, table.partitionKey.length, partitioner)
  const showsStatics = [
    ...selectors.flatMap((s) => ('column' in s ? [s.column] : [])),
    ...(filter?.columns ?? []),
  ].some((column) => column.kind === 'static')
  const parts = { schema, stats, indexCounters, partitioner, writer, limit, scope }
  const keyScan = indexKeyScan(pinned, request, parts, target, selectors)
  if (keyScan !== undefined) return keyScan
  const kept = files.filter(({ sstable }) => mayHold(table, sstable, slices, showsStatics))
  stats.sstablesPruned = files.length - kept.length
  const countTombstones = (request.countTombstones ?? false) && kept.some(({ sstable }) => mayHoldTombstones(sstable))
  const windowOptions = request.window ?? DEFAULT_WINDOW
  const routes = kept.map((file) => {
    const { sstable } = file
    stats.dataBytesTotal += sstable.dataFileLength
    const make = () => {
      const data = new DataWindow(dataChunks(sstable, indexCounters.chunkIndex), windowOptions, stats, request.memory)
      const source = new PartitionSource(data, file, partitioner, order, stats, windowOptions.maxBytes)
      source.bigRowBytes = bigRowBytes(file)
      // Runs of rows are decoded without a look at their write times.
      const decode =
        request.plainDecoder || window !== undefined ? undefined : runDecoder(layout, file, columns, partitioner)
      if (decode !== undefined) {
        source.run = { decode, state: new RunState(file, writer, request.now, table.partitionKey.length) }
      }
      return source
    }
    const index = openIndex(sstable, partitioner, indexCounters, true)
    const { reaches, keys } = target
    return new SourceRoute(sstable, make, index, { partitioner, stats, reaches, keys })
  })
  const distinct = request.distinct ?? false
  const canCross = filter === undefined && slices === undefined && !distinct && !countTombstones
  const canMergeQuickly =
    canCross && !request.plainDecoder && window === undefined && target.keys === undefined && partitioner.words === 2
  pinned.retain()
  return new TableScan({
    ...parts,
    routes,
    merger: new PartitionMerger(layout, order, stats, {
      now: request.now,
      limit,
      filter,
      access: filter && new ScanRowAccess(filter.columns, layout),
      restrictsRows,
      window,
      showsStatics: selectors.some((s) => 'column' in s && s.column.kind === 'static'),
      distinct,
      countTombstones,
    }),
    proposers:
      window &&
      proposers(
        window,
        routes.map(({ source }) => source),
      ),
    bounds,
    canCross,
    quickMerge: (sources) => {
      const lanes = canMergeQuickly ? lanesOf(sources, layout, columns) : undefined
      return lanes && new LaneMerge({ layout, partitioner, counters: stats, writer, limit, lanes })
    },
    signal: request.signal,
    onClose: () => pinned.release(),
  })
}

/** A lane for each source of several, where all are of a kind for it. */
function lanesOf(
  sources: readonly PartitionSource[],
  layout: TableLayout,
  columns: readonly OutputColumn[],
): Map<PartitionSource, Lane> | undefined {
  const slots = new Set(sources.flatMap((source) => [...source.layout.regulars.slot]))
  const lanes = new Map<PartitionSource, Lane>()
  for (const source of sources) {
    const decoder = source.run && laneDecoder(layout, source.layout, columns)
    if (decoder === undefined) return undefined
    lanes.set(source, new Lane(source, decoder, lanes.size, source.layout.regulars.count === slots.size))
  }
  return lanes
}

/** The scan of a request for partition keys alone that the indexes can answer; undefined: Data.db must be read. */
function indexKeyScan(
  pinned: ScannedTable,
  request: ScanRequest,
  parts: Pick<IndexKeyScanParts, 'schema' | 'stats' | 'indexCounters' | 'partitioner' | 'writer' | 'limit' | 'scope'>,
  { reaches, keys, filter }: ScanTarget,
  selectors: readonly Selector[],
): Scan | undefined {
  const { schema, sstables } = pinned
  if (!request.distinct || request.plainDecoder || request.countTombstones || timeWindow(request) !== undefined)
    return undefined
  if (keys !== undefined || filter !== undefined) return undefined
  const ofKey = (s: Selector) => s.kind === 'token' || (s.kind === 'column' && s.column.kind === 'partition_key')
  if (!selectors.every(ofKey)) return undefined
  if (reaches.some(({ from, to }) => [from, to].some((p) => p !== null && isInsidePartition(p)))) return undefined
  if (!sstables.every((sstable) => indexTellsLiveness(schema, sstable))) return undefined
  const { partitioner, indexCounters } = parts
  pinned.retain()
  return new IndexKeyScan({
    ...parts,
    sources: sstables.map((sstable) => ({ sstable, index: new BigIndex(sstable, partitioner, indexCounters, true) })),
    reaches,
    signal: request.signal,
    onClose: () => pinned.release(),
  })
}

/** What the request asks to see of each row. */
function selectorsOf(table: TableSchema, partitioner: Partitioner, request: ScanRequest): Selector[] {
  if (request.countOnly) return []
  const selectors = parseSelection(request.columns, table, partitioner)
  if (!request.distinct) return selectors
  const ofPartition = (s: Selector) =>
    s.kind === 'token' || ('column' in s && (s.column.kind === 'partition_key' || s.column.kind === 'static'))
  if (request.columns === undefined) return selectors.filter(ofPartition)
  const other = selectors.find((s) => !ofPartition(s))
  if (other === undefined) return selectors
  throw new SluiceError('BAD_SELECTOR', {
    column: other.name,
    reason: 'with distinct only partition key and static columns can be asked for',
  })
}

/** STATS keeps the least local deletion time of all that is deleted or expires; Infinity: nothing is. */
function mayHoldTombstones({ statistics }: SSTableData): boolean {
  return statistics.minLocalDeletionTime !== Number.POSITIVE_INFINITY || statistics.hasPartitionLevelDeletions
}

/** Where values are not wanted, rows of more than two chunks are worth a jump. */
function bigRowBytes({ sstable, statics, regulars }: FileLayout): number {
  if (!statics.wanted.includes(0) && !regulars.wanted.includes(0)) return WHOLE_ROW_BYTES
  const chunk = sstable.compression?.chunkLength ?? sstable.crc?.chunkSize ?? BIG_ROW_BYTES
  return Math.min(BIG_ROW_BYTES, 2 * chunk)
}

function partitionerOf(pinned: ScannedTable): Partitioner {
  const { schema } = pinned
  // Only Local orders by the key's own type, and its tables have single keys.
  return partitionerByName(pinned.partitioner, schema.partitionKey[0].type)
}

function batchLimits(
  request: ScanRequest,
  sstables: readonly SSTableData[],
  target?: Pick<ScanTarget, 'keys'>,
): BatchLimits {
  const rows = request.batchRows ?? DEFAULT_BATCH_ROWS
  const bytes = request.batchBytes ?? DEFAULT_BATCH_BYTES
  if (!Number.isInteger(rows) || rows < 1 || rows > MAX_BATCH_ROWS) {
    throw new SluiceError('BAD_PARAMETER', {
      parameter: 'batch_rows',
      value: String(rows),
      expected: `1 to ${MAX_BATCH_ROWS}`,
    })
  }
  // Columns that grow row by row to a full batch would be copied a dozen times.
  const total = sstables.reduce((sum, { statistics }) => sum + Number(statistics.totalRows), 0)
  const few = target?.keys === undefined ? Number.POSITIVE_INFINITY : FIRST_ROWS_OF_KEY * target.keys.length
  const firstRows = Math.max(64, Math.min(rows, total, few, request.limit ?? rows, 4096))
  return { rows, bytes, shared: request.sharedColumns, firstRows, memory: request.memory }
}

function metadataOf(pinned: ScannedTable, request: ScanRequest): Map<string, string> {
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

/** Values that no output column and no test needs are stepped over. */
function markWanted(
  files: FileLayout[],
  layout: TableLayout,
  columns: OutputColumn[],
  tested: readonly ColumnSchema[],
): void {
  const wanted = { statics: new Set<number>(), regulars: new Set<number>() }
  for (const { source } of columns) {
    if (source.kind === 'cell') wanted[source.isStatic ? 'statics' : 'regulars'].add(source.slot)
    else if (source.kind === 'cell_time') wanted[source.isStatic ? 'statics' : 'regulars'].add(source.slot)
  }
  for (const column of tested) {
    if (column.kind === 'partition_key' || column.kind === 'clustering') continue
    const { isStatic, slot } = cellOf(column, layout)
    wanted[isStatic ? 'statics' : 'regulars'].add(slot)
  }
  for (const file of files) {
    mark(file.statics, layout.statics, wanted.statics)
    mark(file.regulars, layout.regulars, wanted.regulars)
  }
}

function mark(columns: FileColumns, _shape: RowShape, wanted: Set<number>): void {
  for (let i = 0; i < columns.count; i++) columns.wanted[i] = wanted.has(columns.slot[i]) ? 1 : 0
}

/** The table's name for use as a CQL name in messages. */
export function tableName(table: TableSchema): string {
  return `${table.keyspace}.${table.table}`
}
