// Random access to an index file in pages of 4096 bytes, of which the last few used stay in memory. An index of a large
// SSTable is never held whole; what a binary search touches again and again (its middle, a trie's root) is.

import { SluiceError } from '../errors.ts'
import { readInto, readIntoSync } from './read-at.ts'

export const PAGE_BYTES = 4096

const PAGES = 32

export interface PagedFileOptions {
  /** How many stay in memory. */
  pages?: number
  /**
   * Pages are read in this thread, which waits for the disk: handing a read to another thread takes several times as long as reading a
   * page that the system has in memory. For lookups of a scan; not for long planning in a thread that serves others.
   */
  inThread?: boolean
}

/** Adds up what was read, by component. */
export interface ReadCounter {
  bytesRead: number
}

export class PagedFile {
  readonly fd: number
  readonly file: string
  /** Bytes; nothing beyond is ever read. */
  readonly size: number
  readonly #counter: ReadCounter
  readonly #capacity: number
  readonly #inThread: boolean
  // In order of use, the least recent first.
  readonly #pages = new Map<number, Uint8Array>()

  constructor(fd: number, file: string, size: number, counter: ReadCounter, options: PagedFileOptions = {}) {
    this.fd = fd
    this.file = file
    this.size = size
    this.#counter = counter
    this.#capacity = options.pages ?? PAGES
    this.#inThread = options.inThread ?? false
  }

  corrupt(offset: number, reason: string): SluiceError {
    return new SluiceError('CORRUPT_SSTABLE', { file: this.file, offset, reason })
  }

  /** The page that holds this offset; shorter at the end of the file. Valid for good, but not to be written. */
  async page(offset: number): Promise<Uint8Array> {
    if (!(offset >= 0 && offset < this.size)) throw this.corrupt(offset, `the file has ${this.size} bytes`)
    const number = Math.floor(offset / PAGE_BYTES)
    const cached = this.#pages.get(number)
    if (cached !== undefined) {
      this.#pages.delete(number)
      this.#pages.set(number, cached)
      return cached
    }
    const start = number * PAGE_BYTES
    const page = new Uint8Array(Math.min(PAGE_BYTES, this.size - start))
    if (this.#inThread) readIntoSync(this.fd, this.file, start, page)
    else await readInto(this.fd, this.file, start, page)
    this.#counter.bytesRead += page.length
    if (this.#pages.size >= this.#capacity) this.#pages.delete(this.#pages.keys().next().value!)
    this.#pages.set(number, page)
    return page
  }

  /** The bytes [offset, offset + length): a view of one page, or a copy where they span several. */
  async read(offset: number, length: number): Promise<Uint8Array> {
    if (length === 0) return new Uint8Array(0)
    if (!(length > 0 && offset >= 0 && offset + length <= this.size)) {
      throw this.corrupt(offset, `${length} bytes are asked for in a file of ${this.size}`)
    }
    const at = offset % PAGE_BYTES
    if (at + length <= PAGE_BYTES) return (await this.page(offset)).subarray(at, at + length)
    const bytes = new Uint8Array(length)
    if (length > 4 * PAGE_BYTES) {
      // Not worth the pages that it would push out.
      await readInto(this.fd, this.file, offset, bytes)
      this.#counter.bytesRead += length
      return bytes
    }
    for (let done = 0; done < length; ) {
      const page = await this.page(offset + done)
      const from = (offset + done) % PAGE_BYTES
      const part = page.subarray(from, from + length - done)
      bytes.set(part, done)
      done += part.length
    }
    return bytes
  }
}
