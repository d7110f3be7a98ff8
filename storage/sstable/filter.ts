// Filter.db: the bloom filter over partition keys (o.a.c.utils.BloomFilter, BloomFilterSerializer): u32 hash count, u32
// words, words of 8 bytes. Bit i is bit (i & 7) of byte (i >> 3); before na (CASSANDRA-9067) every word is reversed.

import type { ReadCounter } from '../bytes/paged-file.ts'
import { readIntoSync } from '../bytes/read-at.ts'
import { SluiceError } from '../errors.ts'
import type { OpenFile } from './sstable.ts'

/** Filters up to this size are kept; of larger ones the bytes in question are read each time. */
const KEPT_BYTES = 64 * 1024
const HEADER_BYTES = 8
// BloomCalculations goes up to 20.
const MAX_HASHES = 64

/** Filter.db's head; a plain record. */
export interface FilterInfo {
  readonly hashCount: number
  /** Number of bits, a multiple of 64. */
  readonly bits: bigint
  /** Every 8-byte word is reversed. */
  readonly reversedWords: boolean
}

export class BloomFilter {
  readonly #open: OpenFile
  readonly #reversed: boolean
  readonly #counter: ReadCounter
  #info: FilterInfo | undefined
  #kept: Uint8Array | undefined
  readonly #byte = new Uint8Array(1)

  constructor(open: OpenFile, reversedWords: boolean, counter: ReadCounter) {
    this.#open = open
    this.#reversed = reversedWords
    this.#counter = counter
  }

  /** Reads and checks the head, once. */
  async info(): Promise<FilterInfo> {
    if (this.#info !== undefined) return this.#info
    const { file, size } = this.#open
    const keep = size <= KEPT_BYTES
    if (size < HEADER_BYTES) throw new SluiceError('CORRUPT_SSTABLE', { file, reason: `${size} bytes of filter` })
    const bytes = this.#read(0, keep ? size : HEADER_BYTES)
    const head = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const hashCount = head.getUint32(0)
    const words = head.getUint32(4)
    if (hashCount === 0 || hashCount > MAX_HASHES || words === 0 || size !== HEADER_BYTES + 8 * words) {
      const reason = `${hashCount} hashes over ${words} words in a file of ${size} bytes`
      throw new SluiceError('CORRUPT_SSTABLE', { file, offset: 0, reason })
    }
    if (keep) this.#kept = bytes
    this.#info = { hashCount, bits: 64n * BigInt(words), reversedWords: this.#reversed }
    return this.#info
  }

  /** In this thread, as the single bytes: a hand-over to another would take far longer than the read. */
  #read(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    readIntoSync(this.#open.fd, this.#open.file, offset, bytes)
    this.#counter.bytesRead += length
    return bytes
  }

  #byteAt(offset: number): number {
    readIntoSync(this.#open.fd, this.#open.file, offset, this.#byte)
    this.#counter.bytesRead++
    return this.#byte[0]
  }

  /** False: the SSTable does not hold the key. `hash` is what `murmur3` leaves: h1 high, h1 low, h2 high, h2 low. */
  async mightContain(hash: Int32Array): Promise<boolean> {
    const { hashCount, bits, reversedWords } = await this.info()
    const h1 = (BigInt(hash[0]) << 32n) | BigInt(hash[1] >>> 0)
    let base = (BigInt(hash[2]) << 32n) | BigInt(hash[3] >>> 0)
    for (let i = 0; i < hashCount; i++) {
      // Java's remainder has the sign of the dividend, as BigInt's has.
      const remainder = base % bits
      const bit = remainder < 0n ? -remainder : remainder
      const index = Number(bit >> 3n)
      const at = HEADER_BYTES + (reversedWords ? index ^ 7 : index)
      const byte = this.#kept === undefined ? this.#byteAt(at) : this.#kept[at]
      if (((byte >> Number(bit & 7n)) & 1) === 0) return false
      base = BigInt.asIntN(64, base + h1)
    }
    return true
  }
}
