// CompressionInfo.db (o.a.c.io.compress.CompressionMetadata): the codec, the chunk length and where each chunk lies in
// Data.db. A 1 TB SSTable has 67 million chunks, so the offsets are read in pages, never held whole.

import { Cursor } from '../bytes/cursor.ts'
import type { ReadCounter } from '../bytes/paged-file.ts'
import { readAt, readShort, sizeOf } from '../bytes/read-at.ts'
import { SluiceError } from '../errors.ts'
import type { VersionTraits } from './versions.ts'

/** What CompressionInfo.db says; a plain record that can be sent to a worker thread. */
export interface CompressionInfo {
  readonly file: string
  readonly fd: number
  /** Simple class name, such as `LZ4Compressor`. */
  readonly codec: string
  readonly options: ReadonlyMap<string, string>
  /** Uncompressed bytes of every chunk but the last. */
  readonly chunkLength: number
  /** A chunk whose stored length is this or more is stored as it is. Infinity: never. */
  readonly maxCompressedLength: number
  /** Uncompressed length of Data.db in bytes. */
  readonly dataLength: number
  /** Chunks that hold data. */
  readonly chunkCount: number
  /** Chunks listed: a compaction may flush its empty buffer once more, which makes a chunk of nothing. */
  readonly listedCount: number
  /** Where the offsets begin in CompressionInfo.db. */
  readonly offsetsAt: number
  /** Length of Data.db as stored. */
  readonly dataFileLength: number
}

/** Each stored chunk is followed by the CRC32 of its bytes. */
export const CHUNK_CRC_BYTES = 4

// The part before the offsets: names and a handful of options. Far more than any compressor takes.
const MAX_HEADER_BYTES = 128 * 1024
// Cassandra's own limit is what fits an int; a chunk has to be in memory as a whole.
const MAX_CHUNK_LENGTH = 1 << 30
const NO_MAX_COMPRESSED_LENGTH = 0x7fffffff
const MAX_EMPTY_CHUNKS = 2
/** What a codec makes of no bytes, with its CRC32: LZ4 9, Zstandard 17. */
const MAX_EMPTY_CHUNK_BYTES = 32
const PAGE = 512

/** Reads the part before the offsets and checks the lengths against each other. */
export async function openCompressionInfo(
  fd: number,
  file: string,
  version: VersionTraits,
  dataFileLength: number,
): Promise<CompressionInfo> {
  const size = await sizeOf(fd, file)
  const cursor = new Cursor(await readAt(fd, file, 0, Math.min(size, MAX_HEADER_BYTES)), file)
  const className = cursor.utf()
  const options = new Map<string, string>()
  const optionCount = cursor.checkCount(cursor.u32(), 4, 'option')
  for (let i = 0; i < optionCount; i++) options.set(cursor.utf(), cursor.utf())
  const at = cursor.pos
  const chunkLength = cursor.u32()
  if (chunkLength === 0 || chunkLength > MAX_CHUNK_LENGTH) throw cursor.corrupt(`chunk length ${chunkLength}`, at)
  let maxCompressedLength = Number.POSITIVE_INFINITY
  if (version.maxCompressedLength) {
    const stored = cursor.u32()
    // CompressionParams.validate refuses one between the chunk length and "none".
    if (stored !== NO_MAX_COMPRESSED_LENGTH) {
      if (stored > chunkLength) throw cursor.corrupt(`maximum compressed length ${stored}`, at + 4)
      maxCompressedLength = stored
    }
  }
  const dataLength = cursor.size64('data length')
  const listedCount = cursor.u32()
  const chunkCount = Math.ceil(dataLength / chunkLength)
  if (listedCount === 0 || listedCount < chunkCount || listedCount > chunkCount + MAX_EMPTY_CHUNKS) {
    throw cursor.corrupt(`${listedCount} chunks of ${chunkLength} bytes for ${dataLength} bytes of data`, at)
  }
  if (size !== cursor.pos + 8 * listedCount) {
    throw cursor.corrupt(`${listedCount} chunk offsets in a file of ${size} bytes`, at)
  }
  if (listedCount > chunkCount) {
    // Chunks of nothing behind the data are small; larger ones hold data, and the length of the data is wrong.
    const bytes = await readAt(fd, file, cursor.pos + 8 * chunkCount, 8)
    const rest = dataFileLength - Number(bytes.readBigUInt64BE())
    if (rest > MAX_EMPTY_CHUNK_BYTES * (listedCount - chunkCount)) {
      throw cursor.corrupt(`${rest} bytes of chunks behind ${dataLength} bytes of data`, at)
    }
  }
  return {
    file,
    fd,
    codec: className.slice(className.lastIndexOf('.') + 1),
    options,
    chunkLength,
    maxCompressedLength,
    dataLength,
    chunkCount,
    listedCount,
    offsetsAt: cursor.pos,
    dataFileLength,
  }
}

/** Index of the chunk that holds a position of the uncompressed data. */
export function chunkOf(info: CompressionInfo, position: number): number {
  return Math.floor(position / info.chunkLength)
}

/** Uncompressed bytes of a chunk: the last may be shorter. */
export function chunkDataLength(info: CompressionInfo, chunk: number): number {
  return Math.min(info.chunkLength, info.dataLength - chunk * info.chunkLength)
}

/**
 * The offsets of a run of chunks. One per scan, not shared: `load` what comes next, then ask without waiting. Holds what
 * was last loaded, rounded to pages of 4 KiB.
 */
export class ChunkOffsets {
  readonly info: CompressionInfo
  #first = 0
  #end = 0
  /** Offsets of chunks first to end - 1, then where the last of them ends. */
  #offsets = new Float64Array(0)
  readonly #counter: ReadCounter

  constructor(info: CompressionInfo, counter: ReadCounter = { bytesRead: 0 }) {
    this.info = info
    this.#counter = counter
  }

  /** Bytes read of CompressionInfo.db so far. */
  get bytesRead(): number {
    return this.#counter.bytesRead
  }

  /** True when `load` of the same run would do nothing. */
  has(from: number, to: number): boolean {
    return from >= this.#first && to <= this.#end
  }

  /** Makes chunks from (inclusive) to (exclusive) known. CORRUPT_SSTABLE if their offsets make no sense. */
  async load(from: number, to: number): Promise<void> {
    if (this.has(from, to)) return
    const { info } = this
    if (!(from >= 0 && from < to && to <= info.chunkCount)) {
      throw new SluiceError('CORRUPT_SSTABLE', {
        file: info.file,
        reason: `chunks ${from} to ${to} of ${info.chunkCount} are asked for`,
      })
    }
    const first = from - (from % PAGE)
    const end = Math.min(info.chunkCount, Math.ceil(to / PAGE) * PAGE)
    const count = Math.min(end + 1, info.listedCount) - first
    const at = info.offsetsAt + 8 * first
    const bytes = await readShort(info.fd, info.file, at, 8 * count)
    this.#counter.bytesRead += bytes.length
    // Mostly a page again: the same array serves, unknown until it is whole.
    this.#end = this.#first
    const size = end - first + 1
    const offsets = this.#offsets.length >= size ? this.#offsets : new Float64Array(size)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    readOffsets(view, count, offsets)
    if (end === info.listedCount) offsets[count] = info.dataFileLength
    if (first === 0 && offsets[0] !== 0) throw this.#corrupt(at, `the first chunk is at ${offsets[0]}`)
    // No codec makes a chunk twice as long.
    const bad = firstImpossible(offsets, end - first, 2 * info.chunkLength + 1024, info.dataFileLength)
    if (bad >= 0) {
      throw this.#corrupt(at + 8 * bad, `chunk ${first + bad} lies from ${offsets[bad]} to ${offsets[bad + 1]}`)
    }
    this.#first = first
    this.#end = end
    this.#offsets = offsets
  }

  #corrupt(offset: number, reason: string): SluiceError {
    return new SluiceError('CORRUPT_SSTABLE', { file: this.info.file, offset, reason })
  }

  /** Where a loaded chunk begins in Data.db. */
  offset(chunk: number): number {
    return this.#offsets[chunk - this.#first]
  }

  /** Stored bytes of a loaded chunk, without its CRC. */
  storedLength(chunk: number): number {
    const i = chunk - this.#first
    return this.#offsets[i + 1] - this.#offsets[i] - CHUNK_CRC_BYTES
  }
}

// Loops in functions of their own, which the engine compiles after a page or two: interpreted, they make an object per number.

function readOffsets(view: DataView, count: number, offsets: Float64Array): void {
  for (let i = 0; i < count; i++) offsets[i] = view.getUint32(8 * i) * 0x100000000 + view.getUint32(8 * i + 4)
}

/** The first chunk that has no bytes, too many, or some beyond the file; -1: there is none. */
function firstImpossible(offsets: Float64Array, chunks: number, longest: number, fileLength: number): number {
  for (let i = 0; i < chunks; i++) {
    const stored = offsets[i + 1] - offsets[i] - CHUNK_CRC_BYTES
    if (!(stored > 0 && stored <= longest) || offsets[i + 1] > fileLength) return i
  }
  return -1
}
