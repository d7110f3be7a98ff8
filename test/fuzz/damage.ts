// Ways to damage the bytes of one file.

import type { Random } from './random.ts'

/** Values that lengths, counts and offsets break on, as big-endian bytes. */
const EXTREMES = [
  '00000000',
  'ffffffff',
  '7fffffff',
  '80000000',
  '00000001',
  '0000ffff',
  '0000000000000000',
  'ffffffffffffffff',
  '7fffffffffffffff',
  '8000000000000000',
  'ffff',
  'ff',
  '80',
  '00',
].map((hex) => Buffer.from(hex, 'hex'))

const MAX_BLOCK = 4096

type Damage = (bytes: Buffer, random: Random) => Buffer

const DAMAGES: Record<string, Damage> = {
  'flip bits'(bytes, random) {
    for (let n = 1 + random.below(8); n > 0; n--) bytes[random.below(bytes.length)] ^= 1 << random.below(8)
    return bytes
  },
  'flip one bit'(bytes, random) {
    bytes[random.below(bytes.length)] ^= 1 << random.below(8)
    return bytes
  },
  'set bytes'(bytes, random) {
    for (let n = 1 + random.below(4); n > 0; n--) bytes[random.below(bytes.length)] = random.below(256)
    return bytes
  },
  'set an extreme'(bytes, random) {
    const value = random.pick(EXTREMES)
    value.copy(bytes, random.below(bytes.length))
    return bytes
  },
  truncate: (bytes, random) => bytes.subarray(0, random.below(bytes.length)),
  // Where lengths of whole blocks are likely to hide it.
  'truncate at a block': (bytes, random) => {
    const block = random.pick([1, 4, 8, 512, 4096, 16384])
    return bytes.subarray(0, block * random.below(Math.ceil(bytes.length / block)))
  },
  extend: (bytes, random) => {
    const more = Buffer.alloc(1 + random.below(MAX_BLOCK))
    if (random.below(2) === 0) for (let i = 0; i < more.length; i++) more[i] = random.below(256)
    return Buffer.concat([bytes, more])
  },
  'zero a block'(bytes, random) {
    const at = random.below(bytes.length)
    bytes.fill(0, at, Math.min(bytes.length, at + 1 + random.below(MAX_BLOCK)))
    return bytes
  },
  'copy a block'(bytes, random) {
    const from = random.below(bytes.length)
    bytes.copyWithin(random.below(bytes.length), from, from + 1 + random.below(MAX_BLOCK))
    return bytes
  },
  'cut a block out'(bytes, random) {
    const from = random.below(bytes.length)
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + 1 + random.below(64))])
  },
  'insert a block'(bytes, random) {
    const at = random.below(bytes.length)
    return Buffer.concat([bytes.subarray(0, at), Buffer.alloc(1 + random.below(64)), bytes.subarray(at)])
  },
}

const NAMES = Object.keys(DAMAGES)

/** A damaged copy, and the name of what was done. */
export function damage(bytes: Buffer, random: Random): { bytes: Buffer; kind: string } {
  if (bytes.length === 0) return { bytes: Buffer.from([random.below(256)]), kind: 'extend' }
  const kind = random.pick(NAMES)
  return { bytes: DAMAGES[kind](Buffer.from(bytes), random), kind }
}
