// Carries batches from a scan through an exporter to a sink, at the sink's pace: no batch is pulled while the sink still holds
// bytes back, so a reader that stops reading stops the disk. A batch is released once its last byte has left.

import type { Exporter, Parts } from '../exporters/exporter.ts'
import type { Batch } from '../storage/rows/batch.ts'
import type { Scan } from '../storage/scan/scan-request.ts'

/** Small parts are gathered up to this many bytes, since each write costs a system call and an HTTP chunk. */
const WRITE_BYTES = 1 << 20

export interface Sink {
  /** Writes the parts; settles when they have left this process's buffers. They may be reused afterwards. */
  write(parts: Uint8Array[]): Promise<void>
}

/** How far a stream has come. */
export interface PumpProgress {
  rows: number
  batches: number
  /** Bytes of output that the sink took. */
  bytes: number
  /** Position of the last row sent; undefined before the first. */
  position: string | undefined
}

export function newPumpProgress(): PumpProgress {
  return { rows: 0, batches: 0, bytes: 0, position: undefined }
}

/**
 * Sends head, batches and tail. Nothing reaches the sink before the first batch is encoded, so what fails up to there fails with a
 * clean sink. Does not close the scan.
 */
export async function pump(scan: Scan, exporter: Exporter, sink: Sink, progress: PumpProgress): Promise<void> {
  const gathered = new Gathered(sink, progress)
  try {
    await gathered.add(exporter.head(scan.schema))
    for (;;) {
      const batch = await scan.next()
      if (batch === undefined) break
      await gathered.addBatch(batch, exporter.batch(batch))
      if (progress.bytes === 0 || gathered.due) await gathered.flush()
    }
    await gathered.add(exporter.tail())
    await gathered.flush()
  } finally {
    gathered.releaseAll()
    exporter.close?.()
  }
}

/** Parts that wait for a write, and the batches that they lie over. */
class Gathered {
  readonly #sink: Sink
  readonly #progress: PumpProgress
  #parts: Uint8Array[] = []
  #bytes = 0
  #sinceFlush = 0
  #batches: Batch[] = []

  constructor(sink: Sink, progress: PumpProgress) {
    this.#sink = sink
    this.#progress = progress
  }

  get full(): boolean {
    return this.#bytes >= WRITE_BYTES
  }

  /** So much has come since the last flush that the batches it came from are to be given back, though most of it is written. */
  get due(): boolean {
    return this.#sinceFlush >= WRITE_BYTES
  }

  /** Gives the number of parts that there were. */
  async add(parts: Parts): Promise<number> {
    let count = 0
    // Parts are pulled one at a time: a large batch of text is encoded at the sink's pace too.
    if (Symbol.iterator in parts) {
      // `for await` would make promises of each part that is there already.
      for (const part of parts) {
        if (part.byteLength === 0) continue
        this.#take(part)
        // Before the next part is made: it may be as large.
        if (this.full) await this.#write()
        count++
      }
      return count
    }
    for await (const part of parts) {
      if (part.byteLength === 0) continue
      this.#take(part)
      if (this.full) await this.#write()
      count++
    }
    return count
  }

  #take(part: Uint8Array): void {
    this.#parts.push(part)
    this.#bytes += part.byteLength
    this.#sinceFlush += part.byteLength
  }

  async addBatch(batch: Batch, parts: Parts): Promise<void> {
    this.#batches.push(batch)
    // Where an exporter only takes a batch in (Parquet, up to a row group), nothing of it waits for the sink.
    if ((await this.add(parts)) === 0) this.#batches.pop()?.release()
    this.#progress.batches++
    this.#progress.rows += batch.rows
    this.#progress.position = batch.position
  }

  /** Writes what waits, then gives the batches back. */
  async flush(): Promise<void> {
    await this.#write()
    this.#sinceFlush = 0
    this.releaseAll()
  }

  releaseAll(): void {
    for (const batch of this.#batches) batch.release()
    this.#batches = []
  }

  async #write(): Promise<void> {
    if (this.#bytes === 0) return
    const parts = this.#parts
    const bytes = this.#bytes
    this.#parts = []
    this.#bytes = 0
    await this.#sink.write(parts)
    this.#progress.bytes += bytes
  }
}
