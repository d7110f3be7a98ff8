// Positions that lie right before a partition, for cutting the ring: a plain token where the partitioner has tokens, so that
// a split reads as a token range.

import { type Partitioner, TOKEN_WORDS, type Token, tokenOf } from '../ring/partitioner.ts'
import { keyPosition, type Position } from '../ring/position.ts'

/** The position before the partition of a key, and before others of the same token. */
export function placeBefore(partitioner: Partitioner, key: Uint8Array): Position {
  if (partitioner.words === 0) return keyPosition(partitioner, key, [], false)
  return placeBeforeToken(partitioner, tokenOf(partitioner, key).words)
}

/** The position before all keys of a token: behind those of the token before it. */
export function placeBeforeToken(partitioner: Partitioner, words: Int32Array): Position {
  const before = new Int32Array(TOKEN_WORDS)
  before.set(words)
  for (let i = partitioner.words - 1; i >= 0; i--) {
    before[i] = (before[i] - 1) | 0
    // No borrow unless the word was 0. The first word is signed, the others are not; as bits it is the same.
    if (words[i] !== 0) break
  }
  const token: Token = { words: before, bytes: new Uint8Array(0) }
  return { kind: 'token', token }
}
