// Buffers of the messages of one stream, used again: fresh memory costs more than copying into it, and each of these would be a
// megabyte for the garbage collector.

/** More than wait at once are left to the garbage collector. */
const KEPT = 4
const STEP = 64 << 10

export class MessageBuffers {
  #free: ArrayBuffer[] = []

  allocate(bytes: number): Uint8Array {
    const found = this.#free.findIndex(({ byteLength }) => byteLength >= bytes)
    const buffer = found < 0 ? newBuffer(bytes) : this.#free.splice(found, 1)[0]
    return Buffer.from(buffer, 0, bytes)
  }

  /** Takes back what `allocate` gave. */
  giveBack(message: Uint8Array): void {
    if (this.#free.length >= KEPT) this.#free.shift()
    this.#free.push(message.buffer as ArrayBuffer)
  }
}

function newBuffer(bytes: number): ArrayBuffer {
  return Buffer.allocUnsafeSlow(Math.ceil(bytes / STEP) * STEP).buffer as ArrayBuffer
}
