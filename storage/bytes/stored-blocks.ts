// Sequential reading of a file in large blocks with one block of read-ahead: while a block is decoded, the next is being
// read. After a jump only what is asked for is read; where reading goes on from there, blocks begin small and double again. So a
// row of jumps reads what it needs, and a scan reads big.

import { read } from 'node:fs'
import { SluiceError } from '../errors.ts'

const FIRST_BLOCK = 64 * 1024

export interface StoredBlocksOptions {
  fd: number
  /** For messages. */
  file: string
  /** Length of the file in bytes. */
  fileLength: number
  /** Largest block, bytes. */
  blockBytes: number
  /** Called with the bytes of every read. */
  onRead: (bytes: number) => void
}

interface Ahead {
  start: number
  length: number
  buffer: Buffer
  done: Promise<void>
}

/** Gives contiguous stored bytes of one file; one reader, not shared. */
export class StoredBlocks {
  /** The bytes last asked for begin at this index of `buffer`. */
  at = 0
  buffer: Buffer
  #options: StoredBlocksOptions
  #start = 0 // file offset of buffer[0]
  #end = 0 // file offset behind the last valid byte
  #size = FIRST_BLOCK
  #stopAt: number // no read-ahead beyond this file offset
  #ahead: Ahead | undefined
  #spare: Buffer | undefined
  #closed = false

  constructor(options: StoredBlocksOptions) {
    this.#options = options
    this.#stopAt = options.fileLength
    this.buffer = Buffer.allocUnsafeSlow(0)
  }

  /** Bytes beyond this file offset are not read ahead (they still are when asked for). */
  set stopAt(offset: number) {
    this.#stopAt = Math.min(offset, this.#options.fileLength)
  }

  /** True when [offset, offset + length) is in memory; then `at` points to it. */
  has(offset: number, length: number): boolean {
    if (offset < this.#start || offset + length > this.#end) return false
    this.at = offset - this.#start
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
    if (!sequential) {
      const goesOn = this.#end > 0 && offset >= this.#start && offset <= this.#end
      await this.#drop()
      this.#size = FIRST_BLOCK
      const more = goesOn ? Math.min(this.#size, this.#stopAt - offset) : 0
      await this.#readFresh(offset, Math.max(length, more))
      if (!goesOn) {
        this.at = 0
        return
      }
    } else {
      // The tail of the current block is put in front of the block read ahead.
      const kept = Math.max(0, this.#end - offset)
      await ahead.done
      this.#ahead = undefined
      const needed = Math.max(length, kept + ahead.length - Math.max(0, offset - ahead.start))
      const skip = Math.max(0, offset - ahead.start)
      const target = this.#take(needed)
      if (kept > 0) this.buffer.copy(target, 0, this.#end - kept - this.#start, this.#end - this.#start)
      ahead.buffer.copy(target, kept, skip, ahead.length)
      this.#recycle(ahead.buffer)
      this.#recycle(this.buffer)
      this.buffer = target
      this.#start = offset
      this.#end = offset + kept + ahead.length - skip
      if (this.#end < offset + length) await this.#append(offset + length - this.#end)
    }
    this.#size = Math.min(this.#size * 2, this.#options.blockBytes)
    this.#readAhead()
    this.at = offset - this.#start
  }

  /** Waits for a read under way; afterwards the descriptor may be closed. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#drop()
    this.buffer = Buffer.allocUnsafeSlow(0)
    this.#start = this.#end = 0
    this.#spare = undefined
  }

  /** Bytes held at the moment. */
  get heldBytes(): number {
    return this.buffer.length + (this.#ahead?.buffer.length ?? 0) + (this.#spare?.length ?? 0)
  }

  async #drop(): Promise<void> {
    const ahead = this.#ahead
    this.#ahead = undefined
    if (ahead !== undefined) {
      await ahead.done.catch(() => {})
      this.#recycle(ahead.buffer)
    }
  }

  async #readFresh(offset: number, length: number): Promise<void> {
    if (this.buffer.length < length) this.buffer = this.#take(length)
    await this.#read(this.buffer, 0, offset, length)
    this.#start = offset
    this.#end = offset + length
  }

  async #append(length: number): Promise<void> {
    const held = this.#end - this.#start
    if (this.buffer.length < held + length) {
      const larger = Buffer.allocUnsafeSlow(held + length)
      this.buffer.copy(larger, 0, 0, held)
      this.buffer = larger
    }
    await this.#read(this.buffer, held, this.#end, length)
    this.#end += length
  }

  #readAhead(): void {
    const length = Math.min(this.#size, this.#stopAt - this.#end)
    if (length <= 0 || this.#closed) return
    const buffer = this.#take(length)
    const done = this.#read(buffer, 0, this.#end, length)
    done.catch(() => {}) // told when it is awaited
    this.#ahead = { start: this.#end, length, buffer, done }
  }

  #take(length: number): Buffer {
    const spare = this.#spare
    if (spare !== undefined && spare.length >= length) {
      this.#spare = undefined
      return spare
    }
    return Buffer.allocUnsafeSlow(length)
  }

  #recycle(buffer: Buffer): void {
    if (buffer.length <= 2 * this.#options.blockBytes && buffer.length > (this.#spare?.length ?? 0))
      this.#spare = buffer
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
