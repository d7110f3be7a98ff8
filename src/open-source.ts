// The source of the running product: a catalog of data directories on this machine.

import type { CatalogOptions } from '../storage/scan/catalog.ts'
import { Catalog } from '../storage/scan/catalog.ts'
import { openLive } from '../storage/scan/live-set.ts'
import { PinnedTable } from '../storage/scan/pinned-table.ts'
import { openScan } from '../storage/scan/scan.ts'
import { dataChunks } from '../storage/sstable/data-chunks.ts'
import { componentPath } from '../storage/sstable/descriptor.ts'
import type { SSTable } from '../storage/sstable/sstable.ts'
import type { PinnedSource, Source, SSTableInfo } from './source.ts'
import { splitTable } from './split-table.ts'
import { WorkerPool } from './workers/pool.ts'

export interface SourceOptions extends CatalogOptions {
  /** Threads that scans run in; 0: this one. */
  workers?: number
  /** Told of a worker that ended by itself; its scans have failed by then, and another has taken its place. */
  onWorkerDeath?: (error: Error) => void
}

/** @throws SluiceError DATA_DIRECTORY, or what reading the schema finds */
export async function openSource(options: SourceOptions): Promise<Source> {
  const catalog = await Catalog.open(options)
  const pool = options.workers ? new WorkerPool(options.workers, options.onWorkerDeath ?? (() => {})) : undefined
  return {
    keyspaces: () => catalog.keyspaces(),
    check: (keyspace, table) => catalog.check(keyspace, table),
    table: (keyspace, table) => catalog.table(keyspace, table),
    pin: async (keyspace, table) => pinnedSource(await catalog.pin(keyspace, table), pool),
    reopen: async (schema, directories) => pinnedSource(new PinnedTable(schema, await openLive(directories)), pool),
    async close() {
      await pool?.close()
      await catalog.close()
    },
  }
}

function pinnedSource(pinned: PinnedTable, pool: WorkerPool | undefined): PinnedSource {
  let released = false
  return {
    schema: pinned.schema,
    partitioner: pinned.partitioner,
    sstables: pinned.sstables.map(sstableInfo),
    files: pinned.sstables.flatMap(({ descriptor, components }) =>
      [...components].map((component) => componentPath(descriptor, component)),
    ),
    descriptors: pinned.sstables.reduce((sum, { descriptorCount }) => sum + descriptorCount, 0),
    splits: (request) => splitTable(pinned, request),
    scan: (request) => (pool === undefined ? openScan(pinned, request) : pool.openScan(pinned, request)),
    async release() {
      // The table counts its holders: twice would take it from a scan.
      if (released) return
      released = true
      await pinned.release()
    },
  }
}

function sstableInfo(sstable: SSTable): SSTableInfo {
  const { descriptor, file, compression, dataFileLength, dataLength, statistics } = sstable
  return {
    id: descriptor.id,
    version: descriptor.version,
    file,
    codec: compression === null ? null : compression.codec,
    bytes: dataFileLength,
    dataBytes: dataLength,
    chunkBytes: Math.min(dataLength, dataChunks(sstable).chunkLength),
    rows: Number(statistics.totalRows),
    // Each partition is counted once in the histogram of their sizes.
    partitions: Number(statistics.partitionSizes.counts.reduce((sum, count) => sum + count, 0n)),
    minTimestamp: String(statistics.minTimestamp),
    maxTimestamp: String(statistics.maxTimestamp),
    level: statistics.level,
  }
}
