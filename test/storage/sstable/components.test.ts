import { closeSync, openSync } from 'node:fs'
import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { crc32 } from '../../../storage/bytes/crc32.ts'
import { readAt } from '../../../storage/bytes/read-at.ts'
import { isSluiceError } from '../../../storage/errors.ts'
import { ChunkOffsets, openCompressionInfo } from '../../../storage/sstable/compression-info.ts'
import { ChunkCrcs, crcChunkLength, openCrcDb } from '../../../storage/sstable/crc-db.ts'
import { componentPath } from '../../../storage/sstable/descriptor.ts'
import { parseDigest, verifyDigest } from '../../../storage/sstable/digest.ts'
import { openSSTable, type SSTable } from '../../../storage/sstable/sstable.ts'
import { parseStatistics } from '../../../storage/sstable/statistics.ts'
import { versionTraits } from '../../../storage/sstable/versions.ts'
import { goldenSamples, publicSamples, readData, type Sample } from './all-sstables.ts'

async function refusal(run: () => unknown) {
  try {
    await run()
  } catch (error) {
    if (isSluiceError(error)) return { code: error.code, ...error.fields }
    throw error
  }
  return null
}

let samples: Sample[] = []
let folder = ''

beforeAll(async () => {
  samples = [...(await goldenSamples()), ...(await publicSamples())]
  folder = await mkdtemp(join(tmpdir(), 'sluice-components-'))
}, 60_000)

afterAll(() => rm(folder, { recursive: true, force: true }))

const path = (sample: Sample, component: Parameters<typeof componentPath>[1]) =>
  componentPath(sample.files.descriptor, component)

function isReadable({ files: { descriptor } }: Sample): boolean {
  try {
    versionTraits(descriptor.version, descriptor.format, '')
    return true
  } catch {
    return false
  }
}

/** The columns of a golden table that the name is of. */
function golden(set: string, table: string): Sample {
  return samples.find((sample) => sample.set === set && sample.name.startsWith(`golden.${table}/`))!
}

describe('every SSTable', () => {
  it('opens, or is refused by name', async () => {
    let read = 0
    const refused: string[] = []
    for (const sample of samples) {
      const error = await refusal(async () => {
        const sstable = await openSSTable(sample.files)
        try {
          expect(sstable.id).toBe(sample.files.descriptor.prefix.slice(0, -1))
          expect(sstable.dataFileLength).toBe((await stat(sstable.file)).size)
          expect(sstable.statistics.header.keyType).toMatch(/^org\.apache\.cassandra\.db\.marshal\./)
          expect(sstable.statistics.partitioner).toMatch(/^(Murmur3|Random|ByteOrdered|Local)Partitioner$/)
        } finally {
          sstable.close()
        }
      })
      if (error === null) read++
      else refused.push(`${error.code} ${error.version ?? error.file}`)
      expect(error?.code, sample.name).not.toBe('CORRUPT_SSTABLE')
      expect(error?.code, sample.name).not.toBe('CHECKSUM_MISMATCH')
    }
    expect(read).toBeGreaterThan(600)
    // Only the sets of others have any to refuse.
    const old = refused.filter((text) =>
      /^UNSUPPORTED_VERSION (jb|ka|la-big|ic|aa-bti|bb-bti|cb-bti|cc-bti)$/.test(text),
    )
    const missing = refused.filter((text) => /^MISSING_COMPONENT .*CompressionInfo.db$/.test(text))
    expect(refused.filter((text) => !old.includes(text) && !missing.includes(text))).toEqual([])
    if (process.env.SLUICE_PUBLIC_SSTABLES) {
      expect(read).toBe(1177)
      expect(missing.length).toBe(2)
      expect(old.length).toBe(21)
    } else expect(refused).toEqual([])
  }, 60_000)

  it('agrees with its digest, its chunk checksums and its data length', async () => {
    let digests = 0
    let uncompressed = 0
    for (const sample of samples.filter(isReadable)) {
      const { components } = sample.files
      const sstable = await openSSTable(sample.files).catch(() => null)
      if (sstable === null) continue
      if (components.has('Digest.crc32')) {
        const expected = parseDigest(await readFile(path(sample, 'Digest.crc32'), 'utf8'), '')
        await verifyDigest(sstable.dataFd, sstable.file, sstable.dataFileLength, expected)
        digests++
      }
      if (sstable.crc !== null) {
        uncompressed++
        const crcs = new ChunkCrcs(sstable.crc)
        for (let i = 0; i < sstable.crc.chunkCount; i++) {
          await crcs.load(i, i + 1)
          const length = crcChunkLength(sstable.crc, i)
          const bytes = await readAt(sstable.dataFd, sstable.file, i * sstable.crc.chunkSize, length)
          expect(crc32(bytes), sample.name).toBe(crcs.value(i))
        }
      }
      sstable.close()
    }
    expect(digests).toBeGreaterThan(600)
    expect(uncompressed).toBeGreaterThan(4)
  }, 60_000)
})

describe('Statistics.db', () => {
  it('tells the columns of a table, with their types', async () => {
    for (const set of ['me', 'nb', 'nb-5.0', 'oa', 'da']) {
      const sample = golden(set, 'clustering_mixed')
      const { descriptor } = sample.files
      const version = versionTraits(descriptor.version, descriptor.format, '')
      const bytes = await readFile(path(sample, 'Statistics.db'))
      const { header, ...stats } = parseStatistics(bytes, version, '')
      expect(header.clusteringTypes.length, set).toBeGreaterThan(1)
      expect(header.clusteringTypes.some((type) => type.includes('ReversedType('))).toBe(true)
      expect(header.regulars.every((column) => column.name !== '' && column.type.includes('.marshal.'))).toBe(true)
      expect(stats.minTimestamp >= header.minTimestamp, set).toBe(true)
      expect(stats.totalRows > 0n).toBe(true)
      expect(stats.covered!.start.values.length).toBeGreaterThan(0)
      // From oa it is there in full; before, me and nb+ name the node.
      expect(stats.firstKey !== null).toBe(version.keyRange)
      expect(stats.originatingHostId).toMatch(/^[0-9a-f]{32}$/)
    }
  })

  it('counts the rows that Cassandra counted', async () => {
    // many_partitions is written once, without deletes: all SSTables together hold every row once.
    const rows = new Map<string, bigint>()
    for (const sample of samples) {
      if (!sample.name.startsWith('golden.many_partitions/')) continue
      const sstable = await openSSTable(sample.files)
      rows.set(sample.set, (rows.get(sample.set) ?? 0n) + sstable.statistics.totalRows)
      sstable.close()
    }
    expect(rows.size).toBeGreaterThanOrEqual(5)
    for (const count of rows.values()) expect(count).toBeGreaterThanOrEqual(3000n)
  })

  it('has each of its bytes checked from na on', async () => {
    for (const set of ['nb', 'da']) {
      const sample = golden(set, 'static_rows')
      const { descriptor } = sample.files
      const version = versionTraits(descriptor.version, descriptor.format, '')
      const whole = await readFile(path(sample, 'Statistics.db'))
      for (let at = 0; at < whole.length; at += at < 64 ? 1 : 5) {
        // COMPACTION, a sketch of the keys, is not parsed but checked all the same.
        const flipped = Uint8Array.from(whole)
        flipped[at] ^= 1 << (at % 8)
        const error = await refusal(() => parseStatistics(flipped, version, 'f'))
        expect(['CHECKSUM_MISMATCH', 'CORRUPT_SSTABLE'], `byte ${at}`).toContain(error?.code)
      }
    }
  })

  it('ends in a refusal or a record when damaged without checksums, and when cut anywhere', async () => {
    const sample = golden('me', 'static_rows')
    const version = versionTraits('me', 'big', '')
    const whole = await readFile(path(sample, 'Statistics.db'))
    let refused = 0
    for (let at = 0; at < whole.length; at++) {
      for (const value of [0x00, 0xff, whole[at] ^ 0x80]) {
        const changed = Uint8Array.from(whole)
        changed[at] = value
        const error = await refusal(() => parseStatistics(changed, version, 'f'))
        if (error !== null) {
          expect(['CORRUPT_SSTABLE', 'SCHEMA_INVALID']).toContain(error.code)
          refused++
        }
      }
    }
    expect(refused).toBeGreaterThan(100)
    for (let length = 0; length < whole.length; length += 7) {
      const error = await refusal(() => parseStatistics(whole.subarray(0, length), version, 'f'))
      expect(error?.code, `cut to ${length}`).toBe('CORRUPT_SSTABLE')
    }
  })
})

describe('CompressionInfo.db', () => {
  /** A file of this many chunks, each of `stored` bytes and its CRC. */
  async function written(name: string, chunks: number, change: (bytes: Buffer) => void = () => {}) {
    const className = Buffer.from('\0\rLZ4Compressor', 'latin1')
    const bytes = Buffer.alloc(className.length + 4 + 4 + 4 + 8 + 4 + 8 * chunks)
    className.copy(bytes)
    let at = className.length + 4
    at = bytes.writeUInt32BE(4096, at)
    at = bytes.writeUInt32BE(0x7fffffff, at)
    at = bytes.writeBigUInt64BE(BigInt(chunks * 4096 - 1), at)
    at = bytes.writeUInt32BE(chunks, at)
    for (let i = 0; i < chunks; i++) at = bytes.writeBigUInt64BE(BigInt(i * 104), at)
    change(bytes)
    const file = join(folder, name)
    await writeFile(file, bytes)
    const fd = openSync(file, 'r')
    return { fd, file, close: () => closeSync(fd), head: className.length + 4 + 4 + 4 + 8 + 4 }
  }
  const nb = versionTraits('nb', 'big', '')

  it('pages offsets in, whatever the number of chunks', async () => {
    const chunks = 300_000
    const { fd, file, close } = await written('many', chunks)
    const info = await openCompressionInfo(fd, file, nb, chunks * 104)
    expect(info).toMatchObject({ codec: 'LZ4Compressor', chunkLength: 4096, chunkCount: chunks })
    const offsets = new ChunkOffsets(info)
    await offsets.load(0, 64)
    expect(offsets.bytesRead).toBeLessThan(10_000)
    for (let i = 0; i < chunks; i += 997) {
      const to = Math.min(chunks, i + 700)
      await offsets.load(i, to)
      expect(offsets.has(i, to)).toBe(true)
      expect(offsets.offset(i)).toBe(104 * i)
      expect(offsets.storedLength(to - 1)).toBe(100)
    }
    expect((await refusal(() => offsets.load(chunks - 1, chunks + 1)))?.code).toBe('CORRUPT_SSTABLE')
    close()
  })

  it('refuses offsets and counts that make no sense', async () => {
    const chunks = 1000
    const damage: [string, (bytes: Buffer, head: number) => void][] = [
      ['no chunk length', (bytes, head) => bytes.writeUInt32BE(0, head - 20)],
      ['a maximum above the chunk length', (bytes, head) => bytes.writeUInt32BE(5000, head - 16)],
      ['a data length of more chunks', (bytes, head) => bytes.writeBigUInt64BE(5_000_000n, head - 12)],
      ['a negative data length', (bytes, head) => bytes.writeBigInt64BE(-1n, head - 12)],
      ['fewer chunks than listed', (bytes, head) => bytes.writeUInt32BE(999, head - 4)],
      ['the first not at the start', (bytes, head) => bytes.writeBigUInt64BE(1n, head)],
      ['a step back', (bytes, head) => bytes.writeBigUInt64BE(10n, head + 8 * 700)],
      ['an offset beyond the file', (bytes, head) => bytes.writeBigUInt64BE(1n << 40n, head + 8 * 700)],
      ['an offset of 64 bits', (bytes, head) => bytes.writeBigUInt64BE(1n << 63n, head + 8 * 700)],
    ]
    for (const [what, change] of damage) {
      const head = (await written('probe', chunks)).head
      const { fd, file, close } = await written('damaged', chunks, (bytes) => change(bytes, head))
      const error = await refusal(async () => {
        const offsets = new ChunkOffsets(await openCompressionInfo(fd, file, nb, chunks * 104))
        for (let i = 0; i < chunks; i += 100) await offsets.load(i, i + 100)
      })
      expect(error, what).toMatchObject({ code: 'CORRUPT_SSTABLE', file })
      close()
    }
  })

  it('holds the offsets that Cassandra wrote: every chunk inflates', async () => {
    for (const table of ['compress_lz4', 'compress_ratio', 'compress_snappy', 'compress_deflate', 'big_values']) {
      for (const sample of samples.filter(({ set, name }) => set !== 'public' && name.startsWith(`golden.${table}`))) {
        const sstable = await openSSTable(sample.files)
        expect((await readData(sstable)).length, sample.name).toBe(sstable.dataLength)
        sstable.close()
      }
    }
  }, 60_000)
})

describe('CRC.db', () => {
  it('refuses a chunk size or length that does not fit Data.db', async () => {
    const file = join(folder, 'CRC.db')
    for (const [size, bytes] of [
      [0, 12],
      [0xffffffff, 12],
      [16, 4 + 4 * 6],
      [16, 2],
    ]) {
      const content = Buffer.alloc(Math.max(4, bytes))
      content.writeUInt32BE(size)
      await writeFile(file, content.subarray(0, bytes))
      const fd = openSync(file, 'r')
      expect((await refusal(() => openCrcDb(fd, file, 100)))?.code, `${size} ${bytes}`).toBe('CORRUPT_SSTABLE')
      closeSync(fd)
    }
  })
})

describe('Digest.crc32', () => {
  it('tells when Data.db differs', async () => {
    const file = join(folder, 'Data.db')
    await writeFile(file, Buffer.alloc(3_000_000, 7))
    const handle = await open(file, 'r')
    const digest = crc32(Buffer.alloc(3_000_000, 7))
    let seen = 0
    await verifyDigest(handle.fd, file, 3_000_000, digest, (bytes) => {
      seen += bytes
    })
    expect(seen).toBe(3_000_000)
    expect(await refusal(() => verifyDigest(handle.fd, file, 3_000_000, digest ^ 1))).toMatchObject({
      code: 'CHECKSUM_MISMATCH',
      file,
    })
    await handle.close()
    for (const text of ['', 'x', '-1', '4294967296', '1 2']) {
      expect((await refusal(() => parseDigest(text, 'f')))?.code, text).toBe('CORRUPT_SSTABLE')
    }
    expect(parseDigest(' 4294967295\n', 'f')).toBe(4294967295)
  })
})

describe('an open SSTable', () => {
  const isOpen = async (sstable: SSTable) => {
    const before = await stat(sstable.file)
    const now = await new Promise<number | null>((resolve) => {
      import('node:fs').then((fs) => fs.fstat(sstable.dataFd, (error, stats) => resolve(error ? null : stats.ino)))
    })
    return now === before.ino
  }

  it('stays open until the opener and all that retain it are done', async () => {
    const sstable = await openSSTable(golden('da', 'wide').files)
    sstable.retain()
    sstable.retain()
    sstable.close()
    sstable.close()
    expect(await isOpen(sstable)).toBe(true)
    sstable.release()
    expect(sstable.closed).toBe(false)
    expect(sstable.descriptorCount).toBeGreaterThanOrEqual(5)
    sstable.release()
    expect(sstable.closed).toBe(true)
    expect(sstable.descriptorCount).toBe(0)
    await expect.poll(() => isOpen(sstable)).toBe(false)
    expect((await refusal(() => sstable.retain()))?.code).toBe('INTERNAL')
    expect((await refusal(() => sstable.release()))?.code).toBe('INTERNAL')
  })

  it('is plain data to a worker thread', async () => {
    for (const table of ['wide', 'compress_none']) {
      const sstable = await openSSTable(golden('da', table).files)
      const { dataFd, statistics, compression, crc, partitions } = sstable
      expect(structuredClone(sstable)).toMatchObject({ dataFd, statistics, compression, crc, partitions })
      sstable.close()
    }
  })

  it('names a file that went away', async () => {
    const { descriptor, components } = golden('nb', 'wide').files
    const gone = { descriptor: { ...descriptor, directory: folder }, components }
    expect(await refusal(() => openSSTable(gone))).toMatchObject({
      code: 'MISSING_COMPONENT',
      file: join(folder, `${descriptor.prefix}Data.db`),
    })
  })
})
