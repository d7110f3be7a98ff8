// What the main thread and a scan worker say to each other. Column buffers are SharedArrayBuffers: a message carries where the bytes
// lie, never the bytes, and nothing is transferred (a transferred buffer slows typed arrays in its thread for good).

import type { ErrorCode, ErrorFields } from '../../storage/errors.ts'
import { isSluiceError, SluiceError } from '../../storage/errors.ts'
import type { BatchSchema, Field, Vector } from '../../storage/rows/batch.ts'
import type { ScanRequest, ScanStats } from '../../storage/scan/scan-request.ts'
import type { TableSchema } from '../../storage/schema/table.ts'
import type { SSTableData } from '../../storage/sstable/sstable.ts'

export type WorkerRequest = Omit<ScanRequest, 'signal'>

/** What a worker has to know of a pinned table; its descriptors are the main thread's. */
export interface TableData {
  schema: TableSchema
  partitioner: string
  sstables: SSTableData[]
}

/** A worker keeps so many tables that it was told of, those that were used last: both sides count the same. */
export const TABLES_KEPT = 8

export type ToWorker =
  /** Asks for the first batch too. `data` comes with a table that the worker does not have. */
  | { kind: 'open'; scan: number; table: number; data: TableData | undefined; request: WorkerRequest }
  /** The buffers of the released batches may be written again, or let go. */
  | { kind: 'next' | 'release'; scan: number; released: number[] }
  | { kind: 'close'; scan: number }

export type FromWorker =
  | { kind: 'opened'; scan: number; schema: BatchSchema }
  | { kind: 'batch'; scan: number; batch: BatchData; stats: ScanStats }
  | { kind: 'end'; scan: number; stats: ScanStats }
  | { kind: 'failed'; scan: number; error: ErrorData }
  | { kind: 'closed'; scan: number }
  /** Shared buffers of so many bytes are of no use any more: the objects for them here keep them from being freed. */
  | { kind: 'dropped'; bytes: number }

/** What is said of one scan. */
export type ScanMessage = Exclude<FromWorker, { kind: 'dropped' }>

export interface BatchData {
  id: number
  rows: number
  position: string
  bytes: number
  columns: VectorData[]
}

/** A vector without its field, which the main thread knows. */
export type VectorData = Omit<Vector, 'field' | 'children'> & { children: VectorData[] }

export interface ErrorData {
  code: ErrorCode
  fields: ErrorFields
  /** Of an error that was none of ours. */
  cause?: string
}

export function vectorData({ field: _, children, ...data }: Vector): VectorData {
  return { ...data, children: children.map(vectorData) }
}

export function vectorOf(data: VectorData, field: Field): Vector {
  return { ...data, field, children: data.children.map((child, i) => vectorOf(child, field.children[i])) }
}

export function errorData(error: unknown): ErrorData {
  if (isSluiceError(error)) {
    return {
      code: error.code,
      fields: error.fields,
      cause: error.cause === undefined ? undefined : String(error.cause),
    }
  }
  return {
    code: 'INTERNAL',
    fields: {},
    cause: error instanceof Error ? (error.stack ?? error.message) : String(error),
  }
}

export function errorOf({ code, fields, cause }: ErrorData): SluiceError {
  return new SluiceError(code, fields, cause)
}
