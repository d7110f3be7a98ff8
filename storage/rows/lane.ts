// One SSTable's way through a merge of several (storage/scan/lane-merge.ts): a PartitionSource unfolded to numbers, entered before a
// partition's rows and left at any row, so that the source can go on from there.

import type { Partitioner } from '../ring/partitioner.ts'
import { splitKey } from './key-parts.ts'
import type { LaneDecoder } from './lane-decoder.ts'
import type { PartitionSource } from './partition-source.ts'
import type { RunState } from './run-state.ts'
import { NO_TIMESTAMP_HI, NO_TIMESTAMP_LO } from './unfiltered.ts'

const EMPTY = new Uint8Array(0)
const EMPTY_VIEW = new DataView(EMPTY.buffer)

export class Lane {
  readonly source: PartitionSource
  readonly state: RunState
  readonly decoder: LaneDecoder
  /** Number of the SSTable, the oldest first. */
  readonly age: number
  // The window, up to where partitions are wanted.
  bytes: Uint8Array = EMPTY
  view: DataView = EMPTY_VIEW
  pos = 0
  end = 0
  /** Key of the partition at hand: as in state, with its place as a whole. */
  keyOffset = 0
  keyWhole = 0
  tokenHi = 0
  tokenLo = 0
  partitionPos = 0
  /** Before a row of the partition at hand; else behind its end. */
  inside = false
  /** The partition has a deletion, or a row too large for the window stands open: not for this merge. */
  isUnusual = false
  /** What stands at `pos`, as the decoder's prefix() says it; -1: not looked at. */
  standing = -1
  /** Partitions begun since enter(). */
  begun = 0
  /** The row at hand is the same as that of another lane. */
  isCopy = false
  /** The SSTable has all columns that any of the scan's has. */
  readonly isComplete: boolean
  /** A row was passed since the partition was begun. */
  hasPassed = false
  #token: Int32Array = new Int32Array(4)

  constructor(source: PartitionSource, decoder: LaneDecoder, age: number, isComplete: boolean) {
    this.source = source
    this.state = source.run!.state
    this.decoder = decoder
    this.age = age
    this.isComplete = isComplete
  }

  /** Takes over from the source, which stands inside a partition, before an unfiltered. */
  enter(): void {
    const { source, state } = this
    const { window } = source
    this.bytes = window.bytes
    this.view = window.view
    this.pos = window.pos
    this.end = Math.min(window.end, source.stopOffset - window.base)
    this.keyOffset = 0
    this.keyWhole = source.keyLength
    state.keyBytes = source.key
    state.keyView = source.keyView
    splitKey(source, state.keyOffset, state.keyLength)
    state.builders = state.writer.builders
    this.tokenHi = source.token[0]
    this.tokenLo = source.token[1]
    this.inside = true
    this.isUnusual =
      source.isInsideRow ||
      source.isOpen ||
      source.deletionHi !== NO_TIMESTAMP_HI ||
      source.deletionLo !== NO_TIMESTAMP_LO
    this.standing = -1
    this.begun = 0
    this.hasPassed = false
    source.previousTo(state)
  }

  /** Gives what was reached back to the source. */
  leave(): void {
    this.source.resume(this)
  }

  /** The row at hand is done with. */
  pass(): void {
    const { state } = this
    this.pos = state.rowEnd
    this.standing = -1
    this.hasPassed = true
    state.hasPrevious = true
    state.previousBytes = this.bytes
    state.previousView = this.view
    const { previousOffset, previousLength } = state
    state.previousOffset = state.clusteringOffset
    state.previousLength = state.clusteringLength
    state.clusteringOffset = previousOffset
    state.clusteringLength = previousLength
  }

  /**
   * Steps into the next partition, if its header is there and ordinary and its key comes behind the one at hand. `like`: a lane that may
   * have the same key, which saves computing the token.
   */
  nextPartition(partitioner: Partitioner, like: Lane | undefined): boolean {
    const { bytes, view, pos, end, state } = this
    if (pos + 2 > end) return false
    const length = view.getUint16(pos)
    const key = pos + 2
    const p = key + length
    if (p + 12 > end) return false
    let body = p
    if (state.layout.unsignedLdt) {
      if (bytes[p] !== 0x80) return false
      body += 1
    } else {
      if (view.getInt32(p) !== 0x7fffffff || view.getInt32(p + 4) !== -0x80000000 || view.getInt32(p + 8) !== 0)
        return false
      body += 12
    }
    if (!this.#splitKey(key, length)) return false
    let hi: number
    let lo: number
    if (like?.inside && hasKey(like, bytes, key, length)) {
      hi = like.tokenHi
      lo = like.tokenLo
    } else {
      partitioner.token(bytes, key, length, this.#token, 0)
      hi = this.#token[0]
      lo = this.#token[1]
    }
    // Equal tokens are for the source to compare by their keys.
    if (hi < this.tokenHi || (hi === this.tokenHi && lo >>> 0 <= this.tokenLo >>> 0)) return false
    this.tokenHi = hi
    this.tokenLo = lo
    this.keyOffset = key
    this.keyWhole = length
    state.keyBytes = bytes
    state.keyView = view
    this.partitionPos = pos
    this.pos = body
    this.inside = true
    this.begun++
    this.hasPassed = false
    this.isUnusual = false
    this.standing = -1
    state.hasPrevious = false
    return true
  }

  /** The key's parts into the state; false: it does not make sense. */
  #splitKey(key: number, length: number): boolean {
    const { keyOffset, keyLength } = this.state
    if (keyOffset.length === 1) {
      keyOffset[0] = key
      keyLength[0] = length
      return true
    }
    const end = key + length
    let at = key
    for (let i = 0; i < keyOffset.length; i++) {
      if (at + 2 > end) return false
      const part = this.view.getUint16(at)
      if (at + part + 3 > end) return false
      keyOffset[i] = at + 2
      keyLength[i] = part
      at += part + 3
    }
    return at === end
  }
}

/** Whether the lane's partition has this key. */
export function hasKey(lane: Lane, bytes: Uint8Array, key: number, length: number): boolean {
  if (lane.keyWhole !== length) return false
  const own = lane.state.keyBytes
  const from = lane.keyOffset
  for (let i = 0; i < length; i++) if (own[from + i] !== bytes[key + i]) return false
  return true
}

/** Order of the partitions that two lanes stand at; of one partition, the older SSTable first. */
export function compareLanes(a: Lane, b: Lane, partitioner: Partitioner): number {
  if (a.tokenHi !== b.tokenHi) return a.tokenHi < b.tokenHi ? -1 : 1
  if (a.tokenLo !== b.tokenLo) return a.tokenLo >>> 0 < b.tokenLo >>> 0 ? -1 : 1
  if (hasKey(a, b.state.keyBytes, b.keyOffset, b.keyWhole)) return a.age - b.age
  return partitioner.compareKeys(a.state.keyBytes, a.keyOffset, a.keyWhole, b.state.keyBytes, b.keyOffset, b.keyWhole)
}
