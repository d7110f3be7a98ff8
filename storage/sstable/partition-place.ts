// Positions that lie right before a partition, for cutting the ring: a plain token where the partitioner has tokens, so that
// a split reads as a token range.

import { type Partitioner, tokenBefore, tokenOf } from '../ring/partitioner.ts'
import { keyPosition, type Position } from '../ring/position.ts'

/** The position before the partition of a key, and before others of the same token. */
export function placeBefore(partitioner: Partitioner, key: Uint8Array): Position {
  if (partitioner.words === 0) return keyPosition(partitioner, key, [], false)
  return placeBeforeToken(partitioner, tokenOf(partitioner, key).words)
}

/** The position before all keys of a token: behind those of the token before it. */
export function placeBeforeToken(partitioner: Partitioner, words: Int32Array): Position {
  return { kind: 'token', token: tokenBefore(partitioner, words) }
}
