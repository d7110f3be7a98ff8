// Sequential reading of a file in large blocks with one block of read-ahead: while a block is decoded, the next is being
// read. After a jump only what is asked for is read; where reading goes on from there, blocks begin small and double again. So a
// row of jumps reads what it needs, and a scan reads big.
//
// Two buffers take turns, each with headroom before its block: what is left of one block (less than a chunk) is copied
// right before the next, so that a chunk that lies in both is contiguous. A steady scan allocates nothing.

import { read } from 'node:fs'
import { SluiceError } from '../errors.ts'
import { readIntoSync } from './read-at.ts'

const FIRST_BLOCK = 64 * 1024
const NO_BYTES = Buffer.allocUnsafeSlow(0)

export interface StoredBlocksOptions {
  fd: number
  /** For messages. */
  file: string
  /** Length of the file in bytes. */
  fileLength: number
  /** Largest block, bytes. */
  blockBytes: number
  /** Longest run of bytes that is usually asked for; longer ones cost a buffer of their own. */
  headroom: number
  /** Called with the bytes of every read. */
  onRead: (bytes: number) => void
}

interface Ahead {
  /** File offset. */
  start: number
  length: number
  done: Promise<void>
}

/** Gives contiguous stored bytes of one file; one reader, not shared. */
export class StoredBlocks {
  /** The bytes last asked for begin at this index of `buffer`. */
  at = 0
  buffer: Buffer = NO_BYTES
  #options: StoredBlocksOptions
  /** The other buffer: the block that is read ahead goes there, behind the headroom. */
  #other: Buffer = NO_BYTES
  #first = 0 // index in `buffer` of its first valid byte
  #start = 0 // file offset of that byte
  #end = 0 // file offset behind the last valid byte
  #size = FIRST_BLOCK
  #stopAt: number // no read-ahead beyond this file offset
  #ahead: Ahead | undefined
  #closed = false

  constructor(options: StoredBlocksOptions) {
    this.#options = options
    this.#stopAt = options.fileLength
  }

  /** Bytes beyond this file offset are not read ahead (they still are when asked for). */
  set stopAt(offset: number) {
    this.#stopAt = Math.min(offset, this.#options.fileLength)
  }

  /** True when [offset, offset + length) is in memory; then `at` points to it. */
  has(offset: number, length: number): boolean {
    if (offset < this.#start || offset + length > this.#end) return false
    this.at = this.#first + offset - this.#start
    return true
  }

  /** Brings [offset, offset + length) into `buffer` and points `at` to it. */
  async load(offset: number, length: number): Promise<void> {
    if (this.has(offset, length)) return
    if (offset + length > this.#options.fileLength) {
      throw new SluiceError('CORRUPT_SSTABLE', {
        file: this.#options.file,
        offset,
        reason: `the file ends before ${offset + length}`,
      })
    }
    const ahead = this.#ahead
    const sequential = ahead !== undefined && offset >= this.#start && offset <= ahead.start + ahead.length
    if (sequential) {
      await this.#moveOn(ahead, offset, length)
    } else {
      const goesOn = this.#end > 0 && offset >= this.#start && offset <= this.#end
      await this.#drop()
      this.#size = FIRST_BLOCK
      if (!goesOn && length <= FIRST_BLOCK) {
        this.#readHere(offset, length)
        return
      }
      await this.#readFresh(offset, Math.max(length, Math.min(this.#size, this.#stopAt - offset)))
    }
    this.#size = Math.min(this.#size * 2, this.#options.blockBytes)
    this.#readAhead()
    this.at = this.#first + offset - this.#start
  }

  /** Waits for a read under way; afterwards the descriptor may be closed. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#drop()
    this.buffer = this.#other = NO_BYTES
    this.#first = this.#start = this.#end = 0
  }

  /** Bytes held at the moment. */
  get heldBytes(): number {
    return this.buffer.length + this.#other.length
  }

  async #drop(): Promise<void> {
    const ahead = this.#ahead
    this.#ahead = undefined
    await ahead?.done.catch(() => {})
  }

  /** The block read ahead becomes the current one, with what is left of the current one before it. */
  async #moveOn(ahead: Ahead, offset: number, length: number): Promise<void> {
    const { headroom } = this.#options
    await ahead.done
    this.#ahead = undefined
    const kept = Math.max(0, this.#end - offset)
    const from = this.#first + this.#end - this.#start - kept
    const old = this.buffer
    const end = ahead.start + ahead.length
    const missing = Math.max(0, offset + length - end)
    if (kept <= headroom && headroom + ahead.length + missing <= this.#other.length) {
      this.buffer = this.#other
      this.#other = old
      this.#first = headroom - kept
    } else {
      // Longer than usual: a buffer of its own, for this once.
      const larger = Buffer.allocUnsafeSlow(kept + ahead.length + missing)
      this.#other.copy(larger, kept, headroom, headroom + ahead.length)
      this.buffer = larger
      this.#first = 0
    }
    old.copy(this.buffer, this.#first, from, from + kept)
    this.#start = ahead.start - kept
    this.#end = end
    if (missing > 0) {
      await this.#read(this.buffer, this.#first + end - this.#start, end, missing)
      this.#end += missing
    }
  }

  async #readFresh(offset: number, length: number): Promise<void> {
    const { headroom } = this.#options
    if (this.buffer.length < headroom + length) this.buffer = this.#allocate(length)
    this.#start = this.#end = 0
    this.#first = headroom
    await this.#read(this.buffer, headroom, offset, length)
    this.#start = offset
    this.#end = offset + length
  }

  /** A small read right away: handing it to another thread takes several times as long as the read. */
  #readHere(offset: number, length: number): void {
    const { fd, file, headroom, onRead } = this.#options
    if (this.buffer.length < headroom + length) this.buffer = this.#allocate(length)
    this.#start = this.#end = 0
    this.#first = this.at = headroom
    readIntoSync(fd, file, offset, this.buffer.subarray(headroom, headroom + length))
    onRead(length)
    this.#start = offset
    this.#end = offset + length
  }

  #readAhead(): void {
    const length = Math.min(this.#size, this.#stopAt - this.#end)
    if (length <= 0 || this.#closed) return
    const { headroom } = this.#options
    if (this.#other.length < headroom + length) this.#other = this.#allocate(length)
    const done = this.#read(this.#other, headroom, this.#end, length)
    done.catch(() => {}) // told when it is awaited
    this.#ahead = { start: this.#end, length, done }
  }

  /** Room for a block of this size and the bytes of a chunk that its end cuts. */
  #allocate(length: number): Buffer {
    const { headroom, blockBytes } = this.#options
    const small = length <= FIRST_BLOCK
    return Buffer.allocUnsafeSlow(2 * headroom + (small ? FIRST_BLOCK : Math.max(length, blockBytes)))
  }

  #read(buffer: Buffer, at: number, offset: number, length: number): Promise<void> {
    const { fd, file, onRead } = this.#options
    return new Promise((resolve, reject) => {
      const step = (done: number) => {
        read(fd, buffer, at + done, length - done, offset + done, (error, n) => {
          if (error) return reject(new SluiceError('IO', { file, offset, reason: error.message }, error))
          if (n === 0) {
            return reject(
              new SluiceError('CORRUPT_SSTABLE', {
                file,
                offset: offset + done,
                reason: 'the file has become shorter',
              }),
            )
          }
          onRead(n)
          if (done + n === length) return resolve()
          step(done + n)
        })
      }
      step(0)
    })
  }
}
