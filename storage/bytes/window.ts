// The read-ahead window over Data.db: decompressed, checksummed bytes, forward only. Asynchronous per fill, synchronous in
// between: decoders look at `bytes` from `pos` to `end` and ask for more with fill(). skip() may step over bytes that were
// never read; whole chunks jumped over are neither read nor inflated (CASSANDRA-14415).
//
// A compressed file is a row of chunks, each followed by the CRC32 of its stored bytes (Cassandra: CompressedSequentialWriter);
// an uncompressed one has its CRCs in CRC.db. Both are read chunk by chunk, so that every byte handed out was checked.

import { isSluiceError, SluiceError } from '../errors.ts'
import { type Allowance, MemoryClaim } from './allowance.ts'
import type { InflateResult } from './codecs.ts'
import { crc32 } from './crc32.ts'
import { StoredBlocks } from './stored-blocks.ts'

/** One file of chunks as the window sees it: implemented over CompressionInfo.db or CRC.db. */
export interface ChunkSource {
  readonly fd: number
  /** Path of Data.db, for messages. */
  readonly file: string
  /** Bytes on disk, and bytes they inflate to. */
  readonly storedLength: number
  readonly dataLength: number
  /** No chunk is longer in the file, its CRC included; an estimate will do. */
  readonly longestStored: number
  /** Uncompressed bytes per chunk; the last may be shorter. */
  readonly chunkLength: number
  /** Makes chunkOffset, chunkSize and chunkCrc of these chunks (inclusive) available synchronously. */
  load(first: number, last: number): Promise<void> | undefined
  /** File offset of a chunk's stored bytes. */
  chunkOffset(chunk: number): number
  /** Stored bytes of a chunk, without its CRC. */
  chunkSize(chunk: number): number
  /** Bytes of the CRC that follows the chunk in the file: 4, or 0 when expectedCrc knows it. */
  readonly trailer: 0 | 4
  /** CRC32 of the stored bytes where they are not in the file itself; null: there is none to check. */
  expectedCrc(chunk: number): number | null
  /** Puts the chunk's `length` bytes into target at `at`; a reason when it cannot. */
  inflate(stored: Buffer, target: Uint8Array, at: number, length: number): InflateResult | Promise<InflateResult>
}

export interface WindowOptions {
  /** Bytes inflated ahead in a sequential scan. */
  windowBytes: number
  /** Largest contiguous run of bytes that may be asked for. */
  maxBytes: number
  /** Largest single read from disk. */
  blockBytes: number
}

export const DEFAULT_WINDOW: WindowOptions = { windowBytes: 1 << 20, maxBytes: 256 << 20, blockBytes: 512 * 1024 }

/** Smaller ones would spend more on calls than on bytes. */
export const MIN_WINDOW = { windowBytes: 64 * 1024, blockBytes: 64 * 1024 } as const

/** What the window counts, for ScanStats. */
export interface WindowCounters {
  dataBytesRead: number
  dataBytesInflated: number
  chunksInflated: number
}

export class DataWindow {
  bytes: Uint8Array
  view: DataView
  /** Next byte to decode, as an index of `bytes`; may lie beyond `end` after a skip. */
  pos = 0
  /** Index behind the last valid byte. */
  end = 0
  /** Offset in the uncompressed file of bytes[0]. */
  base = 0
  readonly file: string
  readonly dataLength: number
  #source: ChunkSource
  #options: WindowOptions
  #counters: WindowCounters
  #blocks: StoredBlocks
  #stopAt: number
  #ahead: number
  readonly #claim: MemoryClaim
  /** For what its reader makes of large rows; given back with the window. */
  readonly rowClaim: MemoryClaim

  /** @param memory what a window of more than windowBytes takes its memory from */
  constructor(source: ChunkSource, options: WindowOptions, counters: WindowCounters, memory?: Allowance) {
    this.#claim = new MemoryClaim(memory)
    this.rowClaim = new MemoryClaim(memory)
    this.#source = source
    this.#options = options
    this.#counters = counters
    this.file = source.file
    this.dataLength = source.dataLength
    this.#stopAt = source.dataLength
    this.#ahead = source.chunkLength
    this.bytes = new Uint8Array(0)
    this.view = new DataView(this.bytes.buffer)
    this.#blocks = new StoredBlocks({
      fd: source.fd,
      file: source.file,
      fileLength: source.storedLength,
      blockBytes: options.blockBytes,
      headroom: source.longestStored,
      onRead: (bytes) => {
        counters.dataBytesRead += bytes
      },
    })
  }

  /** Offset in the uncompressed file of the next byte to decode. */
  get offset(): number {
    return this.base + this.pos
  }

  /** Bytes that can be decoded without a fill; negative after a skip beyond them. */
  get available(): number {
    return this.end - this.pos
  }

  get atEnd(): boolean {
    return this.base + this.pos >= this.dataLength
  }

  /** Nothing is inflated ahead from this uncompressed offset on (it still is when asked for). */
  async setStop(offset: number): Promise<void> {
    this.#stopAt = Math.min(offset, this.dataLength)
    if (this.#stopAt === this.dataLength) {
      this.#blocks.stopAt = this.#source.storedLength
    } else if (this.#stopAt > 0) {
      const last = Math.floor((this.#stopAt - 1) / this.#source.chunkLength)
      await this.#source.load(last, last)
      this.#blocks.stopAt = this.#source.chunkOffset(last) + this.#source.chunkSize(last) + this.#source.trailer
    }
  }

  skip(length: number): void {
    this.pos += length
  }

  /** Moves to an uncompressed offset, forward or back. */
  seek(offset: number): void {
    if (offset >= this.base && offset <= this.base + this.end) {
      this.pos = offset - this.base
    } else {
      this.base = offset
      this.pos = 0
      this.end = 0
      this.#ahead = 0
    }
  }

  /**
   * Brings at least `min` bytes from `pos` on into `bytes`, and what read-ahead adds. Indexes into `bytes` taken before are
   * void: the bytes from `pos` on move to a lower index.
   */
  async fill(min: number): Promise<void> {
    const { dataLength } = this.#source
    const offset = this.base + this.pos
    if (min > dataLength - offset) {
      throw new SluiceError('CORRUPT_SSTABLE', {
        file: this.file,
        offset,
        reason: `${min} bytes are needed where the data ends after ${Math.max(0, dataLength - offset)}`,
      })
    }
    if (min > this.#options.maxBytes) {
      throw new SluiceError('VALUE_TOO_LARGE', {
        file: this.file,
        offset,
        found: `${min} bytes`,
        limit: this.#options.maxBytes,
      })
    }
    this.#slide(offset)
    if (this.available >= min) return
    const ahead = Math.min(this.#ahead, Math.max(0, this.#stopAt - offset))
    const want = Math.max(min, ahead)
    // Right after a jump no more than the chunk at hand is inflated: another jump may follow.
    this.#ahead = Math.min(Math.max(this.#source.chunkLength, this.#ahead * 2), this.#options.windowBytes)
    await this.#inflateTo(offset + want)
  }

  async close(): Promise<void> {
    await this.#blocks.close()
    this.#claim.giveBack()
    this.rowClaim.giveBack()
    this.bytes = new Uint8Array(0)
    this.view = new DataView(this.bytes.buffer)
    this.pos = this.end = 0
  }

  /** Bytes of memory held. */
  get heldBytes(): number {
    return this.bytes.length + this.#blocks.heldBytes
  }

  #slide(offset: number): void {
    if (this.pos >= this.end) {
      const chunk = Math.floor(offset / this.#source.chunkLength)
      // A jump over whole chunks: read-ahead starts small again.
      if (this.pos - this.end >= this.#source.chunkLength) this.#ahead = 0
      const start = this.pos === this.end && this.end > 0 ? offset : chunk * this.#source.chunkLength
      this.base = start
      this.pos = offset - start
      this.end = 0
    } else if (this.pos > 0) {
      this.bytes.copyWithin(0, this.pos, this.end)
      this.base = offset
      this.end -= this.pos
      this.pos = 0
    }
  }

  /** Inflates whole chunks from base + end on until `until` (uncompressed offset) is covered. */
  async #inflateTo(until: number): Promise<void> {
    const source = this.#source
    const { chunkLength, dataLength } = source
    let next = this.base + this.end
    if (next % chunkLength !== 0) {
      if (this.end > 0)
        throw new SluiceError('INTERNAL', { file: this.file, offset: next, reason: 'window off its chunks' })
      next -= next % chunkLength
      this.pos += this.base - next
      this.base = next
    }
    const first = next / chunkLength
    const last = Math.floor((Math.min(until, dataLength) - 1) / chunkLength)
    this.#reserve(this.end + (last - first + 1) * chunkLength)
    const loading = source.load(first, last)
    if (loading !== undefined) await loading
    for (let chunk = first; chunk <= last; chunk++) {
      const offset = source.chunkOffset(chunk)
      const size = source.chunkSize(chunk)
      const stored = size + source.trailer
      if (!this.#blocks.has(offset, stored)) {
        // Codecs that run in threads of their own read from the block that is about to be replaced.
        if (this.#pending.length > 0) await this.#settle()
        await this.#blocks.load(offset, stored)
      }
      const { buffer, at } = this.#blocks
      const body = buffer.subarray(at, at + size)
      const expected = source.trailer === 4 ? buffer.readUInt32BE(at + size) : source.expectedCrc(chunk)
      if (expected !== null && crc32(body) !== expected) {
        throw new SluiceError('CHECKSUM_MISMATCH', {
          file: this.file,
          offset,
          reason: `chunk ${chunk}, at byte ${offset} of the file as stored`,
        })
      }
      const length = Math.min(chunkLength, dataLength - chunk * chunkLength)
      const result = this.#inflate(body, length, offset)
      if (result instanceof Promise) this.#pending.push(result)
      this.end += length
      this.#counters.chunksInflated++
      this.#counters.dataBytesInflated += length
    }
    if (this.#pending.length > 0) await this.#settle()
  }

  #pending: Promise<void>[] = []

  async #settle(): Promise<void> {
    const pending = this.#pending
    this.#pending = []
    const results = await Promise.allSettled(pending)
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  #inflate(body: Buffer, length: number, offset: number): Promise<void> | undefined {
    let result: InflateResult | Promise<InflateResult>
    try {
      result = this.#source.inflate(body, this.bytes, this.end, length)
    } catch (error) {
      throw this.#notInflated(error, offset)
    }
    if (result instanceof Promise) return this.#inflated(result, offset)
    if (result !== undefined) throw this.#corrupt(result, offset)
    return undefined
  }

  async #inflated(result: Promise<InflateResult>, offset: number): Promise<void> {
    let reason: InflateResult
    try {
      reason = await result
    } catch (error) {
      throw this.#notInflated(error, offset)
    }
    if (reason !== undefined) throw this.#corrupt(reason, offset)
  }

  #notInflated(error: unknown, offset: number): SluiceError {
    if (isSluiceError(error)) return error
    return this.#corrupt(`a chunk cannot be inflated: ${(error as Error).message}`, offset, error)
  }

  #corrupt(reason: string, offset: number, cause?: unknown): SluiceError {
    return new SluiceError('CORRUPT_SSTABLE', { file: this.file, offset, reason }, cause)
  }

  #reserve(length: number): void {
    if (this.bytes.length >= length) return
    // The whole chunks of an ordinary fill go a little beyond windowBytes. Above: this window and the one that it grows out of.
    const ordinary = this.#options.windowBytes + 2 * this.#source.chunkLength
    if (length > ordinary)
      this.#claim.raise(2 * length - this.#options.windowBytes, { file: this.file, offset: this.offset })
    const larger = new Uint8Array(
      new ArrayBuffer(Math.max(length, Math.min(2 * this.bytes.length, this.#options.windowBytes))),
    )
    larger.set(this.bytes.subarray(0, this.end))
    this.bytes = larger
    this.view = new DataView(larger.buffer)
  }
}
