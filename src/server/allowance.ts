// The memory that streams may hold together: windows over Data.db, batches, what waits for sockets. A stream takes its floor before
// it begins and never waits for memory while it holds some; what it needs beyond the floor, for a large value, it takes as it
// goes on, in whatever thread, or is refused by name.

import { type Allowance, createAllowance, giveBack, takenBytes, tryTake } from '../../storage/bytes/allowance.ts'
import { MIN_WINDOW, type WindowOptions } from '../../storage/bytes/window.ts'
import { SluiceError } from '../../storage/errors.ts'
import { BATCHES_COUNTED } from '../../storage/rows/builder-set.ts'
import type { SSTableInfo } from '../source.ts'

/** Batches of streams are cut at this many bytes if nothing else is asked for; constant, so that the same request gives the same bytes anywhere. */
export const STREAM_BATCH_BYTES = 1 << 20

/** What a stream's columns may come to without a word (storage/rows/builder-set.ts), and what its exporter may hold of a batch. */
const BATCHES = BATCHES_COUNTED + 1
const BATCHES_FLOOR = BATCHES * STREAM_BATCH_BYTES
/** Blocks read from disk: one at work, one ahead. */
const BLOCKS = 2
/** What is inflated is decoded while it is in the processor's cache: 1 MiB took 4 % more time. */
const LARGEST_WINDOW = 1 << 18
const LARGEST_BLOCK = 1 << 19
/** A window ends in a whole chunk, and has room for one more; each block has room for one before it and one behind it. */
const CHUNKS = 2 + BLOCKS * 2
/** What the windows of a scan may come to at least. */
const LEAST_WINDOWS = 1 << 19
/** What they come to as long as no more than this part of the memory is taken. */
const FULL_WINDOWS = 8 * LARGEST_BLOCK
const FULL_WHILE_TAKEN = 0.25

export interface MemoryGrant {
  /** Bytes of the floor. */
  floor: number
  window: WindowOptions
  allowance: Allowance
  giveBack(): void
}

export class MemoryAllowance {
  readonly #allowance: Allowance
  /** What one scan's windows may come to where all scans that there can be are under way. */
  readonly #leastShare: number

  /**
   * @param bytes of all streams together
   * @param scans how many there can be at once
   */
  constructor(bytes: number, scans: number) {
    this.#allowance = createAllowance(bytes)
    this.#leastShare = Math.max(bytes / scans - BATCHES_FLOOR, LEAST_WINDOWS)
  }

  get allowance(): Allowance {
    return this.#allowance
  }

  get total(): number {
    return this.#allowance.limit
  }

  get used(): number {
    return takenBytes(this.#allowance)
  }

  /**
   * The floor of a scan over these SSTables. Its windows are full ones while most memory is free: a small block costs as much to ask for
   * as a large one. Then they are so small that all scans have room. Many SSTables get smaller windows each.
   * @param batchBytes at which its batches end
   * @throws SluiceError OVERLOADED when others hold too much; VALUE_TOO_LARGE when it could never fit
   */
  take(sstables: readonly SSTableInfo[], batchBytes = STREAM_BATCH_BYTES): MemoryGrant {
    const window = this.#windowFor(sstables.length)
    const most = window.windowBytes + BLOCKS * window.blockBytes
    const windows = sstables.reduce(
      (sum, { dataBytes, bytes, chunkBytes }) => sum + Math.min(most, dataBytes + BLOCKS * bytes) + CHUNKS * chunkBytes,
      0,
    )
    const floor = windows + BATCHES * Math.max(batchBytes, STREAM_BATCH_BYTES)
    if (floor > this.total) {
      throw new SluiceError('VALUE_TOO_LARGE', {
        reason: `a scan of ${sstables.length} SSTables needs ${floor} bytes`,
        limit: this.total,
        hint: batchBytes > STREAM_BATCH_BYTES ? 'lower batch_bytes, or raise --memory' : 'raise --memory',
      })
    }
    if (!tryTake(this.#allowance, floor)) {
      throw new SluiceError('OVERLOADED', { reason: 'memory', found: `${floor} bytes more`, limit: this.total })
    }
    let given = false
    return {
      floor,
      window,
      allowance: this.#allowance,
      giveBack: () => {
        if (!given) giveBack(this.#allowance, floor)
        given = true
      },
    }
  }

  #windowFor(sstables: number): WindowOptions {
    const total =
      this.used < this.total * FULL_WHILE_TAKEN ? Math.max(FULL_WINDOWS, this.#leastShare) : this.#leastShare
    const share = total / Math.max(1, sstables)
    // A window and its two blocks take a quarter each; powers of two.
    const windowBytes = Math.min(LARGEST_WINDOW, Math.max(MIN_WINDOW.windowBytes, floorPower(share / 4)))
    const blockBytes = Math.min(LARGEST_BLOCK, Math.max(MIN_WINDOW.blockBytes, floorPower(share / 4)))
    return { windowBytes, blockBytes, maxBytes: this.total }
  }
}

function floorPower(value: number): number {
  return 2 ** Math.floor(Math.log2(Math.max(1, value)))
}
