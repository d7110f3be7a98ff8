// Compressors of output buffers: LZ4 frames (lz4-napi) and Zstandard (node:zlib, where this Node has it: 22.15 and later; else
// @mongodb-js/zstd). All run in the thread pool, so the buffers of one batch are compressed at once beside the scan.

import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { compressFrame } from 'lz4-napi'
import { SluiceError } from '../storage/errors.ts'

export const COMPRESSIONS = ['none', 'lz4', 'zstd'] as const
export type Compression = (typeof COMPRESSIONS)[number]

/** One buffer in, one frame out. The input is not to change until then. */
export type Compress = (bytes: Uint8Array) => Promise<Uint8Array>

/** Level of node:zlib; the fallback library has this one and no other. */
const ZSTD_LEVEL = 3

export const compressLz4Frame: Compress = (bytes) => compressFrame(bytes)

let zstd: Promise<Compress> | undefined

export const compressZstd: Compress = async (bytes) => {
  zstd ??= findZstd()
  return (await zstd)(bytes)
}

async function findZstd(): Promise<Compress> {
  if (typeof zlib.zstdCompress === 'function') {
    const compress = promisify<Uint8Array, zlib.ZstdOptions, Buffer>(zlib.zstdCompress)
    const options = { params: { [zlib.constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } }
    return (bytes) => compress(bytes, options)
  }
  const { compress } = await import('@mongodb-js/zstd').catch((cause) => {
    throw new SluiceError(
      'BAD_PARAMETER',
      {
        parameter: 'compression',
        value: 'zstd',
        reason: 'no Zstandard library for this platform',
        hint: 'use Node 22.15 or later',
      },
      cause,
    )
  })
  return (bytes) => compress(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
}
