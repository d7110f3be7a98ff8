// Where column bytes live. Buffers are plain or shared (SharedArrayBuffer), grow by doubling and are used again after
// reset(); they are never transferred. Typed arrays write in the machine's byte order, and Arrow's is little-endian.

import { SluiceError } from '../../errors.ts'

export interface BufferOptions {
  /** SharedArrayBuffer instead of ArrayBuffer, so that another thread can read the columns without a copy. */
  shared?: boolean
  /** Rows that fit before the first growth. */
  rows?: number
  /** Name of the top-level column, for errors; the field's own by default. */
  column?: string
}

/** Rows of a new builder unless told otherwise. */
export const INITIAL_ROWS = 64

/** A buffer that outgrew this is not kept by reset(): one huge value must not hold its memory for the rest of a scan. */
export const KEPT_BYTES = 16 * 1024 * 1024

/** Arrow's 32-bit offsets end here. */
export const MAX_OFFSET = 0x7fffffff

if (new Uint8Array(new Uint32Array([1]).buffer)[0] !== 1) {
  throw new SluiceError('INTERNAL', { reason: 'a big-endian machine' })
}

/** Zeroed bytes; the size is rounded up to whole 8-byte words. Out of memory: VALUE_TOO_LARGE. */
export function allocate(size: number, shared: boolean): Uint8Array {
  const bytes = Math.ceil(size / 8) * 8
  try {
    return shared ? new Uint8Array(new SharedArrayBuffer(bytes)) : new Uint8Array(bytes)
  } catch (error) {
    throw new SluiceError('VALUE_TOO_LARGE', { reason: `a column buffer of ${bytes} bytes` }, error)
  }
}

/** A buffer of at least `size` bytes that begins with the first `used` bytes of `old`. */
export function enlarge(old: Uint8Array, used: number, size: number, shared: boolean): Uint8Array {
  const grown = allocate(size, shared)
  grown.set(used === old.length ? old : old.subarray(0, used))
  return grown
}

/** The next capacity by doubling, at least `needed`. */
export function doubled(capacity: number, needed: number): number {
  return Math.max(INITIAL_ROWS, capacity * 2, needed)
}
