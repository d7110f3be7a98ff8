// How column buffers grow: by doubling, and used again after reset(). Typed arrays write in the machine's byte order, and Arrow's is
// little-endian.

import { SluiceError } from '../../errors.ts'
import type { ColumnMemory } from './column-memory.ts'

export interface BufferOptions {
  /** Where the buffers come from; plain ones of their own if not given. */
  memory?: ColumnMemory
  /** Rows that fit before the first growth. */
  rows?: number
  /** Name of the top-level column, for errors; the field's own by default. */
  column?: string
}

/** Rows of a new builder unless told otherwise. */
export const INITIAL_ROWS = 64

/** Arrow's 32-bit offsets end here. */
export const MAX_OFFSET = 0x7fffffff

if (new Uint8Array(new Uint32Array([1]).buffer)[0] !== 1) {
  throw new SluiceError('INTERNAL', { reason: 'a big-endian machine' })
}

/** Doubling beyond this would hold too much for what is in it. */
const DOUBLED_UP_TO = 1 << 20

/** The next capacity by doubling, from about a million on by half as much again; at least `needed`. */
export function doubled(capacity: number, needed: number): number {
  return Math.max(INITIAL_ROWS, capacity < DOUBLED_UP_TO ? 2 * capacity : capacity + (capacity >>> 1), needed)
}
