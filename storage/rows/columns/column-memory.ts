// Where column bytes live, and how much of it there is: plain or shared buffers (SharedArrayBuffer), counted for the scan that fills
// them. Buffers are never transferred; large ones that are done with are kept by the thread for the next that asks: V8 does not see
// how large shared ones are, and would let them pile up.

import type { MemoryClaim } from '../../bytes/allowance.ts'
import { copyBytes } from '../../bytes/copy-bytes.ts'
import { dropped, droppedShared } from '../../bytes/garbage.ts'
import { SluiceError } from '../../errors.ts'

/** What a buffer costs beside its bytes: objects for it in two threads, and what malloc adds. */
const OBJECT_BYTES = 512

/** Smaller buffers are left to the garbage collector. */
export const LARGE_BYTES = 256 * 1024

/** Of all large buffers that a thread keeps without a use. */
const SPARE_BYTES = 8 << 20

/** A spare buffer serves a request of no less than this part of it. */
const LEAST_PART = 0.5

const spares: Uint8Array[] = []
let spareBytes = 0

/** What the columns of one scan may hold together: `free` bytes, and beyond them what its claim grants. */
export class ColumnAccount {
  readonly #claim: MemoryClaim | undefined
  readonly #free: number
  #bytes = 0

  constructor(claim?: MemoryClaim, free = 0) {
    this.#claim = claim
    this.#free = free
  }

  /** @throws SluiceError VALUE_TOO_LARGE, OVERLOADED; then nothing is counted */
  grow(bytes: number): void {
    const total = this.#bytes + bytes
    if (bytes > 0 && total > this.#free) this.#claim?.raise(total - this.#free, {})
    this.#bytes = total
  }
}

/** The buffers of one set of builders. */
export class ColumnMemory {
  readonly shared: boolean
  #account: ColumnAccount | undefined
  #bytes = 0

  constructor(shared: boolean, account?: ColumnAccount) {
    this.shared = shared
    this.#account = account
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Counts for another scan from now on, or for none. */
  move(account: ColumnAccount | undefined): void {
    account?.grow(this.#bytes)
    this.#account?.grow(-this.#bytes)
    this.#account = account
  }

  /** Zeroed bytes, at least as many; rounded up to whole 8-byte words. */
  allocate(size: number): Uint8Array {
    const spare = takeSpare(size, this.shared)
    const bytes = spare?.length ?? Math.ceil(size / 8) * 8
    try {
      this.#account?.grow(bytes + OBJECT_BYTES)
    } catch (error) {
      if (spare !== undefined) keepSpare(spare)
      throw error
    }
    this.#bytes += bytes + OBJECT_BYTES
    if (spare !== undefined) return spare.fill(0)
    try {
      return this.shared ? new Uint8Array(new SharedArrayBuffer(bytes)) : new Uint8Array(bytes)
    } catch (error) {
      throw new SluiceError('VALUE_TOO_LARGE', { reason: `a column buffer of ${bytes} bytes` }, error)
    }
  }

  /** A buffer of at least `size` bytes that begins with the first `used` bytes of `old`, which is not to be used again. */
  enlarge(old: Uint8Array, used: number, size: number): Uint8Array {
    const grown = this.allocate(size)
    copyBytes(grown, 0, old, 0, used)
    this.discard(old)
    return grown
  }

  /** Zeroed bytes in place of a buffer that is too small, if there was one. */
  instead(old: Uint8Array | null, size: number): Uint8Array {
    if (old !== null) this.discard(old)
    return this.allocate(size)
  }

  /** Takes back what `allocate` gave. */
  discard(buffer: Uint8Array): void {
    const bytes = buffer.length + OBJECT_BYTES
    this.#account?.grow(-bytes)
    this.#bytes -= bytes
    if (buffer.length >= LARGE_BYTES) keepSpare(buffer)
  }
}

function takeSpare(size: number, shared: boolean): Uint8Array | undefined {
  if (size < LARGE_BYTES) return undefined
  let best = -1
  for (let i = 0; i < spares.length; i++) {
    const { length, buffer } = spares[i]
    if (length < size || length * LEAST_PART > size || buffer instanceof SharedArrayBuffer !== shared) continue
    if (best < 0 || length < spares[best].length) best = i
  }
  if (best < 0) return undefined
  const [spare] = spares.splice(best, 1)
  spareBytes -= spare.length
  return spare
}

function keepSpare(buffer: Uint8Array): void {
  spares.push(buffer)
  spareBytes += buffer.length
  while (spareBytes > SPARE_BYTES) {
    const oldest = spares.shift()!
    spareBytes -= oldest.length
    if (oldest.buffer instanceof SharedArrayBuffer) droppedShared(oldest.length)
    else dropped(oldest.length)
  }
}
