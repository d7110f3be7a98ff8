// Many splits at once: so many streams, so many bytes fetched ahead of the consumer, in the order of the splits or as they come. In
// order, the split whose turn it is always gets room for one batch more; so the others, that wait for room, never block it.

import type { SluiceError } from '../../storage/errors.ts'
import type { Connection } from './http.ts'
import type { IpcMessage } from './ipc-messages.ts'
import { readSplit } from './read-split.ts'

export interface PullSplit {
  ticket: string
  locations: readonly string[]
  /** Position to start behind. */
  after?: string
  /** Rows at most. */
  limit?: number
}

export interface PullOptions {
  /** Streams at once. */
  concurrency: number
  /** Bytes of batches fetched and not yet taken; one batch may go beyond, and in order one of the split at hand. */
  prefetchBytes: number
  ordered: boolean
  retries: number
  digest: boolean
  rate?: number
  signal?: AbortSignal
  /** Told of each try that failed. */
  onRetry: (split: number, error: SluiceError) => void
}

/** A message of a split, or its end. */
export type Delivery = { split: number } & ({ message: IpcMessage } | { end: true })

export async function* pullSplits(
  connection: Connection,
  splits: readonly PullSplit[],
  options: PullOptions,
): AsyncGenerator<Delivery> {
  const pull = new Pull(connection, splits, options)
  try {
    for (;;) {
      const delivery = await pull.take()
      if (delivery === undefined) return
      yield delivery
    }
  } finally {
    await pull.stop()
  }
}

class Pull {
  readonly #connection: Connection
  readonly #splits: readonly PullSplit[]
  readonly #options: PullOptions
  readonly #stop = new AbortController()
  readonly #signal: AbortSignal
  readonly #workers: Promise<void>[]
  /** What has come, by split in order; in any order all is in the first. */
  readonly #queues: Delivery[][]
  /** In order, the split whose deliveries are taken. */
  #head = 0
  #next = 0
  #ended = 0
  #held = 0
  #failure: { error: unknown } | undefined
  #waiting = new Set<() => void>()

  constructor(connection: Connection, splits: readonly PullSplit[], options: PullOptions) {
    this.#connection = connection
    this.#splits = splits
    this.#options = options
    this.#signal = options.signal ? AbortSignal.any([options.signal, this.#stop.signal]) : this.#stop.signal
    this.#queues = Array.from({ length: options.ordered ? splits.length : 1 }, () => [])
    this.#signal.addEventListener('abort', () => this.#fail(this.#signal.reason), { once: true })
    if (this.#signal.aborted) this.#fail(this.#signal.reason)
    const workers = Math.min(options.concurrency, splits.length)
    this.#workers = Array.from({ length: workers }, () => this.#work())
  }

  async take(): Promise<Delivery | undefined> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error
      const queue = this.#queues[this.#head]
      const delivery = queue?.shift()
      if (delivery !== undefined) {
        if ('message' in delivery) this.#held -= delivery.message.bytes.length
        else {
          this.#ended++
          if (this.#options.ordered) this.#head++
        }
        this.#changed()
        return delivery
      }
      if (this.#ended === this.#splits.length) return undefined
      await this.#change()
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.allSettled(this.#workers)
  }

  async #work(): Promise<void> {
    try {
      while (this.#next < this.#splits.length && this.#failure === undefined) await this.#read(this.#next++)
    } catch (error) {
      this.#fail(error)
      // The others have nobody to read for.
      this.#stop.abort(error)
    }
  }

  async #read(split: number): Promise<void> {
    const { retries, digest, rate, onRetry } = this.#options
    const { ticket, locations, after, limit } = this.#splits[split]
    let reserved = 0
    const unreserve = () => {
      this.#held -= reserved
      reserved = 0
      this.#changed()
    }
    const messages = readSplit(this.#connection, {
      ticket,
      locations,
      after,
      limit,
      retries,
      digest,
      rate,
      signal: this.#signal,
      beforeBody: async (bytes) => {
        await this.#room(split, bytes)
        this.#held += bytes
        reserved = bytes
      },
      onRetry: (error) => {
        unreserve()
        onRetry(split, error)
      },
    })
    for await (const message of messages) {
      if (message.kind === 'schema') this.#held += message.bytes.length
      reserved = 0
      this.#deliver({ split, message })
    }
    this.#deliver({ split, end: true })
  }

  /** Waits until the bytes fit. */
  async #room(split: number, bytes: number): Promise<void> {
    const { prefetchBytes, ordered } = this.#options
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error
      const isNext = ordered ? split === this.#head && this.#queues[split].length === 0 : this.#queues[0].length === 0
      if (this.#held + bytes <= prefetchBytes || this.#held === 0 || (ordered && isNext)) return
      await this.#change()
    }
  }

  #deliver(delivery: Delivery): void {
    this.#queues[this.#options.ordered ? delivery.split : 0].push(delivery)
    this.#changed()
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.#changed()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve))
  }

  #changed(): void {
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const resolve of waiting) resolve()
  }
}
