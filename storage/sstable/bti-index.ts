// The bti format's partition index: Partitions.db, a trie of the shortest prefixes that tell keys apart, each leading to
// Data.db or, for wide partitions, to Rows.db (o.a.c.io.sstable.format.bti.PartitionIndex, BtiTableReader).

import { Cursor } from '../bytes/cursor.ts'
import { PagedFile } from '../bytes/paged-file.ts'
import { murmur3 } from '../ring/murmur3.ts'
import { type Partitioner, TOKEN_WORDS, tokenOf } from '../ring/partitioner.ts'
import { comparePartitionToPosition, type Position } from '../ring/position.ts'
import { parseMarshalType } from '../schema/marshal.ts'
import { encodeKey, encodePosition, type KeyEncoding, positionOfPath } from './bti-keys.ts'
import { openRowsIndex, type RowsEntry, readRowsEntry } from './bti-rows.ts'
import { sampleTrie } from './bti-sample.ts'
import { sizedInt, type TrieNode, TrieWalker } from './bti-trie.ts'
import { type ClusteringTypes, prefixOrder } from './clustering-compare.ts'
import { missingComponent } from './descriptor.ts'
import { BloomFilter } from './filter.ts'
import type { IndexCounters, PartitionBoundary, PartitionEntry, PartitionIndex, RowIndex } from './index.ts'
import { placeBefore } from './partition-place.ts'
import type { OpenFile, SSTableData } from './sstable.ts'

interface Footer {
  readonly keyCount: number
  readonly root: number
  readonly firstKey: Uint8Array
  readonly lastKey: Uint8Array
  /** Where their tokens stand among all. */
  readonly firstPlace: number
  readonly lastPlace: number
}

const FOOTER_BYTES = 24
/** Of a payload's flags: a byte of the key's hash comes first, and the low bits hold the length less one. */
const HASH_FLAG = 8

export class BtiIndex implements PartitionIndex {
  readonly #sstable: SSTableData
  readonly #encoding: KeyEncoding
  readonly #counters: IndexCounters
  readonly #file: PagedFile
  readonly #rows: PagedFile | null
  readonly #filter: BloomFilter | null
  readonly #types: ClusteringTypes | null
  #footer: Promise<Footer> | undefined

  constructor(sstable: SSTableData, partitioner: Partitioner, counters: IndexCounters, inThread = false) {
    const { partitions, rows, filter, statistics } = sstable
    if (partitions === null) throw missingComponent(sstable.descriptor, 'Partitions.db')
    const pagedFile = ({ fd, file, size }: OpenFile, counter: { bytesRead: number }) =>
      new PagedFile(fd, file, size, counter, { inThread })
    this.#sstable = sstable
    this.#encoding = { partitioner, keyType: parseMarshalType(statistics.header.keyType).type }
    this.#counters = counters
    this.#file = pagedFile(partitions, counters.index)
    this.#rows = rows === null ? null : pagedFile(rows, counters.rowIndex)
    this.#filter = filter === null ? null : new BloomFilter(filter, false, counters.filter)
    this.#types = prefixOrder(statistics.header.clusteringTypes)
  }

  #readFooter(): Promise<Footer> {
    this.#footer ??= readFooter(this.#file, this.#encoding.partitioner)
    return this.#footer
  }

  async partitionCount(): Promise<number> {
    return (await this.#readFooter()).keyCount
  }

  /** First and last key, which Partitions.db holds in full. */
  async bounds(): Promise<{ firstKey: Uint8Array; lastKey: Uint8Array }> {
    return this.#readFooter()
  }

  /** All partitions, in ring order; the keys of wide ones. */
  async *entries(): AsyncGenerator<{ dataOffset: number; key: Uint8Array | null }> {
    const walker = await this.#walker()
    for (let found = await walker.first(); found; found = await walker.next()) {
      const rows = await this.#rowsEntryAt(walker.node!)
      yield { dataOffset: rows?.dataOffset ?? (await this.#dataOffsetAt(walker.node!)), key: rows?.key ?? null }
    }
  }

  async #walker(): Promise<TrieWalker> {
    return new TrieWalker(this.#file, (await this.#readFooter()).root)
  }

  async seek(position: Position): Promise<PartitionEntry | null> {
    const walker = await this.#seekWalker(position)
    return walker === null ? null : this.#entryAt(walker.walker, walker.certain)
  }

  async #seekWalker(position: Position): Promise<{ walker: TrieWalker; certain: boolean } | null> {
    const walker = await this.#walker()
    const { found, isPrefix } = await walker.ceiling(encodePosition(this.#encoding, position))
    if (!found) return null
    if (!isPrefix) return { walker, certain: true }
    // A prefix of what is wanted may lead to a key on either side. A wide partition's key is at hand.
    const rows = await this.#rowsEntryAt(walker.node!)
    if (rows === null) return { walker, certain: false }
    const { partitioner } = this.#encoding
    const words = new Int32Array(TOKEN_WORDS)
    partitioner.token(rows.key, 0, rows.key.length, words, 0)
    const side = comparePartitionToPosition(partitioner, words, 0, rows.key, 0, rows.key.length, position)
    if (side < 0 && !(await walker.next())) return null
    return { walker, certain: true }
  }

  async find(key: Uint8Array): Promise<PartitionEntry | null> {
    const hash = new Int32Array(4)
    murmur3(key, 0, key.length, hash)
    if (this.#filter !== null) {
      this.#counters.filterChecks++
      if (!(await this.#filter.mightContain(hash))) {
        this.#counters.filterRejections++
        return null
      }
    }
    const walker = await this.#walker()
    const { found, isPrefix } = await walker.ceiling(encodeKey(this.#encoding, key))
    if (!found || !isPrefix) return null
    const node = walker.node!
    // The low byte of the hash's second half.
    if (node.payloadFlags & HASH_FLAG && node.payload[0] !== (hash[3] & 0xff)) return null
    const entry = await this.#entryAt(walker, false)
    if (entry.key === null) return entry
    return Buffer.compare(entry.key, key) === 0 ? { ...entry, certain: true } : null
  }

  async endOffset(position: Position): Promise<number> {
    const { dataLength } = this.#sstable
    const found = await this.#seekWalker(position)
    if (found === null) return dataLength
    const entry = await this.#entryAt(found.walker, found.certain)
    const inside = position.kind === 'key' && position.clustering.length > 0
    const isIt = inside && entry.key !== null && Buffer.compare(entry.key, position.key) === 0
    if (found.certain && !isIt) return entry.dataOffset
    return (await found.walker.next()) ? (await this.#entryAt(found.walker, true)).dataOffset : dataLength
  }

  async atOffset(dataOffset: number): Promise<PartitionEntry | null> {
    const walker = await this.#lastAt(dataOffset)
    return walker === null ? null : this.#entryAt(walker, true)
  }

  async after(entry: PartitionEntry): Promise<PartitionEntry | null> {
    const walker = await this.#lastAt(entry.dataOffset)
    return walker !== null && (await walker.next()) ? this.#entryAt(walker, true) : null
  }

  async #lastAt(dataOffset: number): Promise<TrieWalker | null> {
    const walker = await this.#walker()
    const found = await walker.last(async (node) => (await this.#dataOffsetAt(node)) <= dataOffset)
    return found ? walker : null
  }

  async boundaries(from: number, to: number, count: number): Promise<PartitionBoundary[]> {
    const found: PartitionBoundary[] = []
    const { root } = await this.#readFooter()
    await sampleTrie(this.#file, root, {
      from: from + 1,
      to,
      distance: (to - from) / (count + 1),
      end: this.#sstable.dataLength,
      offsetOf: (node) => this.#dataOffsetAt(node),
      visit: async (path, node) => {
        const entry = await this.#entryOf(path, node, true)
        const position =
          entry.key === null ? positionOfPath(this.#encoding, path) : placeBefore(this.#encoding.partitioner, entry.key)
        if (position !== null) found.push({ position, dataOffset: entry.dataOffset, rank: entry.rank, entry })
      },
    })
    return found
  }

  async rowIndex(entry: PartitionEntry): Promise<RowIndex | null> {
    if (!entry.wide || this.#types === null || this.#rows === null) return null
    const { dataLength } = this.#sstable
    const rows = await readRowsEntry(this.#rows, entry.rowIndexAt, dataLength)
    return openRowsIndex(this.#rows, rows, this.#types, dataLength, this.#counters)
  }

  /** Not negative: a position in Rows.db; negative: the complement of one in Data.db. */
  #valueAt(node: TrieNode): number {
    const hashed = (node.payloadFlags & HASH_FLAG) !== 0
    const length = hashed ? (node.payloadFlags & 7) + 1 : node.payloadFlags
    const at = hashed ? 1 : 0
    if (length === 0 || at + length > node.payload.length) {
      throw this.#file.corrupt(node.position, 'a partition index payload without position')
    }
    return sizedInt(node.payload, at, length)
  }

  async #rowsEntryAt(node: TrieNode): Promise<RowsEntry | null> {
    const value = this.#valueAt(node)
    if (value < 0) return null
    if (this.#rows === null) throw missingComponent(this.#sstable.descriptor, 'Rows.db')
    return readRowsEntry(this.#rows, value, this.#sstable.dataLength)
  }

  #dataOffsetAt(node: TrieNode): number | Promise<number> {
    const value = this.#valueAt(node)
    if (value >= 0) return this.#rowsEntryAt(node).then((rows) => rows!.dataOffset)
    // Not ~value, which is of 32 bits.
    const offset = -1 - value
    if (offset >= this.#sstable.dataLength) {
      throw this.#file.corrupt(node.position, `a partition at ${offset} of ${this.#sstable.dataLength}`)
    }
    return offset
  }

  /** Tokens are spread evenly, so a token's place between the first and the last tells how many keys lie before it. */
  #rankOf({ keyCount, firstPlace, lastPlace }: Footer, path: Uint8Array, dataOffset: number): number {
    const { partitioner } = this.#encoding
    let share = dataOffset / this.#sstable.dataLength
    const position = partitioner.words === 0 ? null : positionOfPath(this.#encoding, path)
    if (position?.kind === 'token' && lastPlace > firstPlace) {
      share = (tokenPlace(position.token.words) - firstPlace) / (lastPlace - firstPlace)
    }
    return Math.round(keyCount * Math.min(1, Math.max(0, share)))
  }

  #entryAt(walker: TrieWalker, certain: boolean): Promise<PartitionEntry> {
    return this.#entryOf(walker.path(), walker.node!, certain)
  }

  async #entryOf(path: Uint8Array, node: TrieNode, certain: boolean): Promise<PartitionEntry> {
    const rows = await this.#rowsEntryAt(node)
    const dataOffset = rows === null ? await this.#dataOffsetAt(node) : rows.dataOffset
    return {
      dataOffset,
      key: rows?.key ?? null,
      certain,
      rank: this.#rankOf(await this.#readFooter(), path, dataOffset),
      wide: rows !== null,
      rowIndexAt: rows === null ? 0 : this.#valueAt(node),
      rowIndexSize: 0,
    }
  }
}

/** Where a token stands among all, on a scale from 0 to 2^32. */
function tokenPlace(words: Int32Array): number {
  return ((words[0] ^ 0x80000000) >>> 0) + (words[1] >>> 0) / 0x100000000
}

async function readFooter(file: PagedFile, partitioner: Partitioner): Promise<Footer> {
  if (file.size < FOOTER_BYTES) throw file.corrupt(0, 'a partition index without footer')
  const at = file.size - FOOTER_BYTES
  const footer = new Cursor(await file.read(at, FOOTER_BYTES), file.file, at)
  const keysAt = footer.size64('position of the first key')
  const keyCount = footer.size64('number of keys')
  const root = footer.size64('position of the trie root')
  if (root >= keysAt || keysAt >= at || keyCount === 0) throw footer.corrupt('the footer makes no sense', 0)
  // Two keys of at most 64 KiB.
  const length = Math.min(at - keysAt, 2 * (2 + 0xffff))
  const keys = new Cursor(await file.read(keysAt, length), file.file, keysAt)
  const firstKey = keys.u16Bytes().slice()
  const lastKey = keys.u16Bytes().slice()
  const placeOf = (key: Uint8Array) => tokenPlace(tokenOf(partitioner, key).words)
  return { keyCount, root, firstKey, lastKey, firstPlace: placeOf(firstKey), lastPlace: placeOf(lastKey) }
}
