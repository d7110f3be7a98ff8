// Random fields and values of every layout, nested, from a seed; see build-batch.ts for how values are written.

import type { Field, Layout } from '../../storage/rows/batch.ts'
import type { CqlType } from '../../storage/schema/cql-type.ts'
import { field, type Value } from './build-batch.ts'

export type Random = () => number

/** Mulberry32: 32 bits of state, in [0, 1). */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit)
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[below(random, from.length)]
}

const SCALARS: readonly [CqlType['kind'], Layout][] = [
  ['boolean', { kind: 'bool' }],
  ['tinyint', { kind: 'int8' }],
  ['smallint', { kind: 'int16' }],
  ['int', { kind: 'int32' }],
  ['bigint', { kind: 'int64' }],
  ['float', { kind: 'float32' }],
  ['double', { kind: 'float64' }],
  ['date', { kind: 'date32' }],
  ['time', { kind: 'time64ns' }],
  ['timestamp', { kind: 'timestamp_ms' }],
  ['uuid', { kind: 'uuid' }],
  ['duration', { kind: 'interval' }],
  ['decimal', { kind: 'decimal128', precision: 38, scale: 7 }],
  ['varint', { kind: 'decimal256', precision: 76, scale: 0 }],
  ['text', { kind: 'utf8' }],
  ['blob', { kind: 'binary' }],
]

export function randomField(
  random: Random,
  name: string,
  depth: number,
  without: ReadonlySet<Layout['kind']> = new Set(),
): Field {
  const nested = depth > 0 && random() < 0.5
  if (!nested) {
    const choices = SCALARS.filter(([, layout]) => !without.has(layout.kind))
    const [kind, layout] = pick(random, choices)
    return field(name, { kind } as CqlType, layout)
  }
  const child = (childName: string) => randomField(random, childName, depth - 1, without)
  switch (below(random, 4)) {
    case 0: {
      const item = child('item')
      return field(name, { kind: 'list', element: item.type, frozen: true }, { kind: 'list' }, [item])
    }
    case 1: {
      const [kind, layout] = pick(
        random,
        SCALARS.filter(([, l]) => !without.has(l.kind)),
      )
      const key: Field = { ...field('key', { kind } as CqlType, layout), nullable: false }
      const value = child('value')
      const type: CqlType = { kind: 'map', key: key.type, value: value.type, frozen: true }
      const entries: Field = { ...field('entries', type, { kind: 'struct' }, [key, value]), nullable: false }
      return field(name, type, { kind: 'map' }, [entries])
    }
    case 2: {
      const children = Array.from({ length: 1 + below(random, 4) }, (_, i) => child(`f${i}`))
      return field(name, { kind: 'tuple', fields: children.map((c) => c.type) }, { kind: 'struct' }, children)
    }
    default: {
      const item = child('item')
      const size = 1 + below(random, 4)
      return field(name, { kind: 'vector', element: item.type, dimension: size }, { kind: 'fixed_list', size }, [item])
    }
  }
}

/** A value of the field; null where the field allows it with the probability `nulls`. */
export function randomValue(random: Random, of: Field, nulls: number): Value {
  if (of.nullable && random() < nulls) return null
  const layout = of.layout
  const [child] = of.children
  switch (layout.kind) {
    case 'null':
      return null
    case 'bool':
      return random() < 0.5
    case 'int8':
      return integer(random, 8)
    case 'int16':
      return integer(random, 16)
    case 'int32':
    case 'date32':
      return integer(random, 32)
    case 'int64':
    case 'timestamp_ms':
      return bigInteger(random, 64)
    case 'time64ns':
      return (bigInteger(random, 64) % 43_200_000_000_000n) + 43_200_000_000_000n
    case 'float32':
      return Math.fround(float(random, 'float32'))
    case 'float64':
      return float(random, 'float64')
    case 'uuid':
      return bytes(random, 16)
    case 'interval':
      return [integer(random, 32), integer(random, 32), bigInteger(random, 64)]
    case 'decimal128':
      return bigInteger(random, 128) % 10n ** 38n
    case 'decimal256':
      return bigInteger(random, 256) % 10n ** 76n
    case 'utf8':
      return text(random)
    case 'binary':
      return bytes(random, below(random, 4) === 0 ? 0 : below(random, 40))
    case 'list':
      return Array.from({ length: listLength(random) }, () => randomValue(random, child, nulls))
    case 'fixed_list':
      return Array.from({ length: layout.size }, () => randomValue(random, child, nulls))
    case 'map': {
      const [key, value] = child.children
      const entries = new Map<string, [Value, Value]>()
      for (let n = listLength(random); n > 0; n--) {
        const k = randomValue(random, key, 0)
        // Keys that JSON would not tell apart are one.
        const text = typeof k === 'number' && !Number.isFinite(k) ? 'null' : String(k)
        entries.set(text, [k, randomValue(random, value, nulls)])
      }
      return [...entries.values()]
    }
    case 'struct':
      return of.children.map((inner) => randomValue(random, inner, nulls))
  }
}

function listLength(random: Random): number {
  return random() < 0.01 ? 20 + below(random, 60) : below(random, 4)
}

function integer(random: Random, width: number): number {
  return Number(bigInteger(random, width))
}

/** Small, of any width, or at the edge. */
export function bigInteger(random: Random, width: number): bigint {
  const roll = random()
  const edge = 1n << BigInt(width - 1)
  if (roll < 0.1) return pick(random, [0n, -1n, 1n, edge - 1n, -edge])
  if (roll < 0.4) return BigInt(below(random, 200) - 100)
  let value = 0n
  for (let i = 0; i < width; i += 32) value = (value << 32n) | BigInt(below(random, 2 ** 32))
  return BigInt.asIntN(width, value >> BigInt(below(random, width)))
}

function float(random: Random, kind: 'float32' | 'float64'): number {
  const roll = random()
  if (roll < 0.1)
    return pick(random, [0, -0, Number.NaN, Infinity, -Infinity, 1, -1.5, 1e21, 1e-7, 5e-324, Number.MAX_VALUE])
  if (roll < 0.5) return Math.round(random() * 1e6) / 1000
  const view = new DataView(new ArrayBuffer(8))
  view.setUint32(0, below(random, 2 ** 32))
  view.setUint32(4, below(random, 2 ** 32))
  return kind === 'float32' ? view.getFloat32(0) : view.getFloat64(0)
}

export function bytes(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => below(random, 256))
}

const LETTERS = [
  'a',
  'b',
  'Z',
  '0',
  ' ',
  '"',
  '\\',
  '\n',
  '\r',
  '\t',
  ',',
  '\u0001',
  '\u001f',
  '\u007f',
  'é',
  '\u2028',
  '語',
  '😀',
  '/',
  "'",
  ';',
]

export function text(random: Random): string {
  const length = random() < 0.05 ? 100 + below(random, 300) : below(random, 30)
  return Array.from({ length }, () => pick(random, LETTERS)).join('')
}
