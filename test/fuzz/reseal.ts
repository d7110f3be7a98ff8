// Damage that passes the checksums, as bad memory in the writer would make it: the checksums are computed behind the damage.

import { codecFor } from '../../storage/bytes/codecs.ts'
import { crc32 } from '../../storage/bytes/crc32.ts'
import { damage } from './damage.ts'
import type { Random } from './random.ts'

/**
 * Damages the rows of Data.db, or where its codec has no compressor here, the bytes of one chunk as stored. The checksums, and the
 * chunks of CompressionInfo.db, are made anew.
 */
export async function resealData(files: Map<string, Buffer>, prefix: string, random: Random): Promise<string> {
  const name = `${prefix}Data.db`
  const infoName = `${prefix}CompressionInfo.db`
  const info = files.get(infoName)
  if (info === undefined) {
    const { bytes, kind } = damage(files.get(name)!, random)
    files.set(name, bytes)
    sealCrcDb(files, prefix)
    return kind
  }
  const { offsets, codec, fieldsAt, chunkLength, dataLength, isOldest } = readInfo(info)
  const data = Buffer.from(files.get(name)!)
  const hasRawChunks = !isOldest && info.readUInt32BE(fieldsAt + 4) < 0x7fffffff
  if (codec === 'LZ4Compressor' && !hasRawChunks) {
    const inflate = codecFor(codec, infoName)
    const plain = Buffer.alloc(dataLength)
    for (let at = 0, i = 0; at < dataLength; at += chunkLength, i++) {
      const stored = data.subarray(offsets[i], (offsets[i + 1] ?? data.length) - 4)
      await inflate(stored, plain, at, Math.min(chunkLength, dataLength - at))
    }
    const { bytes, kind } = damage(plain, random)
    const chunks: Buffer[] = []
    const header = Buffer.from(info.subarray(0, fieldsAt + (isOldest ? 16 : 20)))
    const starts: bigint[] = []
    let length = 0
    for (let at = 0; at < bytes.length || at === 0; at += chunkLength) {
      const chunk = lz4Literals(bytes.subarray(at, at + chunkLength))
      const sum = Buffer.alloc(4)
      sum.writeUInt32BE(crc32(chunk))
      starts.push(BigInt(length))
      chunks.push(chunk, sum)
      length += chunk.length + 4
    }
    header.writeBigUInt64BE(BigInt(bytes.length), header.length - 12)
    header.writeUInt32BE(starts.length, header.length - 4)
    const list = Buffer.alloc(8 * starts.length)
    starts.forEach((start, i) => {
      list.writeBigUInt64BE(start, 8 * i)
    })
    files.set(name, Buffer.concat(chunks))
    files.set(infoName, Buffer.concat([header, list]))
    return kind
  }
  const chunk = random.below(offsets.length)
  const end = offsets[chunk + 1] ?? data.length
  const body = data.subarray(offsets[chunk], end - 4)
  const { bytes, kind } = damage(body, random)
  // The offsets stay: the damaged chunk must have the length it had.
  bytes.copy(body)
  body.fill(0, Math.min(bytes.length, body.length))
  data.writeUInt32BE(crc32(body), end - 4)
  files.set(name, data)
  return `${kind} (as stored)`
}

interface Info {
  codec: string
  /** Where the chunk length stands. */
  fieldsAt: number
  chunkLength: number
  dataLength: number
  offsets: number[]
  /** Before na: no maximum compressed length. */
  isOldest: boolean
}

/** CompressionInfo.db of a golden set: whole, so that nothing is checked. */
function readInfo(info: Buffer): Info {
  const codec = info.toString('latin1', 2, 2 + info.readUInt16BE(0))
  let at = 2 + codec.length
  const options = info.readUInt32BE(at)
  at += 4
  for (let i = 0; i < 2 * options; i++) at += 2 + info.readUInt16BE(at)
  for (const length of [16, 20]) {
    const count = info.readUInt32BE(at + length - 4)
    if (info.length !== at + length + 8 * count) continue
    const dataLength = Number(info.readBigUInt64BE(at + length - 12))
    const offsets = Array.from({ length: count }, (_, i) => Number(info.readBigUInt64BE(at + length + 8 * i)))
    return { codec, fieldsAt: at, chunkLength: info.readUInt32BE(at), dataLength, offsets, isOldest: length === 16 }
  }
  throw new Error('CompressionInfo.db of a golden set cannot be read')
}

/** As Cassandra's LZ4Compressor stores a chunk: its length, little-endian, and a block; here of literals alone. */
function lz4Literals(bytes: Buffer): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt32LE(bytes.length)
  const lengths: number[] = [Math.min(15, bytes.length) << 4]
  if (bytes.length >= 15) {
    let rest = bytes.length - 15
    for (; rest >= 255; rest -= 255) lengths.push(255)
    lengths.push(rest)
  }
  return Buffer.concat([head, Buffer.from(lengths), bytes])
}

/** CRC.db for a damaged chunk size, with right checksums. */
export function resealCrcDb(files: Map<string, Buffer>, prefix: string, random: Random): string {
  sealCrcDb(files, prefix, 1 + random.below(200_000))
  return 'another chunk size'
}

function sealCrcDb(files: Map<string, Buffer>, prefix: string, chunkSize?: number): void {
  const name = `${prefix}CRC.db`
  const data = files.get(`${prefix}Data.db`)!
  const size = chunkSize ?? files.get(name)!.readUInt32BE(0)
  const sums = [size]
  for (let at = 0; at < data.length; at += size) sums.push(crc32(data.subarray(at, at + size)))
  const bytes = Buffer.alloc(4 * sums.length)
  sums.forEach((sum, i) => {
    bytes.writeUInt32BE(sum, 4 * i)
  })
  files.set(name, bytes)
}

/** Damages one component of a checksummed Statistics.db in place, and makes its CRC32 anew. */
export function resealStatistics(files: Map<string, Buffer>, name: string, random: Random): string {
  const bytes = Buffer.from(files.get(name)!)
  const count = bytes.readUInt32BE(0)
  const offsets = Array.from({ length: count }, (_, i) => bytes.readUInt32BE(12 + 8 * i))
  const i = random.below(count)
  const end = (i + 1 < count ? offsets[i + 1] : bytes.length) - 4
  const body = bytes.subarray(offsets[i], end)
  const damaged = damage(body, random)
  damaged.bytes.copy(body)
  bytes.writeUInt32BE(crc32(body), end)
  files.set(name, bytes)
  return damaged.kind
}
