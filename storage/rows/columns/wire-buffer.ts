// A growing byte buffer in the wire's byte order (big-endian), for canonical values; used again by setting length to 0.

import { SluiceError } from '../../errors.ts'
import { doubled, MAX_OFFSET } from './buffers.ts'

export interface WireBuffer {
  bytes: Uint8Array
  view: DataView
  /** Bytes written. */
  length: number
}

export function createWireBuffer(capacity = 1024): WireBuffer {
  return wireBufferOver(new Uint8Array(capacity))
}

/** Writes into these bytes, and into larger ones of its own when they are full. */
export function wireBufferOver(bytes: Uint8Array): WireBuffer {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), length: 0 }
}

/** Makes room for n more bytes and takes them; where they begin. VALUE_TOO_LARGE beyond 2^31 - 1 bytes in all. */
export function take(out: WireBuffer, n: number): number {
  const at = out.length
  const end = at + n
  if (end > out.bytes.length) {
    if (end > MAX_OFFSET) throw new SluiceError('VALUE_TOO_LARGE', { limit: MAX_OFFSET, reason: 'wire bytes' })
    const larger = new Uint8Array(Math.min(doubled(out.bytes.length, end), MAX_OFFSET))
    larger.set(out.bytes.subarray(0, at))
    out.bytes = larger
    out.view = new DataView(out.bytes.buffer)
  }
  out.length = end
  return at
}

export function putInt32(out: WireBuffer, value: number): void {
  const at = take(out, 4)
  out.view.setInt32(at, value)
}

/** The bytes, in their order. */
export function putBytes(out: WireBuffer, bytes: Uint8Array, from: number, to: number): void {
  const at = take(out, to - from)
  if (to - from > 48) out.bytes.set(bytes.subarray(from, to), at)
  else for (let i = from; i < to; i++) out.bytes[at + i - from] = bytes[i]
}

/** A little-endian value as a big-endian one. */
export function putReversed(out: WireBuffer, bytes: Uint8Array, from: number, width: number): void {
  const at = take(out, width)
  if (width === 4) {
    out.view.setInt32(at, littleInt32(bytes, from))
  } else if (width === 8) {
    out.view.setInt32(at, littleInt32(bytes, from + 4))
    out.view.setInt32(at + 4, littleInt32(bytes, from))
  } else {
    for (let i = 0; i < width; i++) out.bytes[at + width - 1 - i] = bytes[from + i]
  }
}

export function littleInt32(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)
}

/** Bytes of an unsigned vint with these halves: 7 bits a byte up to 8 bytes, else 9 (o.a.c.utils.vint.VIntCoding). */
function uvintSize(hi: number, lo: number): number {
  const bits = hi === 0 ? 32 - Math.clz32(lo) : 64 - Math.clz32(hi)
  return bits > 56 ? 9 : Math.max(1, Math.ceil(bits / 7))
}

/** An unsigned vint, shortest form, of a value given as int32 halves. */
export function putUvint(out: WireBuffer, hi: number, lo: number): void {
  const size = uvintSize(hi, lo)
  const at = take(out, size)
  for (let i = size - 1; i >= 0; i--) {
    out.bytes[at + i] = lo
    lo = (lo >>> 8) | (hi << 24)
    hi >>>= 8
  }
  // size - 1 leading ones announce the further bytes; with 9 the first byte has no value bits.
  out.bytes[at] |= size === 9 ? 0xff : 0xff << (9 - size)
}

/** A signed vint (zig-zag) of a value given as int32 halves. */
export function putVint(out: WireBuffer, hi: number, lo: number): void {
  const sign = hi >> 31
  putUvint(out, ((hi << 1) | (lo >>> 31)) ^ sign, (lo << 1) ^ sign)
}

/** Makes room for a uvint before the bytes written since `start`, and writes their number there. */
export function prefixUvint(out: WireBuffer, start: number): void {
  const n = out.length - start
  const size = uvintSize(0, n)
  take(out, size)
  out.bytes.copyWithin(start + size, start, start + n)
  const end = out.length
  out.length = start
  putUvint(out, 0, n)
  out.length = end
}
