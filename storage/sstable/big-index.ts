// The big format's partition index: Summary.db (or a sample of Index.db in its place) searched for the entry before, then
// Index.db read forward from there (o.a.c.io.sstable.format.big.BigTableReader.getRowIndexEntry).

import { murmur3 } from '../ring/murmur3.ts'
import { type Partitioner, TOKEN_WORDS } from '../ring/partitioner.ts'
import { comparePartitionToPosition, keyPosition, type Position } from '../ring/position.ts'
import { type PrefixOrder, prefixOrder } from './clustering-compare.ts'
import { missingComponent } from './descriptor.ts'
import { BloomFilter } from './filter.ts'
import type { IndexCounters, PartitionBoundary, PartitionEntry, PartitionIndex, RowIndex } from './index.ts'
import { ENTRY, IndexScanner, NEED } from './index-scanner.ts'
import { placeBefore } from './partition-place.ts'
import { openPromotedIndex } from './promoted-index.ts'
import type { OpenFile, SSTableData } from './sstable.ts'
import { isDamage, openSummary, type Summary, sampleIndex } from './summary.ts'

/** Bytes of Index.db that one search for a data offset reads, about. */
const BYTES_PER_SEARCH = 32 * 1024

interface Around {
  at: PartitionEntry | null
  after: PartitionEntry | null
}

export class BigIndex implements PartitionIndex {
  readonly #sstable: SSTableData
  readonly #partitioner: Partitioner
  readonly #counters: IndexCounters
  readonly #inThread: boolean
  readonly #index: OpenFile
  readonly #filter: BloomFilter | null
  readonly #order: PrefixOrder | null
  #summary: Promise<Summary> | undefined

  constructor(sstable: SSTableData, partitioner: Partitioner, counters: IndexCounters, inThread = false) {
    if (sstable.index === null) throw missingComponent(sstable.descriptor, 'Index.db')
    this.#sstable = sstable
    this.#partitioner = partitioner
    this.#counters = counters
    this.#inThread = inThread
    this.#index = sstable.index
    this.#order = prefixOrder(sstable.statistics.header.clusteringTypes)
    this.#filter = sstable.filter === null ? null : new BloomFilter(sstable.filter, oldLayout(sstable), counters.filter)
  }

  // The histogram of partition sizes has every partition once.
  async partitionCount(): Promise<number> {
    return Number(this.#sstable.statistics.partitionSizes.counts.reduce((sum, count) => sum + count, 0n))
  }

  /** A reader of the entries of Index.db, front to back; from behind `entry` on, if given. */
  scanner(entry?: PartitionEntry): IndexScanner {
    return this.#scannerAt(entry === undefined ? 0 : entry.rowIndexAt + entry.rowIndexSize)
  }

  #scannerAt(offset: number): IndexScanner {
    return new IndexScanner(this.#index, this.#sstable.dataLength, this.#counters.index, offset, this.#inThread)
  }

  async seek(position: Position): Promise<PartitionEntry | null> {
    const words = new Int32Array(TOKEN_WORDS)
    const isBefore = (key: Uint8Array, at: number, length: number) => {
      this.#partitioner.token(key, at, length, words, 0)
      return comparePartitionToPosition(this.#partitioner, words, 0, key, at, length, position) < 0
    }
    return this.#firstNot(
      async (summary, i) => {
        const key = await summary.key(i)
        return isBefore(key, 0, key.length)
      },
      (scanner) => isBefore(scanner.bytes, scanner.keyAt, scanner.keyLength),
    )
  }

  async find(key: Uint8Array): Promise<PartitionEntry | null> {
    if (this.#filter !== null) {
      const hash = new Int32Array(4)
      murmur3(key, 0, key.length, hash)
      this.#counters.filterChecks++
      if (!(await this.#filter.mightContain(hash))) {
        this.#counters.filterRejections++
        return null
      }
    }
    const entry = await this.seek(keyPosition(this.#partitioner, key, [], false))
    return entry !== null && Buffer.compare(entry.key!, key) === 0 ? entry : null
  }

  async endOffset(position: Position): Promise<number> {
    const entry = await this.seek(position)
    if (entry === null) return this.#sstable.dataLength
    const words = new Int32Array(TOKEN_WORDS)
    this.#partitioner.token(entry.key!, 0, entry.key!.length, words, 0)
    const key = entry.key!
    const side = comparePartitionToPosition(this.#partitioner, words, 0, key, 0, key.length, position)
    // The position is inside the partition: all of it may have to be read.
    return side === 0 ? ((await this.after(entry))?.dataOffset ?? this.#sstable.dataLength) : entry.dataOffset
  }

  async atOffset(dataOffset: number): Promise<PartitionEntry | null> {
    return (await this.#around(dataOffset)).at
  }

  async after(entry: PartitionEntry): Promise<PartitionEntry | null> {
    // Its entry ends with the promoted part, whether it has one or not.
    const scanner = this.#scannerAt(entry.rowIndexAt + entry.rowIndexSize)
    return (await scanner.next()) ? entryOf(scanner, entry.rank + 1) : null
  }

  async boundaries(from: number, to: number, count: number): Promise<PartitionBoundary[]> {
    const found: PartitionBoundary[] = []
    const distance = (to - from) / (count + 1)
    // A search reads a page of Index.db per step: many cost more than reading it through once.
    const around =
      this.#index.size <= count * BYTES_PER_SEARCH ? this.#pass() : (target: number) => this.#around(target)
    let last = from
    for (let k = 1; k <= count; k++) {
      const target = from + Math.floor(distance * k)
      if (target < last) continue
      const { at, after } = await around(target)
      const size = (after?.dataOffset ?? this.#sstable.dataLength) - (at?.dataOffset ?? 0)
      for (const entry of size < distance ? [at] : [at, after]) {
        if (entry === null || entry.dataOffset <= last || entry.dataOffset >= to) continue
        last = entry.dataOffset
        found.push({
          position: placeBefore(this.#partitioner, entry.key!),
          dataOffset: entry.dataOffset,
          rank: entry.rank,
          entry,
        })
      }
    }
    return found
  }

  async rowIndex(entry: PartitionEntry): Promise<RowIndex | null> {
    if (!entry.wide || this.#order === null) return null
    const { dataLength, version } = this.#sstable
    const { unsignedDeletionTime } = version
    const options = { unsignedDeletionTime, dataLength, inThread: this.#inThread }
    return openPromotedIndex(this.#index, entry, this.#order, this.#counters, options)
  }

  /** As #around for offsets that ascend, in one pass over Index.db. */
  #pass(): (dataOffset: number) => Promise<Around> {
    const scanner = this.#scannerAt(0)
    let key = new Uint8Array(64)
    let at: Omit<PartitionEntry, 'key' | 'certain'> | null = null
    let keyLength = 0
    let rank = -1
    let state = NEED
    const step = async () => {
      for (state = scanner.step(); state === NEED; state = scanner.step()) await scanner.more()
      rank++
    }
    return async (dataOffset) => {
      if (rank < 0) await step()
      while (state === ENTRY && scanner.dataOffset <= dataOffset) {
        keyLength = scanner.keyLength
        if (key.length < keyLength) key = new Uint8Array(2 * keyLength)
        for (let i = 0; i < keyLength; i++) key[i] = scanner.bytes[scanner.keyAt + i]
        const { promotedOffset, promotedSize } = scanner
        at = {
          dataOffset: scanner.dataOffset,
          rank,
          wide: promotedSize > 0,
          rowIndexAt: promotedOffset,
          rowIndexSize: promotedSize,
        }
        state = scanner.step()
        rank++
        while (state === NEED) {
          await scanner.more()
          state = scanner.step()
        }
      }
      return {
        at: at && { ...at, key: key.slice(0, keyLength), certain: true },
        after: state === ENTRY ? entryOf(scanner, rank) : null,
      }
    }
  }

  /** The partition that the offset lies in, and the one behind it. */
  async #around(dataOffset: number): Promise<Around> {
    let at: PartitionEntry | null = null
    const after = await this.#firstNot(
      async (summary, i) => (await this.#dataOffsetOf(summary, i)) <= dataOffset,
      (scanner, rank) => {
        if (scanner.dataOffset > dataOffset) return false
        at = entryOf(scanner, rank)
        return true
      },
    )
    return { at, after }
  }

  async #dataOffsetOf(summary: Summary, i: number): Promise<number> {
    const scanner = this.#scannerAt(await summary.position(i))
    await scanner.next()
    return scanner.dataOffset
  }

  /**
   * The first entry for which `passes` is false; it is true for all before and false for all behind. First the summary is
   * searched in the same terms.
   */
  async #firstNot(
    summaryPasses: (summary: Summary, i: number) => Promise<boolean>,
    passes: (scanner: IndexScanner, rank: number) => boolean,
  ): Promise<PartitionEntry | null> {
    const summary = await this.#openSummary()
    try {
      return await this.#search(summary, summaryPasses, passes)
    } catch (error) {
      if (!isDamage(error) || summary.source === 'index') throw error
    }
    // Summary.db is stale or damaged; if Index.db is, this raises it again.
    return this.#search(await this.#rebuild(), summaryPasses, passes)
  }

  async #search(
    summary: Summary,
    summaryPasses: (summary: Summary, i: number) => Promise<boolean>,
    passes: (scanner: IndexScanner, rank: number) => boolean,
  ): Promise<PartitionEntry | null> {
    let low = 0
    let high = summary.count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (await summaryPasses(summary, middle)) low = middle + 1
      else high = middle
    }
    const sample = low - 1
    const scanner = this.#scannerAt(sample < 0 ? 0 : await summary.position(sample))
    const perSample = (await this.partitionCount()) / summary.count
    let rank = Math.max(0, sample) * perSample
    for (let first = true; await scanner.next(); first = false, rank++) {
      if (first && sample >= 0 && Buffer.compare(await summary.key(sample), scanner.key()) !== 0) {
        // A summary that names another key there was made of another Index.db.
        return this.#search(await this.#rebuild(), summaryPasses, passes)
      }
      if (!passes(scanner, rank)) return entryOf(scanner, rank)
    }
    return null
  }

  #openSummary(): Promise<Summary> {
    this.#summary ??= this.#readSummary()
    return this.#summary
  }

  async #readSummary(): Promise<Summary> {
    const { summary } = this.#sstable
    const read = summary === null ? null : await openSummary(summary, this.#counters.summary, this.#inThread)
    return read ?? this.#sample()
  }

  #rebuild(): Promise<Summary> {
    this.#summary = this.#sample()
    return this.#summary
  }

  async #sample(): Promise<Summary> {
    this.#counters.summariesRebuilt++
    return sampleIndex(this.#index, this.#sstable.dataLength, this.#counters.index)
  }
}

function entryOf(scanner: IndexScanner, rank: number): PartitionEntry {
  return {
    dataOffset: scanner.dataOffset,
    key: scanner.key(),
    certain: true,
    rank: Math.round(rank),
    wide: scanner.promotedSize > 0,
    rowIndexAt: scanner.promotedOffset,
    rowIndexSize: scanner.promotedSize,
  }
}

function oldLayout({ version, statistics }: SSTableData): boolean {
  return version.oldBloomLayout || statistics.preReleaseNa
}
