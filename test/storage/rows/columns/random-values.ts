// Random CQL types, and random values of them in canonical wire form, with an encoder of its own: what the builders and
// the wire writer must agree with. Deterministic by seed.

import type { CqlType, ScalarKind } from '../../../../storage/schema/cql-type.ts'
import { fixedLength } from '../../../../storage/schema/fixed-length.ts'

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomSource(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const SCALARS: ScalarKind[] = [
  'ascii',
  'bigint',
  'blob',
  'boolean',
  'counter',
  'date',
  'decimal',
  'double',
  'duration',
  'float',
  'inet',
  'int',
  'smallint',
  'text',
  'time',
  'timestamp',
  'timeuuid',
  'tinyint',
  'uuid',
  'varint',
]

const WIDTHS: Partial<Record<ScalarKind, number>> = {
  bigint: 8,
  counter: 8,
  date: 4,
  double: 8,
  float: 4,
  int: 4,
  smallint: 2,
  time: 8,
  timestamp: 8,
  timeuuid: 16,
  tinyint: 1,
  uuid: 16,
}

const pick = <T>(random: () => number, values: readonly T[]): T => values[Math.floor(random() * values.length)]
const below = (random: () => number, n: number): number => Math.floor(random() * n)

export function randomType(random: () => number, depth: number): CqlType {
  if (depth === 0 || random() < 0.3) return { kind: pick(random, SCALARS) }
  const inner = (): CqlType => randomType(random, depth - 1)
  const several = (): CqlType[] => Array.from({ length: 1 + below(random, 4) }, inner)
  switch (below(random, 6)) {
    case 0:
      return { kind: 'list', element: inner(), frozen: true }
    case 1:
      return { kind: 'set', element: inner(), frozen: true }
    case 2:
      return { kind: 'map', key: inner(), value: inner(), frozen: true }
    case 3:
      return { kind: 'tuple', fields: several() }
    case 4: {
      const fields = several()
      return { kind: 'udt', keyspace: 'k', name: 'u', fieldNames: fields.map((_, i) => `f${i}`), fields, frozen: true }
    }
    default:
      return { kind: 'vector', element: inner(), dimension: 1 + below(random, 4) }
  }
}

/** A value; of zero length only where that is an ordinary value. Inside, elements may be null or empty. */
export function randomValue(random: () => number, type: CqlType): Buffer {
  switch (type.kind) {
    case 'list':
    case 'set':
      return counted(Array.from({ length: below(random, 4) }, () => randomElement(random, type.element)))
    case 'map': {
      const entries = Array.from({ length: below(random, 4) }, () => [
        randomValue(random, type.key),
        randomElement(random, type.value),
      ])
      return Buffer.concat([int32(entries.length), ...entries.flat().map(prefixed)])
    }
    case 'tuple':
    case 'udt':
      return Buffer.concat(type.fields.map((field) => prefixed(randomElement(random, field))))
    case 'vector': {
      const elements = Array.from({ length: type.dimension }, () => randomValue(random, type.element))
      return Buffer.concat(
        fixedLength(type.element) >= 0 ? elements : elements.flatMap((e) => [uvint(BigInt(e.length)), e]),
      )
    }
    case 'custom':
      return randomBytes(random, below(random, 20))
    default:
      return randomScalar(random, type.kind)
  }
}

/** Now and then null, or an empty value. */
export function randomElement(random: () => number, type: CqlType): Buffer | null {
  const dice = random()
  if (dice < 0.08) return null
  return dice < 0.14 ? Buffer.alloc(0) : randomValue(random, type)
}

function randomScalar(random: () => number, kind: ScalarKind): Buffer {
  const width = WIDTHS[kind]
  if (width !== undefined) return randomBytes(random, width)
  switch (kind) {
    case 'boolean':
      return Buffer.of(below(random, 2))
    case 'ascii':
      return Buffer.from(randomBytes(random, textLength(random)).map((byte) => byte & 0x7f))
    case 'text':
      return Buffer.from(
        Array.from({ length: textLength(random) }, () => pick(random, ['a', '\0', 'é', '€', '😀'])).join(''),
      )
    case 'varint':
      return shortest(randomBytes(random, 1 + below(random, below(random, 3) === 0 ? 80 : 9)))
    case 'decimal': {
      const scale = pick(random, [0, 2, below(random, 40) - 20, (random() * 2 ** 32) | 0, 0x7fffffff, -0x80000000])
      return Buffer.concat([int32(scale), randomScalar(random, 'varint')])
    }
    case 'inet': {
      const address = randomBytes(random, pick(random, [4, 16])).map((byte) => (byte < 90 ? 0 : byte))
      // ::ffff:a.b.c.d comes back as 4 bytes.
      if (address.length === 16) address[0] |= 1
      return Buffer.from(address)
    }
    case 'duration': {
      const sign = pick(random, [1n, -1n])
      const part = (bits: number): bigint =>
        sign * ((BigInt(below(random, 2 ** 30)) << 33n) >> BigInt(64 - bits + below(random, bits)))
      return Buffer.concat([part(31), part(31), part(63)].map((n) => uvint(BigInt.asUintN(64, (n << 1n) ^ (n >> 63n)))))
    }
    default:
      return randomBytes(random, textLength(random))
  }
}

const textLength = (random: () => number): number => pick(random, [0, 1, 2, 3, 4, 5, 8, 15, 40, 95, 96, 97, 130, 400])

function randomBytes(random: () => number, n: number): Buffer {
  return Buffer.from(
    Array.from({ length: n }, () => pick(random, [0, 0xff, 0x80, 0x7f, below(random, 256), below(random, 256)])),
  )
}

/** The same two's complement number without needless leading bytes. */
function shortest(bytes: Buffer): Buffer {
  const value = BigInt.asIntN(bytes.length * 8, BigInt('0x' + bytes.toString('hex')))
  for (let n = 1; ; n++) if (BigInt.asIntN(n * 8, value) === value) return bytes.subarray(bytes.length - n)
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

export function prefixed(value: Buffer | null): Buffer {
  return value === null ? int32(-1) : Buffer.concat([int32(value.length), value])
}

export function counted(elements: (Buffer | null)[]): Buffer {
  return Buffer.concat([int32(elements.length), ...elements.map(prefixed)])
}

/** Unsigned vint, shortest form, by its definition: as many leading ones as further bytes. */
export function uvint(value: bigint): Buffer {
  let extra = 0
  while (extra < 8 && value >> BigInt(7 * (extra + 1)) !== 0n) extra++
  if (extra === 8) return Buffer.from('ff' + value.toString(16).padStart(16, '0'), 'hex')
  const bytes = Buffer.from(value.toString(16).padStart((extra + 1) * 2, '0'), 'hex')
  bytes[0] |= (0xff00 >> extra) & 0xff
  return bytes
}
