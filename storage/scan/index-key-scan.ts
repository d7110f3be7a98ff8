// Partition keys out of Index.db alone, without a byte of Data.db: the rows of a `distinct` scan over big SSTables in which every
// partition is live. That is so where nothing was ever deleted or given a TTL (STATS keeps the least local deletion time) and no
// column was dropped: then whatever a partition holds is live content.

import { SluiceError } from '../errors.ts'
import { compareWords, type Partitioner, TOKEN_WORDS } from '../ring/partitioner.ts'
import { behindPartition, comparePartitionToPosition, encodePosition } from '../ring/position.ts'
import type { Batch, BatchSchema } from '../rows/batch.ts'
import type { RowWriter } from '../rows/row-writer.ts'
import type { TableSchema } from '../schema/table.ts'
import type { BigIndex } from '../sstable/big-index.ts'
import type { IndexCounters } from '../sstable/index.ts'
import { END, ENTRY, type IndexScanner, NEED } from '../sstable/index-scanner.ts'
import type { SSTableData } from '../sstable/sstable.ts'
import type { Reach } from './scan-bounds.ts'
import { type Scan, type ScanStats, takeIndexCounters } from './scan-request.ts'

/** Whether an SSTable's index tells which partitions have a live row. */
export function indexTellsLiveness(table: TableSchema, { version, statistics, index }: SSTableData): boolean {
  return (
    version.format === 'big' &&
    index !== null &&
    statistics.minLocalDeletionTime === Number.POSITIVE_INFINITY &&
    !statistics.hasPartitionLevelDeletions &&
    statistics.maxTtl === 0 &&
    table.dropped.length === 0 &&
    !table.partial &&
    // Rows of static compact tables are made of columns that may be hidden; those of some views need their own liveness.
    table.compact === 'none' &&
    !table.view?.requiresLiveness
  )
}

export interface IndexKeyScanParts {
  schema: BatchSchema
  stats: ScanStats
  sources: { sstable: SSTableData; index: BigIndex }[]
  indexCounters: IndexCounters
  partitioner: Partitioner
  /** Ascending, disjoint, none with an end inside a partition. */
  reaches: readonly Reach[]
  writer: RowWriter
  limit: number
  scope: string
  signal: AbortSignal | undefined
  onClose: () => Promise<void>
}

export class IndexKeyScan implements Scan {
  readonly schema: BatchSchema
  readonly stats: ScanStats
  #parts: IndexKeyScanParts
  #keys: KeyStream[]
  #lastKey: number[] = []
  #done = false
  #closed = false

  constructor(parts: IndexKeyScanParts) {
    this.#parts = parts
    this.schema = parts.schema
    this.stats = parts.stats
    this.#keys = parts.sources.map(
      ({ sstable, index }) => new KeyStream(sstable, index, parts.partitioner, parts.reaches),
    )
    if (parts.limit === 0) this.#done = true
  }

  async next(): Promise<Batch | undefined> {
    const { writer, indexCounters, signal, limit, partitioner, scope } = this.#parts
    while (!this.#done && !writer.isFull) {
      if (signal?.aborted || this.#closed) throw new SluiceError('CANCELLED')
      const waiting = this.#keys.find((stream) => !stream.tryNext())
      if (waiting !== undefined) {
        await waiting.more()
        takeIndexCounters(this.stats, indexCounters)
        continue
      }
      const first = this.#first()
      if (first === undefined) {
        this.#done = true
        break
      }
      this.stats.partitionsVisited++
      this.stats.partitionsEmitted++
      this.stats.rowsEmitted++
      writer.beginPartition(first)
      writer.write(undefined, undefined)
      this.#lastKey.length = 0
      for (let i = 0; i < first.keyLength; i++) this.#lastKey.push(first.key[i])
      for (const stream of this.#keys) if (stream !== first && stream.isAt(first)) stream.taken = true
      first.taken = true
      if (writer.total >= limit) this.#done = true
    }
    if (writer.rows === 0) return undefined
    this.stats.batches++
    const key = Uint8Array.from(this.#lastKey)
    return writer.finish(encodePosition(partitioner, scope, behindPartition(partitioner, key)))
  }

  #first(): KeyStream | undefined {
    let first: KeyStream | undefined
    for (const stream of this.#keys) {
      if (!stream.ended && (first === undefined || stream.compareTo(first) < 0)) first = stream
    }
    return first
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#done = true
    this.#parts.writer.close()
    await this.#parts.onClose()
  }
}

/** The keys of one Index.db that lie in the reaches, each held until `taken`. */
class KeyStream {
  key = new Uint8Array(64)
  keyView = new DataView(this.key.buffer)
  keyLength = 0
  readonly token = new Int32Array(TOKEN_WORDS)
  taken = true
  ended = false
  #sstable: SSTableData
  #index: BigIndex
  #partitioner: Partitioner
  #reaches: readonly Reach[]
  #reach = -1
  #scanner: IndexScanner | undefined
  #hasKey = false
  #previousToken = new Int32Array(TOKEN_WORDS)
  #previous = new Uint8Array(64)
  #previousView = new DataView(this.#previous.buffer)
  #previousLength = 0

  constructor(sstable: SSTableData, index: BigIndex, partitioner: Partitioner, reaches: readonly Reach[]) {
    this.#sstable = sstable
    this.#index = index
    this.#partitioner = partitioner
    this.#reaches = reaches
  }

  /** Stands at a key, or has ended; false: call more() first. */
  tryNext(): boolean {
    while (this.taken && !this.ended) {
      if (this.#scanner === undefined) return false
      const status = this.#scanner.step()
      if (status === NEED) return false
      if (status === END) {
        this.ended = true
        return true
      }
      if (status === ENTRY) {
        const { bytes, keyAt, keyLength } = this.#scanner
        this.#take(bytes, keyAt, keyLength)
      }
      const { to } = this.#reaches[this.#reach]
      if (to === null || this.#compare(to) <= 0) this.taken = false
      else this.#scanner = undefined
    }
    return true
  }

  async more(): Promise<void> {
    if (this.#scanner !== undefined) {
      await this.#scanner.more()
      return
    }
    // To the next reach: its first entry is found with its key, those behind it follow in the file.
    if (++this.#reach === this.#reaches.length) {
      this.ended = true
      return
    }
    const { from, to } = this.#reaches[this.#reach]
    if (from === null) {
      this.#scanner = this.#index.scanner()
      return
    }
    // What was read last may lie in this reach too.
    this.#hasKey = false
    const entry = await this.#index.seek(from)
    if (entry === null) {
      this.ended = true
      return
    }
    this.#take(entry.key!, 0, entry.key!.length)
    if (to !== null && this.#compare(to) > 0) return
    this.taken = false
    this.#scanner = this.#index.scanner(entry)
  }

  isAt(other: KeyStream): boolean {
    return !this.ended && this.compareTo(other) === 0
  }

  compareTo(other: KeyStream): number {
    const c = compareWords(this.token, 0, other.token, 0)
    return c !== 0 ? c : this.#partitioner.compareKeys(this.key, 0, this.keyLength, other.key, 0, other.keyLength)
  }

  corrupt(reason: string): SluiceError {
    const partition = Buffer.from(this.key.buffer, 0, this.keyLength).toString('hex')
    return new SluiceError('CORRUPT_SSTABLE', { file: this.#sstable.index!.file, partition, reason })
  }

  #take(bytes: Uint8Array, at: number, length: number): void {
    const { key, keyView } = this
    const fits = this.#previous.length >= length
    this.key = fits ? this.#previous : new Uint8Array(2 * length)
    this.keyView = fits ? this.#previousView : new DataView(this.key.buffer)
    this.#previous = key
    this.#previousView = keyView
    this.#previousLength = this.keyLength
    this.#previousToken.set(this.token)
    this.key.set(bytes.subarray(at, at + length))
    this.keyLength = length
    this.#partitioner.token(this.key, 0, length, this.token, 0)
    if (this.#hasKey) {
      const c =
        compareWords(this.#previousToken, 0, this.token, 0) ||
        this.#partitioner.compareKeys(this.#previous, 0, this.#previousLength, this.key, 0, length)
      if (c >= 0) throw this.corrupt('partitions out of order in the index')
    }
    this.#hasKey = true
  }

  #compare(position: NonNullable<Reach['to']>): number {
    return comparePartitionToPosition(this.#partitioner, this.token, 0, this.key, 0, this.keyLength, position)
  }
}
