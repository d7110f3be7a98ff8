// An export on a server, as a program sees it: planned in one request, read in parallel, resumed where it stood.
//
//   const orders = await createExport({ url: 'http://10.0.0.1:9180' }, { keyspace: 'shop', table: 'orders', splits: 64 })
//   for await (const batch of orders.batches({ concurrency: 8 })) ...

import type { RecordBatch } from 'apache-arrow'
import { SluiceError } from '../../storage/errors.ts'
import type { ExportDescription } from '../server/routes/exports.ts'
import type { Connection } from './http.ts'
import { callJson } from './http.ts'
import { type PullSplit, pullSplits } from './pull.ts'
import { type ByteSink, copySplit } from './read-split.ts'
import { recordBatchOf } from './record-batches.ts'

/** What to export: keyspace, table and the parameters of POST /v1/exports (GET /openapi.json lists them). */
export interface ExportRequest {
  keyspace: string
  table: string
  [parameter: string]: string | number | boolean | string[] | undefined
}

/** Where the reader of a split stands: behind a position, or at its end. */
export type SplitState = { position: string } | 'done'

export interface PullProgress {
  rows: number
  batches: number
  /** Bytes of the messages taken. */
  bytes: number
  /** Tries that failed. */
  retries: number
  splits: number
  splitsDone: number
  /** Estimated bytes of the whole export, and of the splits that are done; uncompressed, on the server's disk. */
  dataBytes: number
  dataBytesDone: number
}

export interface ReadOptions {
  /** Streams at once; 4 if not given. */
  concurrency?: number
  /** Bytes of batches fetched ahead; 64 MiB if not given. */
  prefetchBytes?: number
  /** Batches in the order of the ring (the default), or as they come. */
  ordered?: boolean
  /** Failures in a row of one split, without a batch between them, before the whole fails; 10 if not given. */
  retries?: number
  /** Check a digest of every response. */
  digest?: boolean
  /** Rows at most, of an export of one split: those of several are read side by side. */
  limit?: number
  /** Megabytes a second that the server may read from disk, for each stream. */
  rate?: number
  signal?: AbortSignal
  /** Where earlier reading stood, by number of the split. */
  resume?: ReadonlyMap<number, SplitState>
  /** Told after each batch and each end of a split; one object, changed as it goes on. */
  onProgress?: (progress: PullProgress) => void
  onRetry?: (split: number, error: SluiceError) => void
}

/** A batch with where it stands; or the end of a split. */
export type ExportPart =
  | { kind: 'batch'; split: number; position: string; rows: number; bytes: Uint8Array; batch(): RecordBatch }
  | { kind: 'end'; split: number }

const DEFAULTS = { concurrency: 4, prefetchBytes: 64 << 20, ordered: true, retries: 10, digest: false }

/** @throws SluiceError as the server says; REMOTE when there is none */
export async function createExport(connection: Connection, request: ExportRequest): Promise<RemoteExport> {
  const description = await callJson<ExportDescription>(connection, '/v1/exports', {
    method: 'POST',
    body: JSON.stringify(request),
  })
  return new RemoteExport(connection, description)
}

/** An export that was made before. @throws SluiceError EXPORT_GONE, UNKNOWN_EXPORT */
export async function findExport(connection: Connection, id: string): Promise<RemoteExport> {
  const description = await callJson<ExportDescription>(connection, `/v1/exports/${encodeURIComponent(id)}`)
  return new RemoteExport(connection, description)
}

export class RemoteExport {
  readonly connection: Connection
  readonly description: ExportDescription

  constructor(connection: Connection, description: ExportDescription) {
    this.connection = connection
    this.description = description
  }

  get id(): string {
    return this.description.id
  }

  /** The schema message that every stream of it begins with. */
  get schemaMessage(): Uint8Array {
    return Buffer.from(this.description.schema.arrow, 'base64')
  }

  /** All rows, as apache-arrow's record batches. Leaving the loop early ends the streams. */
  async *batches(options: ReadOptions = {}): AsyncGenerator<RecordBatch> {
    for await (const part of this.parts(options)) if (part.kind === 'batch') yield part.batch()
  }

  /**
   * All batches with their positions, as they are to be kept for `resume`. The export is renewed while it is read.
   * @throws SluiceError; the signal's reason
   */
  async *parts(options: ReadOptions = {}): AsyncGenerator<ExportPart> {
    const { resume, onProgress, onRetry, signal, rate, limit } = options
    const { endpoints } = this.description
    this.#checkLimit(limit)
    const numbers = endpoints.map((_, split) => split).filter((split) => resume?.get(split) !== 'done')
    const splits = numbers.map((split): PullSplit => {
      const state = resume?.get(split)
      const { ticket, locations } = endpoints[split]
      return { ticket, locations, limit, after: typeof state === 'object' ? state.position : undefined }
    })
    const progress: PullProgress = {
      rows: 0,
      batches: 0,
      bytes: 0,
      retries: 0,
      splits: endpoints.length,
      splitsDone: endpoints.length - splits.length,
      dataBytes: endpoints.reduce((sum, { bytes }) => sum + bytes, 0),
      dataBytesDone: endpoints.reduce((sum, { bytes }, i) => sum + (resume?.get(i) === 'done' ? bytes : 0), 0),
    }
    const schemas = new Map<number, Uint8Array>()
    const renewal = this.#keepAlive()
    try {
      const deliveries = pullSplits(this.connection, splits, {
        concurrency: options.concurrency ?? DEFAULTS.concurrency,
        prefetchBytes: options.prefetchBytes ?? DEFAULTS.prefetchBytes,
        ordered: options.ordered ?? DEFAULTS.ordered,
        retries: options.retries ?? DEFAULTS.retries,
        digest: options.digest ?? DEFAULTS.digest,
        rate,
        signal,
        onRetry: (at, error) => {
          progress.retries++
          onRetry?.(numbers[at], error)
        },
      })
      for await (const delivery of deliveries) {
        const split = numbers[delivery.split]
        if ('end' in delivery) {
          schemas.delete(split)
          progress.splitsDone++
          progress.dataBytesDone += endpoints[split].bytes
          yield { kind: 'end', split }
        } else if (delivery.message.kind === 'schema') {
          schemas.set(split, delivery.message.bytes)
          continue
        } else {
          const { bytes, rows, position } = delivery.message
          const schema = schemas.get(split)
          if (schema === undefined) throw new SluiceError('REMOTE', { reason: 'a batch before its schema' })
          progress.rows += rows
          progress.batches++
          progress.bytes += bytes.length
          yield { kind: 'batch', split, position, rows, bytes, batch: () => recordBatchOf(schema, bytes) }
        }
        onProgress?.(progress)
      }
    } finally {
      clearInterval(renewal)
    }
  }

  /**
   * One split in the format that the export was made with, written as it comes.
   * @throws SluiceError; the signal's reason
   */
  async copy(
    split: number,
    sink: ByteSink,
    options: Pick<ReadOptions, 'retries' | 'limit' | 'signal' | 'onRetry'> = {},
  ): Promise<void> {
    const { ticket, locations } = this.description.endpoints[split]
    this.#checkLimit(options.limit)
    const renewal = this.#keepAlive()
    try {
      await copySplit(
        this.connection,
        {
          ticket,
          locations,
          limit: options.limit,
          retries: options.retries ?? DEFAULTS.retries,
          signal: options.signal ?? new AbortController().signal,
          onRetry: (error) => options.onRetry?.(split, error),
        },
        sink,
      )
    } finally {
      clearInterval(renewal)
    }
  }

  /** Puts the end off. */
  async renew(seconds?: number): Promise<void> {
    const query = seconds === undefined ? '' : `?ttl=${seconds}`
    await callJson(this.connection, `/v1/exports/${this.id}/renew${query}`, { method: 'POST' })
  }

  /** Ends it on the server. One that is gone already is as good. */
  async delete(): Promise<void> {
    try {
      await callJson(this.connection, `/v1/exports/${this.id}`, { method: 'DELETE' })
    } catch (error) {
      const gone = error instanceof SluiceError && (error.code === 'EXPORT_GONE' || error.code === 'UNKNOWN_EXPORT')
      if (!gone) throw error
    }
  }

  #checkLimit(limit: number | undefined): void {
    const splits = this.description.endpoints.length
    if (limit === undefined || splits === 1) return
    throw new SluiceError('BAD_PARAMETER', {
      parameter: 'limit',
      reason: `the export has ${splits} splits`,
      expected: 'one',
    })
  }

  /** What ends because nobody renews it would end between two streams. A renewal that fails shows when the streams do. */
  #keepAlive(): NodeJS.Timeout {
    const lifetime = Date.parse(this.description.expires) - Date.parse(this.description.created)
    const every = Math.min(Math.max(lifetime / 3, 500), 600_000)
    return setInterval(() => void this.renew().catch(() => {}), every).unref()
  }
}
