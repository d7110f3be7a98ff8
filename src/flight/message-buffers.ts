// Buffers of the messages of one stream, used again: fresh memory costs more than copying into it, and each of these would be a
// megabyte for the garbage collector.

import type { Hold } from '../../exporters/exporter.ts'

/** More than wait at once are left to the garbage collector. */
const KEPT = 4
const STEP = 64 << 10

/** Two messages are under way while a third is made, and gRPC frames each in a copy that waits for the client. */
const MESSAGES = 3
const COPIES = 2

export class MessageBuffers {
  readonly #hold: Hold | undefined
  #free: ArrayBuffer[] = []
  /** All there are. */
  #bytes = 0

  /**
   * @param bytes of a message, about
   * @param hold told of all that messages take: for those of that size at once, so that a stream which begins does not end by them
   */
  constructor(bytes = 0, hold?: Hold) {
    this.#hold = hold
    hold?.(MESSAGES * COPIES * bytes)
  }

  allocate(bytes: number): Uint8Array {
    const found = this.#free.findIndex(({ byteLength }) => byteLength >= bytes)
    const buffer = found < 0 ? this.#make(bytes) : this.#free.splice(found, 1)[0]
    return Buffer.from(buffer, 0, bytes)
  }

  /** Takes back what `allocate` gave. */
  giveBack(message: Uint8Array): void {
    if (this.#free.length >= KEPT) this.#bytes -= this.#free.shift()!.byteLength
    this.#free.push(message.buffer as ArrayBuffer)
  }

  #make(bytes: number): ArrayBuffer {
    const size = Math.ceil(bytes / STEP) * STEP
    // Those that wait here are too small for what the stream has come to.
    this.#bytes -= this.#free.splice(0).reduce((sum, { byteLength }) => sum + byteLength, 0)
    this.#hold?.(COPIES * (this.#bytes + size))
    this.#bytes += size
    return Buffer.allocUnsafeSlow(size).buffer as ArrayBuffer
  }
}
