// Summary.db (o.a.c.io.sstable.indexsummary.IndexSummary): every 128th or so entry of Index.db, by which a key is found
// with one short read of Index.db. It is searched on disk, not held. Where it is missing, damaged or does not fit Index.db
// (it can be stale, or sampled otherwise), the same is sampled from Index.db itself, once.

import { PagedFile, type ReadCounter } from '../bytes/paged-file.ts'
import { isSluiceError } from '../errors.ts'
import { IndexScanner } from './index-scanner.ts'
import type { OpenFile } from './sstable.ts'

/** Sampled entries of Index.db, in order. */
export interface Summary {
  readonly count: number
  /** Where Summary.db came from, or `index` when it was sampled here. */
  readonly source: 'summary' | 'index'
  /** Offset in Index.db of the i-th sampled entry. */
  position(i: number): Promise<number>
  /** Its key. */
  key(i: number): Promise<Uint8Array>
}

const HEADER_BYTES = 24

/** Reads the head of Summary.db; null when it makes no sense (then `sampleIndex`). */
export async function openSummary(open: OpenFile, counter: ReadCounter, inThread: boolean): Promise<Summary | null> {
  const file = new PagedFile(open.fd, open.file, open.size, counter, { inThread })
  if (open.size < HEADER_BYTES) return null
  const head = Buffer.from(await file.read(0, HEADER_BYTES))
  const count = head.readUInt32BE(4)
  const size = Number(head.readBigUInt64BE(8))
  if (count === 0 || size < 4 * count || HEADER_BYTES + size > open.size) return null

  // Offsets count from the first of them. Little-endian since 5.0, before in the writer's order; a big-endian writer's
  // summary fails here and is not used.
  const bounds = async (i: number): Promise<[number, number]> => {
    const last = i === count - 1
    const raw = Buffer.from(await file.read(HEADER_BYTES + 4 * i, last ? 4 : 8))
    const from = raw.readUInt32LE(0)
    const to = last ? size : raw.readUInt32LE(4)
    if (from < 4 * count || to > size || to - from < 8) {
      throw file.corrupt(HEADER_BYTES + 4 * i, `a summary entry from ${from} to ${to}`)
    }
    return [HEADER_BYTES + from, HEADER_BYTES + to]
  }
  return {
    count,
    source: 'summary',
    async position(i) {
      const [, to] = await bounds(i)
      return Number(Buffer.from(await file.read(to - 8, 8)).readBigUInt64LE(0))
    },
    async key(i) {
      const [from, to] = await bounds(i)
      if (to - from - 8 > 0xffff) throw file.corrupt(from, `a summary key of ${to - from - 8} bytes`)
      return (await file.read(from, to - from - 8)).slice()
    },
  }
}

const SAMPLES = 32 * 1024

/** Samples Index.db: one pass over it, at most 32,768 offsets kept. Keys are read again when asked for. */
export async function sampleIndex(index: OpenFile, dataLength: number, counter: ReadCounter): Promise<Summary> {
  let interval = 128
  let positions: number[] = []
  const scanner = new IndexScanner(index, dataLength, counter)
  for (let i = 0; await scanner.next(); i++) {
    if (i % interval !== 0) continue
    if (positions.length === SAMPLES) {
      positions = positions.filter((_, at) => at % 2 === 0)
      interval *= 2
      if (i % interval !== 0) continue
    }
    positions.push(scanner.entryOffset)
  }
  const file = new PagedFile(index.fd, index.file, index.size, counter)
  return {
    count: positions.length,
    source: 'index',
    async position(i) {
      return positions[i]
    },
    async key(i) {
      const length = Buffer.from(await file.read(positions[i], 2)).readUInt16BE(0)
      return (await file.read(positions[i] + 2, length)).slice()
    },
  }
}

/** Damage in Summary.db is no damage to the data: it is passed over, and Index.db asked. */
export function isDamage(error: unknown): boolean {
  return isSluiceError(error) && error.code === 'CORRUPT_SSTABLE'
}
