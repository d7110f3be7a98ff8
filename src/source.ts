// What the server and the CLI see of storage: tables by name, pinned sets of SSTables, scans. One interface, so that scans can move to
// other threads without either noticing, and so that tests can stand in for a disk.

import type { Scan, ScanRequest } from '../storage/scan/scan-request.ts'
import type { TableSchema } from '../storage/schema/table.ts'
import type { SplitsRequest, TableSplit } from './split-table.ts'

/** One live SSTable, as its components describe it. */
export interface SSTableInfo {
  /** As in its file names: a number, or 28 characters. */
  id: string
  version: string
  /** Path of Data.db. */
  file: string
  /** Class name of the compressor without its package, such as LZ4Compressor; null: not compressed. */
  codec: string | null
  /** Bytes of Data.db on disk and uncompressed. */
  bytes: number
  dataBytes: number
  /** Uncompressed, of a chunk of Data.db. */
  chunkBytes: number
  /** From Statistics.db; before SSTables are merged, and rows include the deleted. */
  rows: number
  partitions: number
  /** Least and greatest write time, microseconds; as decimal text, since they need all 64 bits. */
  minTimestamp: string
  maxTimestamp: string
  level: number
}

/** A table with the set of SSTables that were live at one moment; descriptors are held until release. */
export interface PinnedSource {
  readonly schema: TableSchema
  /** Class name without its package, such as Murmur3Partitioner. */
  readonly partitioner: string
  readonly sstables: readonly SSTableInfo[]
  /** Paths of all component files. */
  readonly files: readonly string[]
  /** Descriptors that are held open. */
  readonly descriptors: number
  /** Parts of about equal bytes. @throws SluiceError as splitTable */
  splits(request: SplitsRequest): Promise<TableSplit[]>
  /** @throws SluiceError BAD_* before anything is read */
  scan(request: ScanRequest): Promise<Scan>
  /** Safe to call twice. */
  release(): Promise<void>
}

export interface KeyspaceInfo {
  name: string
  tables: string[]
}

export interface Source {
  keyspaces(): Promise<KeyspaceInfo[]>
  /** That there is such a table, or was a moment ago. @throws SluiceError UNKNOWN_KEYSPACE, UNKNOWN_TABLE */
  check(keyspace: string, table: string): Promise<void>
  /** @throws SluiceError UNKNOWN_KEYSPACE, UNKNOWN_TABLE */
  table(keyspace: string, table: string): Promise<TableSchema>
  /** @throws SluiceError as table, or what opening the SSTables finds */
  pin(keyspace: string, table: string): Promise<PinnedSource>
  /** A table that was pinned earlier, out of directories that hold its files still. @throws SluiceError what opening them finds */
  reopen(schema: TableSchema, directories: readonly string[]): Promise<PinnedSource>
  close(): Promise<void>
}
