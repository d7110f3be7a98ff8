// Decompression of one stored chunk (Cassandra: ICompressor implementations in io/compress). Chunks are 4 KiB to some MiB, so
// a synchronous call per chunk is cheaper than a thread hop (30 us each, measured). Every result is length-checked: lz4-napi and
// snappy trust a length prefix in the data, so the prefix is compared with what the chunk must hold before the call.

import * as zlib from 'node:zlib'
import { uncompressSync as lz4UncompressSync } from 'lz4-napi'
import { uncompressSync as snappyUncompressSync } from 'snappy'
import { SluiceError } from '../errors.ts'
import { decompressLz4, fitsLz4 } from './lz4-block.ts'

export type InflateResult = string | undefined

/**
 * Inflates `source` (one stored chunk, without its CRC) into `target` at `at`. `length` is what it must inflate to, in bytes.
 * Returns a reason when it does not; the caller adds file and offset.
 */
export type Inflate = (
  source: Buffer,
  target: Uint8Array,
  at: number,
  length: number,
) => InflateResult | Promise<InflateResult>

/** The codec of a CompressionInfo.db by its simple class name. UNSUPPORTED_CODEC for any other. */
export function codecFor(className: string, file: string): Inflate {
  const name = className.slice(className.lastIndexOf('.') + 1)
  const codec = CODECS[name]
  if (codec === undefined) {
    throw new SluiceError('UNSUPPORTED_CODEC', { file, found: className, expected: Object.keys(CODECS).join(', ') })
  }
  return codec
}

function store(output: Uint8Array, target: Uint8Array, at: number, length: number): string | undefined {
  if (output.length !== length) return `a chunk inflates to ${output.length} bytes in place of ${length}`
  target.set(output, at)
  return undefined
}

const CODECS: Record<string, Inflate> = {
  LZ4Compressor(source, target, at, length) {
    if (source.length < 4) return 'an LZ4 chunk is shorter than its length field'
    const stated = source.readUInt32LE(0)
    if (stated !== length) return `an LZ4 chunk states ${stated} bytes in place of ${length}`
    if (length === 0) return undefined
    if (!fitsLz4(source.length, length)) return store(lz4UncompressSync(source), target, at, length)
    return decompressLz4(source, 4, target, at, length) ? undefined : 'an LZ4 chunk cannot be inflated'
  },
  SnappyCompressor(source, target, at, length) {
    const stated = snappyLength(source)
    if (stated !== length) return `a Snappy chunk states ${stated} bytes in place of ${length}`
    // copyOutputData: three times as fast as handing out external memory, measured.
    return store(snappyUncompressSync(source, { asBuffer: true, copyOutputData: true }) as Buffer, target, at, length)
  },
  DeflateCompressor(source, target, at, length) {
    return store(zlib.inflateSync(source, { maxOutputLength: Math.max(1, length) }), target, at, length)
  },
  NoopCompressor(source, target, at, length) {
    return store(source, target, at, length)
  },
  ZstdCompressor(source, target, at, length) {
    const stated = zstdLength(source)
    if (stated !== undefined && stated !== length)
      return `a Zstandard frame states ${stated} bytes in place of ${length}`
    return zstd(source, target, at, length)
  },
}

/** node:zlib has Zstandard from Node 22.15 on; before, @mongodb-js/zstd has it, in its own threads only. */
const zstd: Inflate =
  typeof zlib.zstdDecompressSync === 'function'
    ? (source, target, at, length) =>
        store(zlib.zstdDecompressSync(source, { maxOutputLength: Math.max(1, length) }), target, at, length)
    : async (source, target, at, length) => {
        const { decompress } = await import('@mongodb-js/zstd')
        // The library allocates what the frame asks for, so a frame that does not say how much is not given to it.
        if (zstdLength(source) === undefined) return 'a Zstandard frame without its length'
        return store(await decompress(source), target, at, length)
      }

/** Frame_Content_Size of a Zstandard frame (RFC 8878, 3.1.1.1), or undefined where the frame does not state it. */
function zstdLength(source: Buffer): number | undefined {
  if (source.length < 6 || source.readUInt32LE(0) !== 0xfd2fb528) return -1
  const descriptor = source[4]
  const single = (descriptor & 0x20) !== 0
  const at = 5 + (single ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]
  switch (descriptor >> 6) {
    case 0:
      return single ? source[at] : undefined
    case 1:
      return at + 2 <= source.length ? source.readUInt16LE(at) + 256 : -1
    case 2:
      return at + 4 <= source.length ? source.readUInt32LE(at) : -1
    default:
      return at + 8 <= source.length ? Number(source.readBigUInt64LE(at)) : -1
  }
}

/** The uncompressed length at the head of a raw Snappy block (format description, section 1), or -1. */
function snappyLength(source: Uint8Array): number {
  let value = 0
  for (let i = 0; i < 5 && i < source.length; i++) {
    value += (source[i] & 0x7f) * 2 ** (7 * i)
    if (source[i] < 0x80) return value
  }
  return -1
}
