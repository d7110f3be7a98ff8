// CRC.db of uncompressed SSTables (o.a.c.io.util.DataIntegrityMetadata.ChecksumValidator): u32 chunk size, then the CRC32
// of each chunk of Data.db, the last chunk being what is left. Paged: a 1 TB Data.db has 16 million chunks of 64 KiB.

import { Cursor } from '../bytes/cursor.ts'
import type { ReadCounter } from '../bytes/paged-file.ts'
import { readAt, readShort, sizeOf } from '../bytes/read-at.ts'
import { SluiceError } from '../errors.ts'

/** What CRC.db says; a plain record that can be sent to a worker thread. */
export interface CrcDb {
  readonly file: string
  readonly fd: number
  /** Bytes of Data.db that one CRC32 covers. */
  readonly chunkSize: number
  readonly chunkCount: number
  readonly dataFileLength: number
}

const MAX_CHUNK_SIZE = 1 << 30
const MAX_EXTRA_BYTES = 4
const PAGE = 1024

export async function openCrcDb(fd: number, file: string, dataFileLength: number): Promise<CrcDb> {
  const size = await sizeOf(fd, file)
  const cursor = new Cursor(await readAt(fd, file, 0, Math.min(size, 4)), file)
  const chunkSize = cursor.u32()
  if (chunkSize === 0 || chunkSize > MAX_CHUNK_SIZE) throw cursor.corrupt(`chunk size ${chunkSize}`, 0)
  const chunkCount = Math.ceil(dataFileLength / chunkSize)
  // Cassandra flushes its buffer once more at the end, so that one CRC of nothing may follow.
  const extra = size - 4 - 4 * chunkCount
  if (extra < 0 || extra > MAX_EXTRA_BYTES) {
    throw cursor.corrupt(`${chunkCount} chunks of ${chunkSize} bytes in a file of ${size} bytes`, 0)
  }
  return { file, fd, chunkSize, chunkCount, dataFileLength }
}

/** Bytes of Data.db that this chunk covers. */
export function crcChunkLength(crc: CrcDb, chunk: number): number {
  return Math.min(crc.chunkSize, crc.dataFileLength - chunk * crc.chunkSize)
}

/** The checksums of a run of chunks. One per scan, not shared: `load` what comes next, then ask without waiting. */
export class ChunkCrcs {
  readonly crc: CrcDb
  #first = 0
  #end = 0
  #values = new Uint32Array(0)
  readonly #counter: ReadCounter

  constructor(crc: CrcDb, counter: ReadCounter = { bytesRead: 0 }) {
    this.crc = crc
    this.#counter = counter
  }

  has(from: number, to: number): boolean {
    return from >= this.#first && to <= this.#end
  }

  /** Makes chunks from (inclusive) to (exclusive) known. */
  async load(from: number, to: number): Promise<void> {
    if (this.has(from, to)) return
    const { crc } = this
    if (!(from >= 0 && from < to && to <= crc.chunkCount)) {
      throw new SluiceError('CORRUPT_SSTABLE', {
        file: crc.file,
        reason: `chunks ${from} to ${to} of ${crc.chunkCount} are asked for`,
      })
    }
    const first = from - (from % PAGE)
    const end = Math.min(crc.chunkCount, Math.ceil(to / PAGE) * PAGE)
    const bytes = await readShort(crc.fd, crc.file, 4 + 4 * first, 4 * (end - first))
    this.#counter.bytesRead += bytes.length
    const values = new Uint32Array(end - first)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (let i = 0; i < values.length; i++) values[i] = view.getUint32(4 * i)
    this.#first = first
    this.#end = end
    this.#values = values
  }

  /** CRC32 (unsigned) of a loaded chunk. */
  value(chunk: number): number {
    return this.#values[chunk - this.#first]
  }
}
