// `sluice verify`: reads SSTables whole and holds all that is written twice against each other: Digest.crc32, the checksum of
// every chunk, those of Statistics.db, the rows against its totals, the indexes and the filter against the rows.

import { readFile } from 'node:fs/promises'
import { DataWindow, DEFAULT_WINDOW } from '../bytes/window.ts'
import { type ErrorFields, isSluiceError, SluiceError } from '../errors.ts'
import { partitionerByName } from '../ring/partitioner.ts'
import { ClusteringOrder } from '../rows/clustering.ts'
import { EXHAUSTED, NEED, PartitionSource } from '../rows/partition-source.ts'
import { layoutTable } from '../rows/table-layout.ts'
import { KIND_END } from '../rows/unfiltered.ts'
import { checkHeader } from '../schema/header-schema.ts'
import type { TableSchema } from '../schema/table.ts'
import { dataChunks } from '../sstable/data-chunks.ts'
import { componentPath, type SSTableFiles } from '../sstable/descriptor.ts'
import { parseDigest, verifyDigest } from '../sstable/digest.ts'
import { openSSTable, type SSTable } from '../sstable/sstable.ts'
import { listLive } from './live-set.ts'
import { IndexCheck } from './verify-index.ts'
import { VerifyTotals } from './verify-totals.ts'

/**
 * What is checked, in this order. `open`: the components are there, Statistics.db and CompressionInfo.db make sense and their
 * checksums match. `data`: every chunk's checksum matches and every row can be read, in order. Later checks are left out
 * where an earlier one makes them impossible.
 */
export type VerifyCheck = 'open' | 'digest' | 'data' | 'totals' | 'index'

export interface SSTableReport {
  /** `nb-12-big` */
  id: string
  /** Path of Data.db. */
  file: string
  version: string
  /** Bytes of Data.db as stored, and uncompressed; 0 when it could not be opened. */
  dataFileLength: number
  dataLength: number
  partitions: number
  /** Rows and static rows, deleted ones too. */
  rows: number
  markers: number
  cells: number
  /** Cells whose expiry overflowed (the year 2038). */
  overflowedDeletionTimes: number
  /** Checks made, those that found a fault too. */
  checked: VerifyCheck[]
  /** Empty: the SSTable is whole. */
  faults: { check: VerifyCheck; error: SluiceError }[]
}

export interface VerifyOptions {
  /** Told of bytes of Data.db read; each byte twice, once for the digest (where there is one) and once for the rows. */
  onBytes?: (bytes: number) => void
  /** Told of each SSTable when it is done. */
  onReport?: (report: SSTableReport) => void
  /** Ends the work with CANCELLED. */
  signal?: AbortSignal
}

/**
 * Verifies every live SSTable in a table's directories, one after the other. Damage is told in the reports; what is thrown is
 * DATA_DIRECTORY, CANCELLED, or UNSUPPORTED_TABLE for a table that no scan reads either.
 */
export async function verifyTable(
  schema: TableSchema,
  directories: readonly string[],
  options: VerifyOptions = {},
): Promise<SSTableReport[]> {
  if (schema.compact === 'super') {
    const { keyspace, table } = schema
    throw new SluiceError('UNSUPPORTED_TABLE', { keyspace, table, reason: 'Thrift super columns' })
  }
  const reports: SSTableReport[] = []
  for (const directory of directories) {
    for (const files of await listLive(directory)) {
      const report = await verifySSTable(schema, files, options)
      options.onReport?.(report)
      reports.push(report)
    }
  }
  return reports
}

/** Verifies one SSTable. Throws CANCELLED, and nothing else on purpose. */
export async function verifySSTable(
  schema: TableSchema,
  files: SSTableFiles,
  options: VerifyOptions = {},
): Promise<SSTableReport> {
  const { descriptor } = files
  const report: SSTableReport = {
    id: descriptor.prefix.slice(0, -1),
    file: componentPath(descriptor, 'Data.db'),
    version: descriptor.version,
    dataFileLength: 0,
    dataLength: 0,
    partitions: 0,
    rows: 0,
    markers: 0,
    cells: 0,
    overflowedDeletionTimes: 0,
    checked: [],
    faults: [],
  }
  /** True when nothing was wrong. */
  const check = async (name: VerifyCheck, work: () => Promise<void>): Promise<boolean> => {
    report.checked.push(name)
    try {
      await work()
      return true
    } catch (error) {
      if (!isSluiceError(error)) throw error
      if (error.code === 'CANCELLED') throw error
      report.faults.push({ check: name, error })
      return false
    }
  }
  let sstable: SSTable | undefined
  await check('open', async () => {
    sstable = await openSSTable(files)
    checkHeader(schema, sstable.statistics.header, sstable.file)
  })
  if (sstable === undefined) return report
  try {
    report.dataFileLength = sstable.dataFileLength
    report.dataLength = sstable.dataLength
    if (files.components.has('Digest.crc32')) await check('digest', () => verifyDigestOf(sstable!, options))
    if (report.faults.some((fault) => fault.check === 'open')) return report
    const totals = new VerifyTotals()
    const index: IndexProgress = { fault: undefined }
    const isRead = await check('data', () => readRows(schema, sstable!, totals, index, report, options))
    report.partitions = totals.partitions
    report.rows = totals.rows
    report.markers = totals.markers
    report.cells = totals.cells
    if (isRead) {
      await check('totals', async () => {
        const differences = totals.differences(sstable!)
        if (differences.length > 0) throw corrupt(sstable!, differences.join('; '))
      })
    }
    if (isRead || index.fault !== undefined) {
      await check('index', async () => {
        if (index.fault !== undefined) throw index.fault
      })
    }
  } finally {
    sstable.close()
  }
  return report
}

async function verifyDigestOf(sstable: SSTable, options: VerifyOptions): Promise<void> {
  const path = componentPath(sstable.descriptor, 'Digest.crc32')
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new SluiceError('IO', { file: path, reason: error.message }, error)
  })
  await verifyDigest(sstable.dataFd, sstable.file, sstable.dataFileLength, parseDigest(text, path), (bytes) => {
    throwIfAborted(options)
    options.onBytes?.(bytes)
  })
}

/** The index is checked while the data is read; a fault in it ends its own check alone. */
interface IndexProgress {
  fault: SluiceError | undefined
}

async function readRows(
  schema: TableSchema,
  sstable: SSTable,
  totals: VerifyTotals,
  progress: IndexProgress,
  report: SSTableReport,
  options: VerifyOptions,
): Promise<void> {
  // As the file has it: cells of dropped columns count too.
  const { layout, files } = layoutTable({ ...schema, dropped: [], partial: true }, [sstable])
  const partitioner = partitionerByName(sstable.statistics.partitioner, schema.partitionKey[0].type)
  const counters = { dataBytesRead: 0, dataBytesInflated: 0, chunksInflated: 0 }
  const window = new DataWindow(dataChunks(sstable), DEFAULT_WINDOW, counters)
  const order = new ClusteringOrder(layout)
  const source = new PartitionSource(window, files[0], partitioner, order, report, DEFAULT_WINDOW.maxBytes)
  const index = new IndexCheck(sstable, partitioner)
  const withIndex = async (work: () => Promise<void>): Promise<void> => {
    if (progress.fault !== undefined) return
    try {
      await work()
    } catch (error) {
      if (!isSluiceError(error)) throw error
      progress.fault = error
    }
  }
  let told = 0
  const tell = () => {
    throwIfAborted(options)
    options.onBytes?.(counters.dataBytesRead - told)
    told = counters.dataBytesRead
  }
  const step = async (work: () => number): Promise<number> => {
    for (let status = work(); ; status = work()) {
      if (status !== NEED) return status
      await source.more()
      tell()
    }
  }
  const nextPartition = () => source.tryPartition()
  const nextUnfiltered = () => source.tryNext()
  try {
    while ((await step(nextPartition)) !== EXHAUSTED) {
      totals.partition(source)
      await withIndex(() => index.partition(source))
      for (;;) {
        if (index.isWide) await withIndex(() => index.unfiltered(source))
        if (source.tryNext() === NEED) await step(nextUnfiltered)
        if (source.current.kind === KIND_END) break
        totals.unfiltered(source.current)
      }
    }
    await withIndex(() => index.end())
    tell()
  } catch (error) {
    throw located(error, source)
  } finally {
    await window.close()
  }
}

/** Errors of the decoder know no partition, and a read beyond the window is damage in the file. */
function located(error: unknown, source: PartitionSource): unknown {
  const fields: ErrorFields = { offset: source.window.offset, partition: source.keyHex() }
  if (isSluiceError(error)) return error.code === 'CORRUPT_SSTABLE' ? error.with(fields) : error
  if (!(error instanceof RangeError)) return error
  const { file } = source.layout.sstable
  return new SluiceError('CORRUPT_SSTABLE', { file, ...fields, reason: error.message }, error)
}

function throwIfAborted(options: VerifyOptions): void {
  if (options.signal?.aborted) throw new SluiceError('CANCELLED')
}

function corrupt(sstable: SSTable, reason: string): SluiceError {
  return new SluiceError('CORRUPT_SSTABLE', { file: sstable.file, reason })
}
