// A Node stream as a sink: an HTTP response, a file, standard output. Parts go out corked (one writev, one HTTP chunk), and the wait
// for the last of them is raced with the stream's failure and with an abort: a reader that left never sends `drain`.

import type { Writable } from 'node:stream'
import type { Sink } from './pump.ts'

export class StreamSink implements Sink {
  readonly #stream: Writable
  readonly #signal: AbortSignal | undefined
  readonly #fail = (error: unknown): void => {
    this.#failure ??= { error }
    this.#reject?.(this.#failure.error)
  }
  readonly #aborted = (): void => this.#fail(this.#signal?.reason)
  #reject: ((error: unknown) => void) | undefined
  #failure: { error: unknown } | undefined

  /** Until `detach`, errors of the stream are this sink's: they reject the write in progress or the next one. */
  constructor(stream: Writable, signal?: AbortSignal) {
    this.#stream = stream
    this.#signal = signal
    stream.on('error', this.#fail)
    signal?.addEventListener('abort', this.#aborted)
    if (signal?.aborted) this.#aborted()
  }

  write(parts: Uint8Array[]): Promise<void> {
    return this.#settle((written) => {
      this.#stream.cork()
      try {
        const last = parts.length - 1
        for (let i = 0; i <= last; i++) this.#stream.write(parts[i], i === last ? written : undefined)
      } finally {
        this.#stream.uncork()
      }
    })
  }

  /** Ends the stream; settles when everything has been handed over. */
  end(): Promise<void> {
    return this.#settle((ended) => this.#stream.end(ended))
  }

  detach(): void {
    this.#stream.off('error', this.#fail)
    this.#signal?.removeEventListener('abort', this.#aborted)
  }

  #settle(act: (done: (error?: Error | null) => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure.error)
        return
      }
      this.#reject = reject
      act((error) => {
        this.#reject = undefined
        if (error) reject(error)
        else resolve()
      })
    })
  }
}
