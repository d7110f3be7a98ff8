// Bytes of memory that scans in all threads may hold together. A plain record over shared memory: a message to another thread
// carries it as it is, and both count on the same number.

import { type ErrorFields, SluiceError } from '../errors.ts'

/** Counted in pages, so that 32 bits are enough for what a process can hold (16 TiB). */
const PAGE = 4096

/** Part of the allowance above which it is of no use to come again: the rest is for the scan itself. */
const TOO_LARGE = 0.75

export interface Allowance {
  /** Pages taken; one element, in a SharedArrayBuffer. */
  readonly pages: Int32Array
  /** Bytes. */
  readonly limit: number
}

export function createAllowance(limit: number): Allowance {
  return { pages: new Int32Array(new SharedArrayBuffer(4)), limit }
}

/** Takes the bytes, rounded up to pages; false, and nothing taken, when they do not fit. */
export function tryTake({ pages, limit }: Allowance, bytes: number): boolean {
  const wanted = Math.ceil(bytes / PAGE)
  const most = Math.floor(limit / PAGE)
  for (;;) {
    const taken = Atomics.load(pages, 0)
    if (wanted > most - taken) return false
    if (Atomics.compareExchange(pages, 0, taken, taken + wanted) === taken) return true
  }
}

/** Gives back what one tryTake of the same bytes took. */
export function giveBack({ pages }: Allowance, bytes: number): void {
  Atomics.sub(pages, 0, Math.ceil(bytes / PAGE))
}

export function takenBytes({ pages }: Allowance): number {
  return Atomics.load(pages, 0) * PAGE
}

/** What one holder has taken of an allowance; without one it may take what it likes. */
export class MemoryClaim {
  readonly #allowance: Allowance | undefined
  #bytes = 0

  constructor(allowance: Allowance | undefined) {
    this.#allowance = allowance
  }

  /**
   * Raises the claim to this many bytes, if it is lower; `where` tells what for. VALUE_TOO_LARGE when the whole allowance would
   * not hold it, OVERLOADED when only others leave too little.
   */
  raise(bytes: number, where: ErrorFields): void {
    if (this.#allowance === undefined || bytes <= this.#bytes) return
    const { limit } = this.#allowance
    const wanted = Math.ceil(bytes / PAGE) * PAGE
    if (!tryTake(this.#allowance, wanted - this.#bytes)) {
      const isTooLarge = wanted > TOO_LARGE * limit
      throw new SluiceError(isTooLarge ? 'VALUE_TOO_LARGE' : 'OVERLOADED', {
        ...where,
        reason: `values or rows need ${wanted} bytes of memory`,
        limit,
        hint: isTooLarge ? 'raise --memory' : undefined,
      })
    }
    this.#bytes = wanted
  }

  giveBack(): void {
    if (this.#bytes > 0) giveBack(this.#allowance!, this.#bytes)
    this.#bytes = 0
  }
}
