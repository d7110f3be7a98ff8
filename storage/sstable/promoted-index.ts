// The promoted part of an Index.db entry: the blocks of a wide partition (o.a.c.io.sstable.IndexInfo, format.big
// .RowIndexEntry). Searched through its table of offsets, so that a lookup decodes log2(n) blocks (CASSANDRA-19557), and
// only a few decoded blocks are kept whatever the partition's size (CASSANDRA-12731).

import { Cursor } from '../bytes/cursor.ts'
import { PagedFile } from '../bytes/paged-file.ts'
import { isSluiceError } from '../errors.ts'
import { compareToPlace, type PrefixOrder, placeOf } from './clustering-compare.ts'
import { type ClusteringPrefix, readPrefix } from './clustering-values.ts'
import { type DeletionTime, readDeletionTime } from './deletion-time.ts'
import type { ClusteringPlace, IndexBlock, IndexCounters, PartitionEntry, RowIndex } from './index.ts'
import type { OpenFile } from './sstable.ts'

interface IndexInfo {
  first: ClusteringPrefix
  last: ClusteringPrefix
  /** From the partition's start. */
  offset: number
  width: number
  /** Open at the block's end. */
  openAfter: DeletionTime | null
}

export interface PromotedOptions {
  unsignedDeletionTime: boolean
  /** Uncompressed length of Data.db. */
  dataLength: number
  /** As in PagedFileOptions. */
  inThread: boolean
}

const WIDTH_BASE = 65536
// uvint header length, the longest deletion time, uvint count.
const MAX_HEAD_BYTES = 9 + 12 + 9
// A search of a partition of 2^30 blocks meets 30. Of ascending searches each meets again what all between it and the first that met
// it have met: so where those used last are kept, none is decoded twice.
const KEPT = 256

/** Opens the index of a wide partition. */
export async function openPromotedIndex(
  open: OpenFile,
  entry: PartitionEntry,
  order: PrefixOrder,
  counters: IndexCounters,
  { unsignedDeletionTime, dataLength, inThread }: PromotedOptions,
): Promise<RowIndex> {
  const file = new PagedFile(open.fd, open.file, open.size, counters.rowIndex, { pages: 16, inThread })
  const at = entry.rowIndexAt
  const size = entry.rowIndexSize
  const head = new Cursor(await file.read(at, Math.min(size, MAX_HEAD_BYTES)), open.file, at)
  const headerLength = head.uvint()
  const deletion = readDeletionTime(head, unsignedDeletionTime)
  const blockCount = head.uvint()
  const infosAt = at + head.pos
  const offsetsAt = at + size - 4 * blockCount
  if (blockCount === 0 || offsetsAt <= infosAt) throw head.corrupt(`${blockCount} blocks in ${size} bytes`, 0)
  // Two prefixes, each value with its length, and the rest.
  const maxInfoBytes = 2 * (12 + order.lengths.length * (0xffff + 9)) + 64
  const kept = new Map<number, IndexInfo>()

  /** Decodes one IndexInfo, found through the table of offsets. */
  const info = async (i: number): Promise<IndexInfo> => {
    const known = kept.get(i)
    if (known !== undefined) {
      kept.delete(i)
      kept.set(i, known)
      return known
    }
    const last = i === blockCount - 1
    const table = new Cursor(await file.read(offsetsAt + 4 * i, last ? 4 : 8), open.file, offsetsAt + 4 * i)
    const from = infosAt + table.u32()
    const to = last ? offsetsAt : infosAt + table.u32()
    if (from >= to || to > offsetsAt || to - from > maxInfoBytes)
      throw table.corrupt(`index block ${i} lies from ${from} to ${to}`, 0)
    const cursor = new Cursor(await file.read(from, to - from), open.file, from)
    const first = readPrefix(cursor, order.lengths)
    const end = readPrefix(cursor, order.lengths)
    const offset = cursor.uvint()
    const width = cursor.vint() + WIDTH_BASE
    const openAfter = cursor.bool() ? readDeletionTime(cursor, unsignedDeletionTime) : null
    counters.blocksDecoded++
    if (offset < headerLength || width <= 0 || entry.dataOffset + offset + width > dataLength) {
      throw cursor.corrupt(`index block ${i} spans ${width} bytes from ${offset}`, 0)
    }
    const decoded = { first, last: end, offset, width, openAfter }
    if (kept.size >= KEPT) kept.delete(kept.keys().next().value!)
    kept.set(i, decoded)
    return decoded
  }

  const block = async (i: number): Promise<IndexBlock> => {
    const { first, offset, width } = await info(i)
    const start = entry.dataOffset + offset
    const open = i === 0 ? null : (await info(i - 1)).openAfter
    return { start, end: start + width, open, place: i === 0 ? null : placeOf(first) }
  }

  /** The least i of those for which `test` holds, or blockCount; it holds for all behind one for which it holds. */
  const firstWhere = async (test: (info: IndexInfo) => boolean): Promise<number> => {
    let low = 0
    let high = blockCount
    while (low < high) {
      const middle = (low + high) >>> 1
      if (test(await info(middle))) high = middle
      else low = middle + 1
    }
    return low
  }

  const indexAt = async (offset: number): Promise<number> => {
    const behind = await firstWhere((candidate) => candidate.offset > offset)
    return Math.max(0, behind - 1)
  }

  return {
    blockCount,
    partitionStart: entry.dataOffset,
    firstRow: entry.dataOffset + headerLength,
    deletion,
    async seek(place: ClusteringPlace) {
      const i = await firstWhere((candidate) => {
        try {
          return compareToPlace(order, candidate.last, place) >= 0
        } catch (error) {
          // The value of an index block may be none of its type.
          throw isSluiceError(error) ? error.with({ file: open.file, offset: infosAt }) : error
        }
      })
      return i === blockCount ? null : block(i)
    },
    async atOffset(dataOffset: number) {
      return block(await indexAt(dataOffset - entry.dataOffset))
    },
    async cuts(count: number) {
      const last = await info(blockCount - 1)
      const total = last.offset + last.width
      const blocks: IndexBlock[] = []
      let before = 0
      for (let k = 1; k <= count; k++) {
        const i = await indexAt(Math.floor((total * k) / (count + 1)))
        if (i > before) blocks.push(await block(i))
        before = Math.max(before, i)
      }
      return blocks
    },
  }
}
