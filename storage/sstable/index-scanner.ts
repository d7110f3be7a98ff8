// Index.db of the big format, read forward (o.a.c.io.sstable.format.big.RowIndexEntry): entries of u16-length key, uvint
// position in Data.db, uvint size of the promoted part, and that part, which is stepped over unread. A step is synchronous
// and makes no object, so that listing the keys of millions of partitions costs what reading the file costs.

import type { ReadCounter } from '../bytes/paged-file.ts'
import { readInto, readIntoSync } from '../bytes/read-at.ts'
import { readUvint, vintSize } from '../bytes/vint.ts'
import { SluiceError } from '../errors.ts'
import type { OpenFile } from './sstable.ts'

/** What `step` says. */
export const ENTRY = 0
/** Call `more`, then `step` again. */
export const NEED = 1
/** No entry follows. */
export const END = 2

const FIRST_READ = 4096
const LARGEST_READ = 128 * 1024
const LARGEST_IN_THREAD = 16 * 1024

export class IndexScanner {
  /** Holds the current entry's key at [keyAt, keyAt + keyLength); valid until the next `step`. */
  bytes: Uint8Array = new Uint8Array(0)
  keyAt = 0
  keyLength = 0
  /** Offset of the partition in the uncompressed Data.db. */
  dataOffset = -1
  /** Offset of this entry in Index.db. */
  entryOffset = 0
  /** Where in Index.db the promoted part lies; a size of 0: there is none. */
  promotedOffset = 0
  promotedSize = 0

  readonly #open: OpenFile
  readonly #dataLength: number
  readonly #counter: ReadCounter
  readonly #inThread: boolean
  /** File offset of bytes[0]. */
  #base: number
  /** Position in `bytes` of the next entry; beyond the end after a promoted part that is not in memory. */
  #at = 0
  #readBytes = FIRST_READ

  /** Begins at `offset` of Index.db, where an entry must begin. `inThread`: the first reads are made in this thread. */
  constructor(open: OpenFile, dataLength: number, counter: ReadCounter, offset = 0, inThread = false) {
    this.#open = open
    this.#dataLength = dataLength
    this.#counter = counter
    this.#inThread = inThread
    this.#base = offset
  }

  /** Moves to the next entry. CORRUPT_SSTABLE when there is none that makes sense. */
  step(): number {
    const { bytes } = this
    const at = this.#at
    const end = bytes.length
    const offset = this.#base + at
    if (offset >= this.#open.size) {
      if (offset > this.#open.size) throw this.#corrupt(this.entryOffset, 'the promoted part runs past the end')
      return END
    }
    if (at + 2 > end) return this.#need(2)
    const keyLength = (bytes[at] << 8) | bytes[at + 1]
    let pos = at + 2 + keyLength
    if (pos >= end) return this.#need(2 + keyLength + 1)
    const dataSize = vintSize(bytes[pos])
    if (pos + dataSize >= end) return this.#need(2 + keyLength + dataSize + 1)
    const dataOffset = readUvint(bytes, pos)
    pos += dataSize
    const promotedVint = vintSize(bytes[pos])
    if (pos + promotedVint > end) return this.#need(2 + keyLength + dataSize + promotedVint)
    const promotedSize = readUvint(bytes, pos)
    pos += promotedVint
    if (dataOffset <= this.dataOffset || dataOffset >= this.#dataLength) {
      throw this.#corrupt(
        offset,
        `a partition at ${dataOffset} of ${this.#dataLength}, after one at ${this.dataOffset}`,
      )
    }
    if (promotedSize > this.#open.size) throw this.#corrupt(offset, `a promoted part of ${promotedSize} bytes`)
    this.entryOffset = offset
    this.keyAt = at + 2
    this.keyLength = keyLength
    this.dataOffset = dataOffset
    this.promotedOffset = this.#base + pos
    this.promotedSize = promotedSize
    this.#at = pos + promotedSize
    return ENTRY
  }

  #need(bytes: number): number {
    const offset = this.#base + this.#at
    if (offset + bytes > this.#open.size) throw this.#corrupt(offset, 'the last entry is cut off')
    return NEED
  }

  #corrupt(offset: number, reason: string): SluiceError {
    return new SluiceError('CORRUPT_SSTABLE', { file: this.#open.file, offset, reason })
  }

  /** Reads on. */
  async more(): Promise<void> {
    const offset = this.#base + this.#at
    const kept = this.#at < this.bytes.length ? this.bytes.subarray(this.#at) : new Uint8Array(0)
    const from = offset + kept.length
    // An entry without its promoted part has at most 2 + 65535 + 18 bytes: a read after at most five doublings holds it.
    const length = Math.min(this.#readBytes, this.#open.size - from)
    const bytes = new Uint8Array(kept.length + length)
    bytes.set(kept)
    const target = bytes.subarray(kept.length)
    if (this.#inThread && length <= LARGEST_IN_THREAD) readIntoSync(this.#open.fd, this.#open.file, from, target)
    else await readInto(this.#open.fd, this.#open.file, from, target)
    this.#counter.bytesRead += length
    this.#readBytes = Math.min(2 * this.#readBytes, LARGEST_READ)
    this.bytes = bytes
    this.#base = offset
    this.#at = 0
  }

  /** Moves to the next entry, reading as needed; false at the end. For where an await per entry does not matter. */
  async next(): Promise<boolean> {
    for (;;) {
      const state = this.step()
      if (state !== NEED) return state === ENTRY
      await this.more()
    }
  }

  /** A copy of the current entry's key. */
  key(): Uint8Array {
    return this.bytes.slice(this.keyAt, this.keyAt + this.keyLength)
  }
}
