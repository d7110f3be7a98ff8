// Where a source stands in its SSTable: the partition's key, token and deletion, and the range deletion that is open.

import type { DataWindow } from '../bytes/window.ts'
import { SluiceError } from '../errors.ts'
import { compareWords, type Partitioner, TOKEN_WORDS } from '../ring/partitioner.ts'
import { isStart } from './row-decoder.ts'
import type { FileLayout } from './table-layout.ts'
import {
  EXCL_END_INCL_START,
  INCL_END_EXCL_START,
  NO_DELETION_TIME,
  NO_TIMESTAMP_HI,
  NO_TIMESTAMP_LO,
  type Unfiltered,
} from './unfiltered.ts'

export class PartitionState {
  readonly window: DataWindow
  readonly layout: FileLayout
  /** Partition key and token words of the current partition. */
  key = new Uint8Array(64)
  keyView = viewOver(this.key)
  keyLength = 0
  readonly token = new Int32Array(TOKEN_WORDS)
  /** Offset of the current partition in the uncompressed Data.db. */
  partitionOffset = 0
  // Partition deletion.
  deletionHi = NO_TIMESTAMP_HI
  deletionLo = NO_TIMESTAMP_LO
  deletionLdt = NO_DELETION_TIME
  // The range deletion open behind the unfiltered last stepped to.
  openHi = NO_TIMESTAMP_HI
  openLo = NO_TIMESTAMP_LO
  openLdt = NO_DELETION_TIME
  isOpen = false
  protected readonly partitioner: Partitioner
  #previousKey = new Uint8Array(64)
  #previousKeyView = viewOver(this.#previousKey)
  #previousKeyLength = -1
  #previousToken = new Int32Array(TOKEN_WORDS)

  constructor(window: DataWindow, layout: FileLayout, partitioner: Partitioner) {
    this.window = window
    this.layout = layout
    this.partitioner = partitioner
  }

  keyHex(): string {
    return Buffer.from(this.key.buffer, 0, this.keyLength).toString('hex')
  }

  corrupt(reason: string): SluiceError {
    return new SluiceError('CORRUPT_SSTABLE', {
      file: this.layout.sstable.file,
      offset: this.window.offset,
      partition: this.keyHex(),
      reason,
    })
  }

  /** After a jump: what comes next need not come behind the current key. */
  protected forgetKey(): void {
    this.#previousKeyLength = -1
  }

  /** Makes these bytes the key; refuses one that does not come behind the key before it. */
  protected takeKey(bytes: Uint8Array, offset: number, length: number): void {
    const swapped = this.#previousKey
    const swappedView = this.#previousKeyView
    this.#previousKey = this.key
    this.#previousKeyView = this.keyView
    this.#previousToken.set(this.token)
    const had = this.#previousKeyLength !== -1
    this.#previousKeyLength = this.keyLength
    this.key = swapped.length >= length ? swapped : new Uint8Array(Math.max(length, 2 * swapped.length))
    this.keyView = this.key === swapped ? swappedView : viewOver(this.key)
    if (length <= 32) for (let i = 0; i < length; i++) this.key[i] = bytes[offset + i]
    else this.key.set(bytes.subarray(offset, offset + length))
    this.keyLength = length
    this.partitioner.token(this.key, 0, length, this.token, 0)
    if (!had) return
    let c = compareWords(this.#previousToken, 0, this.token, 0)
    if (c === 0) {
      c = this.partitioner.compareKeys(this.#previousKey, 0, this.#previousKeyLength, this.key, 0, length)
    }
    if (c >= 0) throw this.corrupt('partitions out of order')
  }

  protected clearDeletion(): void {
    this.deletionHi = NO_TIMESTAMP_HI
    this.deletionLo = NO_TIMESTAMP_LO
    this.deletionLdt = NO_DELETION_TIME
  }

  protected closeRange(): void {
    this.isOpen = false
    this.openHi = NO_TIMESTAMP_HI
    this.openLo = NO_TIMESTAMP_LO
    this.openLdt = NO_DELETION_TIME
  }

  /** A marker closes the open range deletion, opens one, or both. */
  protected track(u: Unfiltered): void {
    const kind = u.boundKind
    const boundary = kind === EXCL_END_INCL_START || kind === INCL_END_EXCL_START
    const closes = boundary || !isStart(kind)
    if (closes) {
      if (!this.isOpen) throw this.corrupt('a range tombstone ends that was not open')
      if (u.delHi !== this.openHi || u.delLo !== this.openLo) {
        throw this.corrupt('a range tombstone ends with another deletion than it began with')
      }
    } else if (this.isOpen) {
      throw this.corrupt('a range tombstone begins inside another')
    }
    this.isOpen = boundary || !closes
    this.openHi = this.isOpen ? u.openHi : NO_TIMESTAMP_HI
    this.openLo = this.isOpen ? u.openLo : NO_TIMESTAMP_LO
    this.openLdt = this.isOpen ? u.openLdt : NO_DELETION_TIME
  }
}

export function viewOver(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
