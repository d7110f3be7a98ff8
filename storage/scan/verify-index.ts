// The indexes and the bloom filter of one SSTable, held against its Data.db while that is read from front to back: every
// partition must be found where it lies, and every block of a wide partition must begin at a row or marker, with the range
// deletion that is open there.

import { SluiceError } from '../errors.ts'
import { murmur3 } from '../ring/murmur3.ts'
import type { Partitioner } from '../ring/partitioner.ts'
import type { PartitionSource } from '../rows/partition-source.ts'
import { BigIndex } from '../sstable/big-index.ts'
import { BloomFilter } from '../sstable/filter.ts'
import {
  type IndexBlock,
  newIndexCounters,
  type PartitionEntry,
  type PartitionIndex,
  type RowIndex,
} from '../sstable/index.ts'
import type { IndexScanner } from '../sstable/index-scanner.ts'
import { openIndex } from '../sstable/open-index.ts'
import type { SSTable } from '../sstable/sstable.ts'

export class IndexCheck {
  readonly #sstable: SSTable
  readonly #index: PartitionIndex
  readonly #scanner: IndexScanner | null
  readonly #filter: BloomFilter | null
  readonly #hash = new Int32Array(4)
  #partitions = 0
  #rowIndex: RowIndex | null = null
  #block: IndexBlock | undefined
  #behindLast = false

  constructor(sstable: SSTable, partitioner: Partitioner) {
    this.#sstable = sstable
    const counters = newIndexCounters()
    this.#index = openIndex(sstable, partitioner, counters)
    this.#scanner = this.#index instanceof BigIndex ? this.#index.scanner() : null
    const { version, statistics, filter } = sstable
    const oldLayout = version.oldBloomLayout || statistics.preReleaseNa
    this.#filter = filter === null ? null : new BloomFilter(filter, oldLayout, counters.filter)
  }

  /** The partition at hand has an index of its own, so that `unfiltered` has something to check. */
  get isWide(): boolean {
    return this.#block !== undefined
  }

  /** A partition whose header has been read. */
  async partition(source: PartitionSource): Promise<void> {
    this.#partitions++
    const key = source.key.slice(0, source.keyLength)
    if (this.#filter !== null) {
      murmur3(key, 0, key.length, this.#hash)
      if (!(await this.#filter.mightContain(this.#hash))) throw this.#fault(source, 'the filter denies the partition')
    }
    const entry = await this.#entry(source, key)
    this.#rowIndex = entry.wide ? await this.#index.rowIndex(entry) : null
    this.#block = undefined
    this.#behindLast = false
    if (this.#rowIndex === null) return
    if (this.#rowIndex.partitionStart !== source.partitionOffset) {
      throw this.#fault(source, `the row index is of a partition at ${this.#rowIndex.partitionStart}`)
    }
    this.#block = await this.#rowIndex.atOffset(source.partitionOffset)
  }

  /** Before a row, a marker or the end of the partition is read. */
  async unfiltered(source: PartitionSource): Promise<void> {
    let block = this.#block
    const { offset } = source.window
    // The first block may begin at the partition itself.
    if (block === undefined || offset < block.end) return
    if (this.#behindLast)
      throw this.#fault(source, `the last index block ends at ${block.end}, before the partition does`)
    if (offset > block.end) throw this.#fault(source, `an index block ends at ${block.end}, inside a row or marker`)
    block = await this.#rowIndex!.atOffset(offset)
    // Where the last block filled up exactly with the last row, the end flag stands behind all blocks.
    this.#behindLast = block.end <= offset
    if (this.#behindLast) return
    if (block.start !== offset)
      throw this.#fault(source, `an index block begins at ${block.start} in place of ${offset}`)
    this.#block = block
    const { open } = block
    const agrees =
      open === null
        ? !source.isOpen
        : source.isOpen && open.timestampHi === source.openHi && open.timestampLo === source.openLo
    if (!agrees) throw this.#fault(source, 'an index block begins with another open range tombstone than the data')
  }

  /** Behind the last partition. */
  async end(): Promise<void> {
    const { file } = this.#sstable
    if (this.#scanner !== null) {
      if (await this.#scanner.next()) {
        throw new SluiceError('CORRUPT_SSTABLE', {
          file,
          reason: `Index.db lists more than ${this.#partitions} partitions`,
        })
      }
      return
    }
    const listed = await this.#index.partitionCount()
    if (listed !== this.#partitions) {
      const reason = `Partitions.db counts ${listed} partitions where the data has ${this.#partitions}`
      throw new SluiceError('CORRUPT_SSTABLE', { file, reason })
    }
  }

  async #entry(source: PartitionSource, key: Uint8Array): Promise<PartitionEntry> {
    if (this.#scanner === null) {
      const found = await this.#index.find(key)
      if (found === null) throw this.#fault(source, 'the index does not have the partition')
      if (found.dataOffset === source.partitionOffset) return found
      throw this.#fault(source, `the index has the partition at ${found.dataOffset}`)
    }
    const scanner = this.#scanner
    if (!(await scanner.next())) throw this.#fault(source, 'the index ends before the partition')
    if (Buffer.compare(scanner.key(), key) !== 0) {
      throw this.#fault(source, `the index has the key ${Buffer.from(scanner.key()).toString('hex')} in its place`)
    }
    if (scanner.dataOffset !== source.partitionOffset) {
      throw this.#fault(source, `the index has the partition at ${scanner.dataOffset}`)
    }
    return {
      dataOffset: scanner.dataOffset,
      key,
      certain: true,
      rank: this.#partitions - 1,
      wide: scanner.promotedSize > 0,
      rowIndexAt: scanner.promotedOffset,
      rowIndexSize: scanner.promotedSize,
    }
  }

  #fault(source: PartitionSource, reason: string): SluiceError {
    return new SluiceError('CORRUPT_SSTABLE', {
      file: this.#sstable.file,
      offset: source.partitionOffset,
      partition: source.keyHex(),
      reason,
    })
  }
}
