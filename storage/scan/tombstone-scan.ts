// A scan that tells of the deletions in force instead of the live rows; see tombstone-merger.ts and tombstone-schema.ts.

import { DataWindow, DEFAULT_WINDOW } from '../bytes/window.ts'
import { SluiceError } from '../errors.ts'
import type { Partitioner } from '../ring/partitioner.ts'
import { ClusteringOrder } from '../rows/clustering.ts'
import { PartitionSource } from '../rows/partition-source.ts'
import type { BatchLimits } from '../rows/row-writer.ts'
import { layoutTable } from '../rows/table-layout.ts'
import type { TableSchema } from '../schema/table.ts'
import { dataChunks } from '../sstable/data-chunks.ts'
import { newIndexCounters } from '../sstable/index.ts'
import { openIndex } from '../sstable/open-index.ts'
import type { ScannedTable } from './pinned-table.ts'
import { ScanBounds } from './scan-bounds.ts'
import { newScanStats, type Scan, type ScanRequest } from './scan-request.ts'
import { scanTarget } from './scan-target.ts'
import { parseSelection } from './selection.ts'
import { SourceRoute } from './source-route.ts'
import { TableScan } from './table-scan.ts'
import { proposers, timeWindow } from './time-window.ts'
import { TombstoneMerger } from './tombstone-merger.ts'
import { tombstoneFields } from './tombstone-schema.ts'
import { TombstoneWriter } from './tombstone-writer.ts'

/** What the caller has worked out of the request, as for a scan of rows. */
export interface TombstoneScanParts {
  partitioner: Partitioner
  limits: BatchLimits
  metadata: Map<string, string>
}

/**
 * `columns` names the columns whose cells and collections are told of. A limit is kept to the end of a row: its deletions are not torn
 * apart. @throws SluiceError BAD_PARAMETER for what means nothing here
 */
export function openTombstoneScan(pinned: ScannedTable, request: ScanRequest, parts: TombstoneScanParts): Scan {
  const table = pinned.schema
  const { partitioner, limits, metadata } = parts
  for (const parameter of ['where', 'distinct'] as const) {
    if (!request[parameter]) continue
    throw new SluiceError('BAD_PARAMETER', { parameter, reason: 'it does not go with tombstones' })
  }
  const { reaches, keys, lower, upper } = scanTarget(table, partitioner, request)
  const columns = toldColumns(table, partitioner, request)
  const { layout, files } = layoutTable(table, pinned.sstables)
  const schema = { fields: tombstoneFields(table), metadata: new Map([...metadata, ['sluice.tombstones', '1']]) }
  const window = timeWindow(request)
  const stats = newScanStats()
  stats.sstables = files.length
  const indexCounters = newIndexCounters()
  const order = new ClusteringOrder(layout)
  const limit = request.limit ?? Number.POSITIVE_INFINITY
  const windowOptions = request.window ?? DEFAULT_WINDOW
  const routes = files.map((file) => {
    file.statics.wanted.fill(0)
    file.regulars.wanted.fill(0)
    const { sstable } = file
    stats.dataBytesTotal += sstable.dataFileLength
    const make = () => {
      const data = new DataWindow(dataChunks(sstable, indexCounters.chunkIndex), windowOptions, stats, request.memory)
      return new PartitionSource(data, file, partitioner, order, stats, windowOptions.maxBytes)
    }
    const index = openIndex(sstable, partitioner, indexCounters, true)
    return new SourceRoute(sstable, make, index, { partitioner, stats, reaches, keys })
  })
  const writer = new TombstoneWriter(schema, table, limits, window)
  pinned.retain()
  return new TableScan({
    schema,
    stats,
    routes,
    indexCounters,
    partitioner,
    merger: new TombstoneMerger(layout, order, stats, { now: request.now, limit, columns }),
    proposers:
      window &&
      proposers(
        window,
        routes.map(({ source }) => source),
      ),
    writer,
    bounds: new ScanBounds(partitioner, order, lower, upper, undefined),
    canCross: false,
    limit,
    scope: `${table.keyspace}.${table.table}`,
    signal: request.signal,
    onClose: () => pinned.release(),
  })
}

function toldColumns(table: TableSchema, partitioner: Partitioner, request: ScanRequest): Set<string> | undefined {
  if (request.columns === undefined) return undefined
  const selectors = parseSelection(request.columns, table, partitioner)
  return new Set(
    selectors.map((selector) => {
      if (selector.kind === 'column') return selector.column.name
      throw new SluiceError('BAD_SELECTOR', { column: selector.name, reason: 'tombstones are those of columns' })
    }),
  )
}
