// Messages to a Flight client, two writes at a time: while one waits for the client's flow control, the next batch is decoded and
// encoded.

import type { ServerWritableStream } from '@grpc/grpc-js'
import type { Sink } from '../pump.ts'
import { writeAnswers } from './call.ts'
import type { MessageBuffers } from './message-buffers.ts'

export class FlightSink<Request> implements Sink {
  readonly #call: ServerWritableStream<Request, Uint8Array>
  readonly #signal: AbortSignal
  readonly #buffers: MessageBuffers
  #last: Promise<void> = Promise.resolve()

  constructor(call: ServerWritableStream<Request, Uint8Array>, signal: AbortSignal, buffers: MessageBuffers) {
    this.#call = call
    this.#signal = signal
    this.#buffers = buffers
  }

  /** Each part is a message, out of the buffers. Settles when the write before this one is done. */
  async write(parts: Uint8Array[]): Promise<void> {
    const before = this.#last
    this.#last = this.#send(parts)
    this.#last.catch(() => {}) // told by the next write, or by `end`
    await before
  }

  /** Settles when all is written. */
  async end(): Promise<void> {
    await this.#last
  }

  async #send(messages: Uint8Array[]): Promise<void> {
    await writeAnswers(this.#call, messages, this.#signal)
    for (const message of messages) this.#buffers.giveBack(message)
  }
}
