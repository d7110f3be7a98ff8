// The buffers that one stream's text is encoded into, used again once their bytes have left: each is a megabyte and more, and as
// garbage they would stand beside the allowance until the collector comes.

import type { Hold } from '../../exporters/exporter.ts'
import { dropped } from '../../storage/bytes/garbage.ts'

/** What waits for the next part at most; more are left to the garbage collector. */
const KEPT = 4
const STEP = 64 << 10
/** Parts of ordinary rows (exporters/text/sink.ts) fit. */
const ORDINARY_BYTES = (1 << 20) + STEP
/** One is being sent while the next is made. */
const AT_ONCE = 2
/** Ordinary buffers that a thread keeps between streams. */
const SPARES = 8
/** A buffer serves a part of no less than this part of it. */
const LEAST_PART = 0.25

const spares: ArrayBuffer[] = []

export class PartBuffers {
  readonly #hold: Hold
  #free: ArrayBuffer[] = []
  readonly #out = new Set<ArrayBufferLike>()
  /** All there are. */
  #bytes = 0

  /** @param hold told of all that the buffers take: for ordinary ones at once, so that a stream which begins does not end by them */
  constructor(hold: Hold) {
    this.#hold = hold
  }

  /** Bytes of memory held. */
  get heldBytes(): number {
    return this.#bytes
  }

  /** @throws SluiceError OVERLOADED, VALUE_TOO_LARGE */
  readonly allocate = (bytes: number): Uint8Array => {
    const found = this.#free.findIndex(
      ({ byteLength }) => byteLength >= bytes && byteLength * LEAST_PART <= Math.max(bytes, STEP),
    )
    const buffer = found < 0 ? this.#make(bytes) : this.#free.splice(found, 1)[0]
    this.#out.add(buffer)
    return new Uint8Array(buffer)
  }

  /** Takes back what `allocate` gave, or parts of it; others are passed over. */
  readonly giveBack = ({ buffer }: Uint8Array): void => {
    if (!this.#out.delete(buffer)) return
    if (this.#free.length >= KEPT) this.#drop([this.#free.shift()!])
    this.#free.push(buffer as ArrayBuffer)
  }

  /** The stream has ended; what was not given back may still be on its way, and is left to the garbage collector. */
  close(): void {
    for (const buffer of this.#free.splice(0)) {
      if (buffer.byteLength === ORDINARY_BYTES && spares.length < SPARES) spares.push(buffer)
      else dropped(buffer.byteLength)
    }
    for (const { byteLength } of this.#out) dropped(byteLength)
    this.#out.clear()
    this.#bytes = 0
  }

  #make(bytes: number): ArrayBuffer {
    const size = Math.ceil(bytes / STEP) * STEP
    // Those that wait here are too small for what the stream has come to.
    if (size > ORDINARY_BYTES) this.#drop(this.#free.splice(0))
    this.#hold(Math.max(this.#bytes + size, AT_ONCE * ORDINARY_BYTES))
    this.#bytes += size
    const spare = size === ORDINARY_BYTES ? spares.pop() : undefined
    return spare ?? (Buffer.allocUnsafeSlow(size).buffer as ArrayBuffer)
  }

  #drop(buffers: readonly ArrayBuffer[]): void {
    for (const { byteLength } of buffers) {
      this.#bytes -= byteLength
      dropped(byteLength)
    }
  }
}
