import { describe, expect, it } from 'vitest'
import {
  readUvint,
  readUvintBig,
  readUvintHi,
  readUvintLo,
  readVint,
  readVintBig,
  readVintHi,
  readVintLo,
  vintSize,
} from '../../../storage/bytes/vint.ts'

/** The layout by its definition, over BigInt: n leading ones, then the value in the remaining 7 - n + 8n bits. */
function encode(value: bigint): Uint8Array {
  for (let extra = 0; extra <= 8; extra++) {
    const bits = extra === 8 ? 64 : 7 + 7 * extra
    if (value >> BigInt(bits) !== 0n) continue
    const out = new Uint8Array(extra + 1)
    for (let i = 0; i < extra; i++) out[extra - i] = Number((value >> BigInt(8 * i)) & 0xffn)
    const ones = (0xff00 >> extra) & 0xff
    out[0] = extra === 8 ? 0xff : ones | Number(value >> BigInt(8 * extra))
    return out
  }
  throw new Error('not 64 bits')
}

const zigzag = (v: bigint) => BigInt.asUintN(64, (v << 1n) ^ (v >> 63n))

function* values(): Generator<bigint> {
  for (let bit = 0n; bit < 64n; bit++) {
    for (const d of [-2n, -1n, 0n, 1n, 2n]) yield BigInt.asUintN(64, (1n << bit) + d)
  }
  let x = 0x9e3779b97f4a7c15n
  for (let i = 0; i < 2000; i++) {
    x = BigInt.asUintN(64, x * 6364136223846793005n + 1442695040888963407n)
    yield x >> BigInt(i % 64)
  }
}

describe('vint', () => {
  it('reads the examples of VIntCoding', () => {
    // Class comment and unit test of o.a.c.utils.vint.VIntCoding
    expect(readUvint(Uint8Array.of(0x81, 0x00), 0)).toBe(256)
    expect(readVint(Uint8Array.of(0x01), 0)).toBe(-1)
    expect(readVint(Uint8Array.of(0x80, 0xff), 0)).toBe(-128)
    expect(readUvintBig(new Uint8Array(9).fill(0xff), 0)).toBe(0xffffffffffffffffn)
  })

  it('reads every size, at any position, in all four forms', () => {
    for (const value of values()) {
      const bytes = encode(value)
      const at = Number(value & 3n)
      const buffer = new Uint8Array(at + bytes.length + 3).fill(0xa5)
      buffer.set(bytes, at)
      expect(vintSize(buffer[at])).toBe(bytes.length)
      expect(readUvintBig(buffer, at)).toBe(value)
      expect(readUvintHi(buffer, at)).toBe(Number(BigInt.asIntN(32, value >> 32n)))
      expect(readUvintLo(buffer, at)).toBe(Number(BigInt.asIntN(32, value)))
      if (value <= BigInt(Number.MAX_SAFE_INTEGER)) expect(readUvint(buffer, at)).toBe(Number(value))
      else expect(readUvint(buffer, at)).toBeGreaterThan(Number.MAX_SAFE_INTEGER)

      const signed = BigInt.asIntN(64, value)
      const zz = encode(zigzag(signed))
      const target = new Uint8Array(zz.length + 2).fill(0x5a)
      target.set(zz, 1)
      expect(readVintBig(target, 1)).toBe(signed)
      expect(readVintHi(target, 1)).toBe(Number(signed >> 32n))
      expect(readVintLo(target, 1)).toBe(Number(BigInt.asIntN(32, signed)))
      if (signed >= -(2n ** 52n) && signed < 2n ** 52n) expect(readVint(target, 1)).toBe(Number(signed))
    }
  })

  it('reads 32-bit deltas that were sign-extended to nine bytes', () => {
    const bytes = encode(BigInt.asUintN(64, -5n))
    expect(bytes.length).toBe(9)
    expect(readUvintLo(bytes, 0)).toBe(-5)
  })
})
