// A scan that runs in a worker, as the Scan that it is to its reader. One batch is asked for ahead: the worker decodes it while
// the one before is being sent. No more than that, so that a reader that stops reading stops the disk.

import { dropped } from '../../storage/bytes/garbage.ts'
import { SluiceError } from '../../storage/errors.ts'
import type { Batch, BatchSchema } from '../../storage/rows/batch.ts'
import { leftBytes } from '../../storage/rows/builder-set.ts'
import type { Scan, ScanStats } from '../../storage/scan/scan-request.ts'
import { newScanStats } from '../../storage/scan/scan-request.ts'
import { type BatchData, errorOf, type ScanMessage, type ToWorker, vectorOf } from './protocol.ts'

type Outcome = { batch: BatchData } | { end: true } | { error: SluiceError }

/** Bytes of a batch that is more than an ordinary one of a stream. */
const LARGE_BATCH = 2 << 20

export class RemoteScan implements Scan {
  readonly id: number
  readonly stats: ScanStats = newScanStats()
  schema: BatchSchema = { fields: [], metadata: new Map() }
  #say: (message: ToWorker) => void
  #signal: AbortSignal | undefined
  #opened = settle<void>()
  #closed = settle<void>()
  #arrived: Outcome | undefined
  #waiting: ((outcome: Outcome) => void) | undefined
  #asked = false
  /** Batches given back since the last message: each message wakes a thread, so ordinary ones go with the next question. */
  #released: number[] = []
  #over: Outcome | undefined
  #closing = false
  /** Garbage that a batch is here when it is released. */
  #left = 0
  readonly #abort = (): void => this.fail(new SluiceError('CANCELLED'))

  constructor(id: number, say: (message: ToWorker) => void, signal: AbortSignal | undefined) {
    this.id = id
    this.#say = say
    this.#signal = signal
    signal?.addEventListener('abort', this.#abort)
    this.#opened.promise.catch(() => {}) // told by open()
  }

  /** Settles when the worker has opened the scan. */
  open(): Promise<void> {
    return this.#opened.promise
  }

  /** Settles when the worker holds nothing of it any more. */
  get closed(): Promise<void> {
    return this.#closed.promise
  }

  receive(message: ScanMessage): void {
    if (message.kind === 'opened') {
      this.schema = message.schema
      this.#left = leftBytes(message.schema)
      this.#asked = true // the worker goes on to the first batch by itself
      this.#opened.resolve()
    } else if (message.kind === 'closed') {
      this.#closed.resolve()
    } else if (message.kind === 'failed') {
      this.fail(errorOf(message.error))
    } else {
      Object.assign(this.stats, message.stats)
      this.#asked = false
      this.#deliver(message.kind === 'end' ? { end: true } : { batch: message.batch })
    }
  }

  /** Ends the scan with an error: what the worker said, the worker's own end, or an abort. */
  fail(error: SluiceError): void {
    this.#opened.reject(error)
    this.#deliver({ error })
  }

  /** The worker is gone; nothing will say `closed`. */
  abandon(error: SluiceError): void {
    this.fail(error)
    this.#closed.resolve()
  }

  async next(): Promise<Batch | undefined> {
    if (this.#over === undefined && this.#arrived === undefined) this.#ask()
    const outcome = this.#over ?? this.#arrived ?? (await this.#wait())
    this.#arrived = undefined
    if ('batch' in outcome) {
      this.#ask()
      return this.#batch(outcome.batch)
    }
    this.#over = outcome
    if ('error' in outcome) throw outcome.error
    return undefined
  }

  async close(): Promise<void> {
    this.#signal?.removeEventListener('abort', this.#abort)
    if (!this.#closing) {
      this.#closing = true
      this.#over ??= { error: new SluiceError('CANCELLED') }
      this.#say({ kind: 'close', scan: this.id })
    }
    await this.#closed.promise
  }

  #ask(): void {
    if (this.#asked || this.#closing || this.#over !== undefined) return
    this.#asked = true
    this.#tell('next')
  }

  #tell(kind: 'next' | 'release'): void {
    this.#say({ kind, scan: this.id, released: this.#released })
    this.#released = []
  }

  #wait(): Promise<Outcome> {
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }

  #deliver(outcome: Outcome): void {
    if (this.#over !== undefined) return
    if (!('batch' in outcome)) this.#over = outcome
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting !== undefined) waiting(outcome)
    else if ('batch' in outcome) this.#arrived = outcome
  }

  #batch({ id, rows, position, bytes, columns }: BatchData): Batch {
    const { schema } = this
    let released = false
    return {
      schema,
      rows,
      position,
      bytes,
      columns: columns.map((column, i) => vectorOf(column, schema.fields[i])),
      release: () => {
        if (released || this.#closing) return
        released = true
        if (this.#left > 0) dropped(this.#left)
        this.#released.push(id)
        // What is large is not to wait for the one that is being made.
        if (bytes > LARGE_BATCH) this.#tell('release')
      },
    }
  }
}

interface Settled<T> {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (error: unknown) => void
}

function settle<T>(): Settled<T> {
  let resolve!: (value: T) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
