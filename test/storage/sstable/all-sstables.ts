// Every SSTable of the golden sets, of wide-random/ (RandomPartitioner, and wide partitions of every clustering type), and of
// the folder that SLUICE_PUBLIC_SSTABLES names (SSTables by others; passed over, and said so, where it is not set), with helpers to
// look at them without the product's own scan.

import { createHash } from 'node:crypto'
import { access, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { codecFor } from '../../../storage/bytes/codecs.ts'
import { crc32 } from '../../../storage/bytes/crc32.ts'
import { readAt } from '../../../storage/bytes/read-at.ts'
import { type Partitioner, partitionerByName } from '../../../storage/ring/partitioner.ts'
import { parseMarshalType } from '../../../storage/schema/marshal.ts'
import { ChunkOffsets, chunkDataLength } from '../../../storage/sstable/compression-info.ts'
import { groupSSTables, type SSTableFiles } from '../../../storage/sstable/descriptor.ts'
import type { SSTable } from '../../../storage/sstable/sstable.ts'
import { GOLDEN_NAMES, goldenSet } from '../../corpus/golden.ts'
import { unpackTar } from '../../corpus/tar.ts'

export interface Sample {
  /** Golden set's name, `wide-random` or `public`. */
  readonly set: string
  /** `golden.ck_text/nb-3-big`, for messages and for finding its dump. */
  readonly name: string
  readonly files: SSTableFiles
}

export async function* foldersBelow(folder: string): AsyncGenerator<string> {
  yield folder
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) yield* foldersBelow(join(folder, entry.name))
  }
}

async function* samplesIn(set: string, root: string): AsyncGenerator<Sample> {
  for await (const folder of foldersBelow(root)) {
    for (const files of groupSSTables(folder, await readdir(folder))) {
      const table = basename(folder).replace(/-[0-9a-f]{32}$/, '')
      yield { set, name: `${basename(join(folder, '..'))}.${table}/${files.descriptor.prefix.slice(0, -1)}`, files }
    }
  }
}

export async function goldenSamples(names: readonly (typeof GOLDEN_NAMES)[number][] = GOLDEN_NAMES): Promise<Sample[]> {
  const samples: Sample[] = []
  for (const name of names) {
    for await (const sample of samplesIn(name, join(await goldenSet(name), 'data'))) samples.push(sample)
  }
  return samples
}

export async function wideRandomSamples(): Promise<Sample[]> {
  const packed = await readFile(join(dirname(fileURLToPath(import.meta.url)), 'wide-random', 'data.tar.br'))
  const digest = createHash('sha256').update(packed).digest('hex').slice(0, 16)
  const folder = join(process.env.SLUICE_CACHE ?? tmpdir(), `sluice-wide-random-${digest}`)
  const isThere = () =>
    access(folder).then(
      () => true,
      () => false,
    )
  if (!(await isThere())) {
    // Filled under another name: a folder that is there is whole, and of several processes at it, one wins.
    const filling = await mkdtemp(`${folder}-`)
    await unpackTar(await promisify(brotliDecompress)(packed), filling)
    await rename(filling, folder).catch(async (error) => {
      await rm(filling, { recursive: true })
      if (!(await isThere())) throw error
    })
  }
  const samples: Sample[] = []
  for await (const sample of samplesIn('wide-random', folder)) samples.push(sample)
  return samples
}

export async function publicSamples(): Promise<Sample[]> {
  const root = process.env.SLUICE_PUBLIC_SSTABLES
  if (!root) {
    console.log('SKIPPED: SSTables by others (SLUICE_PUBLIC_SSTABLES is not set)')
    return []
  }
  const samples: Sample[] = []
  for await (const sample of samplesIn('public', root)) samples.push(sample)
  return samples
}

export function partitionerOf(sstable: SSTable): Partitioner {
  const { partitioner, header } = sstable.statistics
  return partitionerByName(partitioner, parseMarshalType(header.keyType).type)
}

/** The whole of Data.db, uncompressed, every chunk's CRC checked. */
export async function readData(sstable: SSTable): Promise<Uint8Array> {
  const { compression, dataFd, dataFileLength, dataLength, file } = sstable
  const stored = await readAt(dataFd, file, 0, dataFileLength)
  if (compression === null) return stored
  const inflate = codecFor(compression.codec, file)
  const data = new Uint8Array(dataLength)
  const chunks = new ChunkOffsets(compression)
  for (let i = 0; i < compression.chunkCount; i++) {
    await chunks.load(i, i + 1)
    const at = chunks.offset(i)
    const length = chunks.storedLength(i)
    const bytes = stored.subarray(at, at + length)
    if (crc32(bytes) !== stored.readUInt32BE(at + length)) throw new Error(`CRC of chunk ${i} in ${file}`)
    const target = i * compression.chunkLength
    const dataBytes = chunkDataLength(compression, i)
    if (length >= compression.maxCompressedLength) data.set(bytes.subarray(0, dataBytes), target)
    else {
      const failure = await inflate(bytes, data, target, dataBytes)
      if (failure) throw new Error(`${failure} in ${file}`)
    }
  }
  return data
}

/** The key that stands at a partition's start in Data.db. */
export function keyAt(data: Uint8Array, offset: number): Uint8Array {
  const length = (data[offset] << 8) | data[offset + 1]
  return data.subarray(offset + 2, offset + 2 + length)
}
