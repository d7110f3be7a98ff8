// The near side of the encoding thread: batches are copied into shared memory (never transferred: a detached buffer slows decoding in
// its thread for good), one being encoded while the next waits, and parts are taken one at a time.

import { Worker } from 'node:worker_threads'
import { dropped } from '../../storage/bytes/garbage.ts'
import { SluiceError } from '../../storage/errors.ts'
import type { Batch, BatchSchema, Field, Vector } from '../../storage/rows/batch.ts'
import { arrowStreamExporter } from '../arrow/arrow.ts'
import type { Hold } from '../exporter.ts'
import type { EncodeOptions, FromEncoder, ToEncoder } from './messages.ts'

/** Batches on their way: one is encoded, one waits. */
const SLOTS = 2

// What an encoding thread takes, measured: itself with the library and a row group; for each column its encoders and pages; and of a
// large batch the two slots, Arrow's and Parquet's forms of it, plain and compressed, in memory that does not shrink.
const THREAD_BYTES = 80 << 20
const COLUMN_BYTES = 300 << 10
const WIDE_COLUMN_BYTES = 80 << 10
const BATCH_FACTOR = 8
const ORDINARY_BATCH = 1 << 20

/** Each column holds a page and a dictionary of this size; of more columns none has a dictionary, and pages are smaller. */
const PAGE_BYTES = 256 << 10
const WIDE_PAGE_BYTES = 16 << 10
const MOST_DICTIONARIES = 256
/** A dictionary of larger values saves nothing, and holds each once more. */
const LARGE_VALUE = 64 << 10

/** The rest is known when the first batch is. */
export type StreamOptions = Omit<EncodeOptions, 'pageBytes' | 'dictionary'>

export class Encoder {
  readonly #schema: BatchSchema
  readonly #hold: Hold | undefined
  readonly #columns: number
  readonly #options: StreamOptions
  /** Runs from the first batch on, which tells how large values are. */
  #worker: Worker | undefined
  readonly #memory: SharedArrayBuffer[] = Array.from({ length: SLOTS }, () => new SharedArrayBuffer(0))
  #sent = 0
  #taken = 0
  #parts: Uint8Array[] = []
  #done = false
  #failure: unknown
  #wake: (() => void) | undefined

  constructor(schema: BatchSchema, options: StreamOptions, hold?: Hold) {
    this.#schema = schema
    this.#hold = hold
    this.#columns = schema.fields.reduce((sum, field) => sum + leaves(field), 0)
    this.#options = options
    this.#claim(0)
  }

  /** The batch may be released once this has come to its end. */
  async *encode(batch: Batch): AsyncGenerator<Uint8Array> {
    yield* this.#until(() => this.#sent - this.#taken < SLOTS)
    this.#send(batch)
  }

  async *finish(): AsyncGenerator<Uint8Array> {
    // The schema travels with a batch, so that there has to be one.
    if (this.#sent === 0) this.#send(emptyBatch(this.#schema))
    this.#say({ kind: 'end' })
    yield* this.#until(() => this.#done)
    this.stop()
  }

  stop(): void {
    if (!this.#done) this.#fail(new Error('the encoding thread was stopped'))
    void this.#worker?.terminate()
  }

  async *#until(ready: () => boolean): AsyncGenerator<Uint8Array> {
    for (;;) {
      const part = this.#parts.shift()
      if (part !== undefined) {
        yield part
        this.#say({ kind: 'more' })
      } else if (this.#failure !== undefined) {
        throw new SluiceError('INTERNAL', { reason: 'Parquet encoding failed' }, this.#failure)
      } else if (ready()) {
        return
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }

  #send(batch: Batch): void {
    const stream = arrowStreamExporter()
    const parts = [...(stream.head(this.#schema) as Iterable<Uint8Array>)]
    parts.push(...(stream.batch(batch) as Iterable<Uint8Array>), ...(stream.tail() as Iterable<Uint8Array>))
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    const slot = this.#sent % SLOTS
    if (this.#memory[slot].byteLength < length) {
      this.#claim(length)
      dropped(this.#memory[slot].byteLength)
      this.#memory[slot] = new SharedArrayBuffer(length + (length >> 2))
    }
    const memory = this.#memory[slot]
    const bytes = new Uint8Array(memory)
    let at = 0
    for (const part of parts) {
      bytes.set(part, at)
      at += part.length
    }
    this.#sent++
    this.#worker ??= this.#start(length / Math.max(1, batch.rows))
    this.#say({ kind: 'batch', memory, length, rows: batch.rows })
  }

  /** @param rowBytes of a row of the first batch */
  #start(rowBytes: number): Worker {
    const isWide = this.#columns > MOST_DICTIONARIES
    const worker = startWorker({
      ...this.#options,
      pageBytes: isWide ? WIDE_PAGE_BYTES : PAGE_BYTES,
      dictionary: !isWide && rowBytes < this.#columns * LARGE_VALUE,
    })
    worker.on('message', (message: FromEncoder) => this.#receive(message))
    worker.on('error', (cause) => this.#fail(cause))
    worker.on('exit', () => {
      if (!this.#done) this.#fail(new Error('the encoding thread has ended'))
    })
    return worker
  }

  #claim(batch: number): void {
    const large = BATCH_FACTOR * Math.max(0, batch - ORDINARY_BATCH)
    const column = this.#columns > MOST_DICTIONARIES ? WIDE_COLUMN_BYTES : COLUMN_BYTES
    this.#hold?.(THREAD_BYTES + column * this.#columns + large)
  }

  #say(message: ToEncoder): void {
    this.#worker?.postMessage(message)
  }

  #receive(message: FromEncoder): void {
    if (message.kind === 'taken') this.#taken++
    else if (message.kind === 'part') this.#parts.push(message.bytes)
    else this.#done = true
    this.#wake?.()
  }

  #fail(cause: unknown): void {
    this.#failure ??= cause
    this.#wake?.()
  }
}

function leaves({ children }: Field): number {
  return children.length === 0 ? 1 : children.reduce((sum, child) => sum + leaves(child), 0)
}

function startWorker(options: EncodeOptions): Worker {
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./encode-worker.js', import.meta.url), { workerData: options, name: 'parquet' })
  }
  // From TypeScript sources, as tests run: a thread does not inherit the loader.
  const [tsx, file] = [import.meta.resolve('tsx/esm/api'), new URL('./encode-worker.ts', import.meta.url).href]
  const start = `import('${tsx}').then((tsx) => { tsx.register(); return import('${file}') })`
  return new Worker(start, { eval: true, workerData: options, name: 'parquet' })
}

function emptyBatch(schema: BatchSchema): Batch {
  return { schema, rows: 0, columns: schema.fields.map(emptyVector), position: '', bytes: 0, release() {} }
}

function emptyVector(field: Field): Vector {
  return {
    field,
    length: 0,
    nullCount: 0,
    validity: null,
    empty: null,
    offsets: new Int32Array(1),
    values: new Uint8Array(0),
    children: field.children.map(emptyVector),
  }
}
