// Messages to a Flight client, two at a time: while one waits for the client's flow control, the next is decoded and encoded.

import type { ServerWritableStream } from '@grpc/grpc-js'
import type { Sink } from '../pump.ts'
import { writeAnswer } from './call.ts'
import type { MessageBuffers } from './message-buffers.ts'

export class FlightSink<Request> implements Sink {
  readonly #call: ServerWritableStream<Request, Uint8Array>
  readonly #signal: AbortSignal
  readonly #buffers: MessageBuffers
  #last: Promise<unknown> = Promise.resolve()

  constructor(call: ServerWritableStream<Request, Uint8Array>, signal: AbortSignal, buffers: MessageBuffers) {
    this.#call = call
    this.#signal = signal
    this.#buffers = buffers
  }

  /** Each part is a message, out of the buffers. Settles when the write before this one is done. */
  async write(parts: Uint8Array[]): Promise<void> {
    const before = this.#last
    this.#last = Promise.all(parts.map((part) => this.#send(part)))
    this.#last.catch(() => {}) // told by the next write, or by `end`
    await before
  }

  /** Settles when all is written. */
  async end(): Promise<void> {
    await this.#last
  }

  async #send(message: Uint8Array): Promise<void> {
    await writeAnswer(this.#call, message, this.#signal)
    this.#buffers.giveBack(message)
  }
}
