// Rows.db: of each wide partition a trie of separators between its blocks, and behind it the entry that leads there
// (o.a.c.io.sstable.format.bti.TrieIndexEntry, RowIndexReader). A separator is greater than everything of the block before
// and not greater than the block's first clustering; a last one leads to the partition's end.

import { Cursor } from '../bytes/cursor.ts'
import type { PagedFile } from '../bytes/paged-file.ts'
import { encodeClusteringPrefix } from '../schema/byte-comparable.ts'
import { sampleTrie } from './bti-sample.ts'
import { decodeSeparator } from './bti-separator.ts'
import { sizedInt, type TrieNode, TrieWalker } from './bti-trie.ts'
import type { ClusteringTypes } from './clustering-compare.ts'
import { type DeletionTime, readDeletionTime } from './deletion-time.ts'
import type { ClusteringPlace, IndexBlock, IndexCounters, IndexCut, RowIndex } from './index.ts'

/** What stands in Rows.db where Partitions.db points to. */
export interface RowsEntry {
  readonly key: Uint8Array
  /** Offset of the partition in the uncompressed Data.db. */
  readonly dataOffset: number
  readonly trieRoot: number
  readonly blockCount: number
  readonly deletion: DeletionTime | null
}

const MAX_KEY_BYTES = 2 + 0xffff
// uvint, vint, uvint, deletion time
const MAX_FIELD_BYTES = 9 + 9 + 9 + 12

export async function readRowsEntry(file: PagedFile, at: number, dataLength: number): Promise<RowsEntry> {
  if (at >= file.size) throw file.corrupt(at, 'no entry of Rows.db is there')
  const head = await file.read(at, Math.min(2, file.size - at))
  const keyBytes = Math.min(MAX_KEY_BYTES, 2 + ((head[0] << 8) | head[1]))
  const length = Math.min(keyBytes + MAX_FIELD_BYTES, file.size - at)
  const cursor = new Cursor(await file.read(at, length), file.file, at)
  const key = cursor.u16Bytes().slice()
  const base = cursor.offset
  const dataOffset = cursor.uvint()
  const trieRoot = base + cursor.vint()
  const blockCount = cursor.uvint()
  const deletion = readDeletionTime(cursor, true)
  if (dataOffset >= dataLength) throw cursor.corrupt(`a partition at ${dataOffset} of ${dataLength}`, 0)
  if (trieRoot < 0 || trieRoot >= at) throw cursor.corrupt(`a trie root at ${trieRoot}`, 0)
  return { key, dataOffset, trieRoot, blockCount, deletion }
}

interface Payload {
  /** From the partition's start. */
  offset: number
  open: DeletionTime | null
}

/** A lookup needs two payloads, and the next one behind it one of those. */
const KEPT = 16

/** Of a payload's flags: the range deletion open at the block's start follows. */
const OPEN_FLAG = 8

export function openRowsIndex(
  file: PagedFile,
  entry: RowsEntry,
  types: ClusteringTypes,
  dataLength: number,
  counters: IndexCounters,
): RowIndex {
  const { dataOffset } = entry
  const walker = () => new TrieWalker(file, entry.trieRoot)

  const kept = new Map<number, Payload>()
  const payloadOf = (node: TrieNode): Payload => {
    let payload = kept.get(node.position)
    if (payload === undefined) {
      payload = decodePayload(node)
      if (kept.size >= KEPT) kept.delete(kept.keys().next().value!)
      kept.set(node.position, payload)
    }
    return payload
  }
  const decodePayload = (node: TrieNode): Payload => {
    counters.blocksDecoded++
    const bytes = node.payloadFlags & ~OPEN_FLAG
    if (bytes === 0 || bytes > node.payload.length)
      throw file.corrupt(node.position, 'a row index payload without offset')
    const offset = sizedInt(node.payload, 0, bytes)
    if (offset < 0 || dataOffset + offset >= dataLength) {
      throw file.corrupt(node.position, `a block ${offset} behind a partition at ${dataOffset} of ${dataLength}`)
    }
    const rest = new Cursor(node.payload.subarray(bytes), file.file, node.position)
    return { offset, open: node.payloadFlags & OPEN_FLAG ? readDeletionTime(rest, true) : null }
  }

  /** The block that the walk stands at; null at the last payload, which is the partition's end. */
  const blockAt = async (at: TrieWalker): Promise<IndexBlock | null> => {
    const { offset, open } = payloadOf(at.node!)
    const path = at.path()
    const behind = at.clone()
    if (!(await behind.next())) return null
    const next = payloadOf(behind.node!)
    if (next.offset <= offset) throw file.corrupt(behind.node!.position, 'row index blocks out of order')
    // The last payload stands for the end flag: the block ends behind it.
    const isLast = !(await behind.clone().next())
    const place = path.length === 0 ? null : decodeSeparator(types.types, types.reversed, path)
    return { start: dataOffset + offset, end: dataOffset + next.offset + (isLast ? 1 : 0), open, place }
  }

  const lastAt = async (offset: number): Promise<IndexBlock> => {
    const at = walker()
    const holds = async (node: TrieNode) => payloadOf(node).offset <= offset
    const block = (await at.last(holds)) ? await blockAt(at) : null
    if (block !== null) return block
    // Before the first block, or at the end flag.
    await at.first()
    if (offset <= payloadOf(at.node!).offset) return (await blockAt(at)) ?? raise(at)
    await at.last(async (node) => payloadOf(node).offset < offset)
    return (await blockAt(at)) ?? raise(at)
  }

  const raise = (at: TrieWalker): never => {
    throw file.corrupt(at.node?.position ?? entry.trieRoot, 'a row index without blocks')
  }

  return {
    blockCount: entry.blockCount,
    partitionStart: dataOffset,
    firstRow: null,
    deletion: entry.deletion,
    async seek({ clustering, after }: ClusteringPlace) {
      const wanted = encodeClusteringPrefix(types.types, types.reversed, clustering, after ? 6 : 1)
      const at = walker()
      if (!(await at.floor(wanted))) await at.first()
      return blockAt(at)
    },
    async atOffset(offset: number) {
      return lastAt(offset - dataOffset)
    },
    async cuts(count: number) {
      const at = walker()
      await at.last(async () => true)
      const end = payloadOf(at.node!).offset
      const cuts: IndexCut[] = []
      await sampleTrie(file, entry.trieRoot, {
        from: 0,
        // The last payload stands for the end.
        to: end,
        distance: end / (count + 1),
        end: end + 1,
        offsetOf: (node) => payloadOf(node).offset,
        visit(path, _node, offset) {
          const place = decodeSeparator(types.types, types.reversed, path)
          if (place !== null) cuts.push({ start: dataOffset + offset, place })
        },
      })
      return cuts
    },
  }
}
