// What every output format is to the rest: batches in, byte parts out. An exporter serves one stream: head once, batch for
// each batch in order, tail once. It holds no more than the stream's own state; what it hands out is the caller's.

import type { Batch, BatchSchema } from '../storage/rows/batch.ts'

/**
 * Byte parts in order, made one at a time as they are pulled, so that a consumer that waits for its socket between two parts holds
 * the encoding back too. To be pulled to the end. Each part is the consumer's own from then on, but it may lie over buffers of the
 * batch that it came from: it has to be written out before that batch is released. Asynchronous where bytes pass through another
 * thread. `for await (const part of parts)` takes both kinds.
 */
export type Parts = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

export interface Exporter {
  readonly mediaType: string
  /** File name extension with its dot. */
  readonly extension: string
  /** What stands before the first batch. */
  head(schema: BatchSchema): Parts
  batch(batch: Batch): Parts
  /** What ends a whole output. A stream that failed is left without it. */
  tail(): Parts
  /** Frees what an exporter holds outside this thread's heap; needed only where a stream is given up before its tail. */
  close?(): void
}

/** Told how many bytes an exporter comes to hold beside the batch that it is given; throws where so many are not to be had. */
export type Hold = (bytes: number) => void

/** A buffer of at least `bytes` bytes to encode into; ordinary or shared memory. */
export type Allocate = (bytes: number) => Uint8Array

/** Takes back what an Allocate gave, before it was handed out. */
export type Discard = (bytes: Uint8Array) => void

/** Pages of its own for each part: a part may wait in a socket's queue while the next is made. */
export const allocatePart: Allocate = (bytes) => Buffer.allocUnsafeSlow(bytes)
