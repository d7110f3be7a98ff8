// murmur3_x64_128 with seed 0 as Cassandra computes it (org.apache.cassandra.utils.MurmurHash.hash3_x64_128): the tail bytes
// (length mod 16) are taken as *signed*, so a byte >= 0x80 also flips every bit above it. Whole 16-byte blocks are as in the
// original. 64-bit numbers are two Int32 halves throughout: with BigInt the same hash is 13 times slower.

/** High 32 bits of the unsigned 64-bit product of two 32-bit numbers. */
function mulHigh(a: number, b: number): number {
  const aLow = a & 0xffff
  const aHigh = a >>> 16
  const bLow = b & 0xffff
  const bHigh = b >>> 16
  const low = Math.imul(aLow, bLow)
  const cross1 = Math.imul(aHigh, bLow)
  const cross2 = Math.imul(aLow, bHigh)
  const middle = (low >>> 16) + (cross1 & 0xffff) + (cross2 & 0xffff)
  return (Math.imul(aHigh, bHigh) + (cross1 >>> 16) + (cross2 >>> 16) + (middle >>> 16)) | 0
}

// c1 = 0x87c37b91114253d5, c2 = 0x4cf5ad432745937f; the two multipliers of fmix64.
const C1_HIGH = 0x87c37b91 | 0
const C1_LOW = 0x114253d5
const C2_HIGH = 0x4cf5ad43
const C2_LOW = 0x2745937f
const F1_HIGH = 0xff51afd7 | 0
const F1_LOW = 0xed558ccd | 0
const F2_HIGH = 0xc4ceb9fe | 0
const F2_LOW = 0x1a85ec53

function readLittle(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)
}

/**
 * Mixes whole 16-byte blocks into the state h1, h2. A function of its own because V8 inlines mulHigh only up to a budget per
 * function, and most keys have no whole block.
 */
function mixBlocks(bytes: Uint8Array, start: number, end: number, state: Int32Array): void {
  let h1h = 0
  let h1l = 0
  let h2h = 0
  let h2l = 0
  for (let at = start; at < end; at += 16) {
    let l = readLittle(bytes, at)
    let h = readLittle(bytes, at + 4)
    // k1 = rotl(k1 * c1, 31) * c2
    let t = (mulHigh(l, C1_LOW) + Math.imul(h, C1_LOW) + Math.imul(l, C1_HIGH)) | 0
    l = Math.imul(l, C1_LOW)
    h = (t << 31) | (l >>> 1)
    l = (l << 31) | (t >>> 1)
    h1h ^= (mulHigh(l, C2_LOW) + Math.imul(h, C2_LOW) + Math.imul(l, C2_HIGH)) | 0
    h1l ^= Math.imul(l, C2_LOW)
    // h1 = (rotl(h1, 27) + h2) * 5 + 0x52dce729, times 5 being four times and once more
    h = (h1h << 27) | (h1l >>> 5)
    l = (h1l << 27) | (h1h >>> 5)
    h1l = (l + h2l) | 0
    h1h = (h + h2h + (h1l >>> 0 < l >>> 0 ? 1 : 0)) | 0
    l = h1l << 2
    h = (h1h << 2) | (h1l >>> 30)
    h1l = (l + h1l) | 0
    h1h = (h + h1h + (h1l >>> 0 < l >>> 0 ? 1 : 0)) | 0
    l = h1l
    h1l = (l + 0x52dce729) | 0
    h1h = (h1h + (h1l >>> 0 < l >>> 0 ? 1 : 0)) | 0

    l = readLittle(bytes, at + 8)
    h = readLittle(bytes, at + 12)
    // k2 = rotl(k2 * c2, 33) * c1
    t = (mulHigh(l, C2_LOW) + Math.imul(h, C2_LOW) + Math.imul(l, C2_HIGH)) | 0
    l = Math.imul(l, C2_LOW)
    h = (l << 1) | (t >>> 31)
    l = (t << 1) | (l >>> 31)
    h2h ^= (mulHigh(l, C1_LOW) + Math.imul(h, C1_LOW) + Math.imul(l, C1_HIGH)) | 0
    h2l ^= Math.imul(l, C1_LOW)
    // h2 = (rotl(h2, 31) + h1) * 5 + 0x38495ab5
    h = (h2h << 31) | (h2l >>> 1)
    l = (h2l << 31) | (h2h >>> 1)
    h2l = (l + h1l) | 0
    h2h = (h + h1h + (h2l >>> 0 < l >>> 0 ? 1 : 0)) | 0
    l = h2l << 2
    h = (h2h << 2) | (h2l >>> 30)
    h2l = (l + h2l) | 0
    h2h = (h + h2h + (h2l >>> 0 < l >>> 0 ? 1 : 0)) | 0
    l = h2l
    h2l = (l + 0x38495ab5) | 0
    h2h = (h2h + (h2l >>> 0 < l >>> 0 ? 1 : 0)) | 0
  }
  state[0] = h1h
  state[1] = h1l
  state[2] = h2h
  state[3] = h2l
}

/**
 * Hashes bytes[offset, offset + length) and leaves both signed 64-bit results in `out` as four Int32: h1 high, h1 low,
 * h2 high, h2 low. The token of a key is h1, normalised (see partitioner.ts); the bloom filter uses h1 and h2 as they are.
 */
export function murmur3(bytes: Uint8Array, offset: number, length: number, out: Int32Array): void {
  let h1h = 0
  let h1l = 0
  let h2h = 0
  let h2l = 0
  let kh = 0
  let kl = 0
  let t = 0
  const at = offset + (length & ~15)
  if (at > offset) {
    mixBlocks(bytes, offset, at, out)
    h1h = out[0]
    h1l = out[1]
    h2h = out[2]
    h2l = out[3]
  }

  const rest = length & 15
  if (rest > 8) {
    kl = 0
    kh = 0
    for (let i = rest - 1; i >= 8; i--) {
      // From the top down: a negative byte inverts what lies above it.
      const b = (bytes[at + i] << 24) >> 24
      kh = (kh << 8) | (kl >>> 24)
      kl = kl << 8
      kl ^= b
      kh ^= b >> 31
    }
    t = (mulHigh(kl, C2_LOW) + Math.imul(kh, C2_LOW) + Math.imul(kl, C2_HIGH)) | 0
    kl = Math.imul(kl, C2_LOW)
    kh = (kl << 1) | (t >>> 31)
    kl = (t << 1) | (kl >>> 31)
    t = (mulHigh(kl, C1_LOW) + Math.imul(kh, C1_LOW) + Math.imul(kl, C1_HIGH)) | 0
    h2h ^= t
    h2l ^= Math.imul(kl, C1_LOW)
  }
  if (rest >= 8) {
    // All eight bytes there, the usual case (bigint keys): each byte is inverted by the parity of the negative ones below it,
    // which is the xor of their sign words.
    const b0 = (bytes[at] << 24) >> 24
    const b1 = (bytes[at + 1] << 24) >> 24
    const b2 = (bytes[at + 2] << 24) >> 24
    const b3 = (bytes[at + 3] << 24) >> 24
    const b4 = (bytes[at + 4] << 24) >> 24
    const b5 = (bytes[at + 5] << 24) >> 24
    const b6 = (bytes[at + 6] << 24) >> 24
    kl = b0 ^ (b1 << 8) ^ (b2 << 16) ^ (b3 << 24)
    kh = ((b0 ^ b1 ^ b2 ^ b3) >> 31) ^ b4 ^ (b5 << 8) ^ (b6 << 16) ^ (bytes[at + 7] << 24)
  } else {
    kl = 0
    kh = 0
    for (let i = rest - 1; i >= 0; i--) {
      const b = (bytes[at + i] << 24) >> 24
      kh = (kh << 8) | (kl >>> 24)
      kl = kl << 8
      kl ^= b
      kh ^= b >> 31
    }
  }
  if (rest > 0) {
    t = (mulHigh(kl, C1_LOW) + Math.imul(kh, C1_LOW) + Math.imul(kl, C1_HIGH)) | 0
    kl = Math.imul(kl, C1_LOW)
    kh = (t << 31) | (kl >>> 1)
    kl = (kl << 31) | (t >>> 1)
    t = (mulHigh(kl, C2_LOW) + Math.imul(kh, C2_LOW) + Math.imul(kl, C2_HIGH)) | 0
    h1h ^= t
    h1l ^= Math.imul(kl, C2_LOW)
  }

  h1l ^= length
  h2l ^= length
  t = h1l
  h1l = (h1l + h2l) | 0
  h1h = (h1h + h2h + (h1l >>> 0 < t >>> 0 ? 1 : 0)) | 0
  t = h2l
  h2l = (h2l + h1l) | 0
  h2h = (h2h + h1h + (h2l >>> 0 < t >>> 0 ? 1 : 0)) | 0

  // fmix64: x ^= x >>> 33, multiply, again, x ^= x >>> 33. The shift by 33 leaves the high half alone.
  h1l ^= h1h >>> 1
  t = (mulHigh(h1l, F1_LOW) + Math.imul(h1h, F1_LOW) + Math.imul(h1l, F1_HIGH)) | 0
  h1l = Math.imul(h1l, F1_LOW) ^ (t >>> 1)
  h1h = (mulHigh(h1l, F2_LOW) + Math.imul(t, F2_LOW) + Math.imul(h1l, F2_HIGH)) | 0
  h1l = Math.imul(h1l, F2_LOW) ^ (h1h >>> 1)
  h2l ^= h2h >>> 1
  t = (mulHigh(h2l, F1_LOW) + Math.imul(h2h, F1_LOW) + Math.imul(h2l, F1_HIGH)) | 0
  h2l = Math.imul(h2l, F1_LOW) ^ (t >>> 1)
  h2h = (mulHigh(h2l, F2_LOW) + Math.imul(t, F2_LOW) + Math.imul(h2l, F2_HIGH)) | 0
  h2l = Math.imul(h2l, F2_LOW) ^ (h2h >>> 1)

  t = h1l
  h1l = (h1l + h2l) | 0
  h1h = (h1h + h2h + (h1l >>> 0 < t >>> 0 ? 1 : 0)) | 0
  t = h2l
  h2l = (h2l + h1l) | 0
  h2h = (h2h + h1h + (h2l >>> 0 < t >>> 0 ? 1 : 0)) | 0

  out[0] = h1h
  out[1] = h1l
  out[2] = h2h
  out[3] = h2l
}
