// Tokens against what real nodes answered: tokens.*.csv is `SELECT k, token(k)` of a Cassandra 5.0.8 node under each
// partitioner (in the node's own order of partitions), and the golden sets carry the token of every row.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { murmur3 } from '../../../storage/ring/murmur3.ts'
import {
  compareKeyToToken,
  compareWords,
  partitionerByName,
  TOKEN_WORDS,
  tokenOf,
} from '../../../storage/ring/partitioner.ts'
import { goldenSet } from '../../corpus/golden.ts'

const here = import.meta.dirname
const by = (name: string) => partitionerByName(`org.apache.cassandra.dht.${name}Partitioner`, { kind: 'blob' })

async function nodeTokens(name: string): Promise<{ key: Uint8Array; token: string }[]> {
  const lines = (await readFile(join(here, `tokens.${name.toLowerCase()}.csv`), 'utf8')).trim().split('\n')
  return lines.map((line) => {
    const [key, token] = line.split(',')
    return { key: Uint8Array.from(Buffer.from(key, 'hex')), token }
  })
}

describe.each(['Murmur3', 'Random', 'ByteOrdered'])('%s, as a node says', (name) => {
  const partitioner = by(name)

  test('tokens, and back from text', async () => {
    const rows = await nodeTokens(name)
    expect(rows.length).toBeGreaterThan(150)
    for (const { key, token } of rows) {
      const found = tokenOf(partitioner, key)
      expect(partitioner.formatToken(found.words, 0, key)).toBe(token)
      expect(partitioner.parseToken(token)).toEqual(found)
      expect(partitioner.parseToken(token).words).toHaveLength(TOKEN_WORDS)
    }
  })

  test('order of partitions', async () => {
    const rows = await nodeTokens(name)
    for (let i = 1; i < rows.length; i++) {
      const before = tokenOf(partitioner, rows[i - 1].key)
      const { key } = rows[i]
      const own = tokenOf(partitioner, key)
      expect(compareKeyToToken(partitioner, own.words, 0, key, 0, key.length, before)).toBeGreaterThan(0)
      expect(compareKeyToToken(partitioner, own.words, 0, key, 0, key.length, own)).toBe(0)
    }
  })

  test('a key amid other bytes', async () => {
    for (const { key } of await nodeTokens(name)) {
      const padded = new Uint8Array(key.length + 9).fill(0xee)
      padded.set(key, 5)
      const words = new Int32Array(12)
      partitioner.token(padded, 5, key.length, words, 4)
      expect(words.subarray(4, 8)).toEqual(tokenOf(partitioner, key).words)
      expect([...words.subarray(0, 4), ...words.subarray(8)]).toEqual(new Array(8).fill(0))
    }
  })
})

test('Murmur3 tokens of every golden row whose key bytes are known', async () => {
  const partitioner = by('Murmur3')
  const root = await goldenSet('da')
  const ddl = await readFile(join(root, 'schema.cql'), 'utf8')
  let rows = 0
  for (const file of await readdir(join(root, 'expected'))) {
    if (!file.endsWith('.raw.ndjson')) continue
    const table = file.slice(0, -'.raw.ndjson'.length)
    const columns = partitionColumns(ddl, table)
    const tokens = (await readFile(join(root, 'expected', `${table}.tokens.csv`), 'utf8')).trim().split('\n')
    const lines = (await readFile(join(root, 'expected', file), 'utf8')).trim().split('\n')
    for (const [i, line] of lines.entries()) {
      if (line === '') continue
      const row = JSON.parse(line) as Record<string, string>
      const parts = columns.map((c) => Buffer.from(row[c], 'hex'))
      const key = parts.length === 1 ? parts[0] : Buffer.concat(parts.flatMap((p) => [u16(p.length), p, Buffer.of(0)]))
      const { words } = tokenOf(partitioner, key)
      expect(`${table} ${i} ${partitioner.formatToken(words, 0, key)}`).toBe(`${table} ${i} ${tokens[i]}`)
      rows++
    }
  }
  expect(rows).toBeGreaterThan(1500)
})

function u16(n: number): Buffer {
  return Buffer.of(n >> 8, n & 0xff)
}

/** Enough of DDL for the golden schemas. */
function partitionColumns(ddl: string, qualified: string): string[] {
  const [keyspace, table] = qualified.split('.').map((n) => (/^[a-z0-9_]+$/.test(n) ? n : `"${n}"`))
  const start = ddl.search(new RegExp(`CREATE (TABLE|MATERIALIZED VIEW) ${keyspace}.${table}[ \\n]`))
  const text = ddl.slice(start, ddl.indexOf(';', start))
  const inline = /^\s*(\S+) .*PRIMARY KEY,$/m.exec(text)
  if (inline !== null) return [inline[1]]
  const whole = /PRIMARY KEY \((?:\((.*?)\)|("[^"]+"|[^,()]+))/.exec(text)!
  return (whole[1] ?? whole[2]).split(', ').map((c) => c.replace(/^"(.*)"$/, '$1'))
}

test('Murmur3 has no key at the ring minimum but the empty one', () => {
  const partitioner = by('Murmur3')
  const empty = tokenOf(partitioner, new Uint8Array(0))
  expect(partitioner.formatToken(empty.words, 0, new Uint8Array(0))).toBe('-9223372036854775808')
  expect(empty).toEqual(partitioner.minimum)
  // A key whose hash is Long.MIN_VALUE (the inverse of the hash, run backwards by hand): Cassandra moves it to the top.
  const key = Buffer.from(keyHashingTo(-(2n ** 63n)), 'hex')
  const out = new Int32Array(4)
  murmur3(key, 0, key.length, out)
  expect([out[0], out[1]]).toEqual([-0x80000000, 0])
  expect(partitioner.formatToken(tokenOf(partitioner, key).words, 0, key)).toBe('9223372036854775807')
})

/** A 16-byte key with this h1: murmur3 inverted in BigInt, all other choices (h2 after the final sum) being 0. */
function keyHashingTo(h1: bigint): string {
  const mask = 2n ** 64n - 1n
  const u = (x: bigint) => x & mask
  const rotr = (x: bigint, n: bigint) => u((x >> n) | (x << (64n - n)))
  const inverse = (m: bigint) => {
    let x = m
    for (let i = 0; i < 6; i++) x = u(x * (2n - m * x))
    return x
  }
  const unmix = (x: bigint) => {
    x ^= x >> 33n
    x = u(x * inverse(0xc4ceb9fe1a85ec53n))
    x ^= x >> 33n
    x = u(x * inverse(0xff51afd7ed558ccdn))
    return x ^ (x >> 33n)
  }
  const c1 = 0x87c37b91114253d5n
  const c2 = 0x4cf5ad432745937fn
  // Last sums: h1 = a + b, h2 = b + h1; take h2 = 0.
  const final1 = u(h1)
  const b = u(0n - final1)
  const a = u(final1 - b)
  const y2 = unmix(b)
  const y1 = unmix(a)
  // y1 = x1 + x2, y2 = x2 + y1, each x = state ^ length
  const x2 = u(y2 - y1)
  const x1 = u(y1 - x2)
  const s1 = x1 ^ 16n
  const s2 = x2 ^ 16n
  const inv5 = inverse(5n)
  // The first half runs before the second: s1 = (rotl(k1', 27) + 0) * 5 + n1; s2 = (rotl(k2', 31) + s1) * 5 + n2
  const k1 = rotr(u((s1 - 0x52dce729n) * inv5), 27n)
  const k2 = rotr(u(u((s2 - 0x38495ab5n) * inv5) - s1), 31n)
  const key1 = u(rotr(u(k1 * inverse(c2)), 31n) * inverse(c1))
  const key2 = u(rotr(u(k2 * inverse(c1)), 33n) * inverse(c2))
  const bytes = Buffer.alloc(16)
  bytes.writeBigUInt64LE(key1, 0)
  bytes.writeBigUInt64LE(key2, 8)
  return bytes.toString('hex')
}

describe('Random', () => {
  const partitioner = by('Random')

  test('spans -1 to 2^127', () => {
    const text = ['-1', '0', '1', '170141183460469231731687303715884105727', '170141183460469231731687303715884105728']
    const tokens = text.map((t) => partitioner.parseToken(t))
    for (const [i, token] of tokens.entries()) {
      expect(partitioner.formatToken(token.words, 0, new Uint8Array(0))).toBe(text[i])
      if (i > 0) expect(compareWords(tokens[i - 1].words, 0, token.words, 0)).toBe(-1)
    }
    expect(tokens[0]).toEqual(partitioner.minimum)
    expect(tokens[4]).toEqual(partitioner.maximum)
    expect(tokenOf(partitioner, new Uint8Array(0))).toEqual(partitioner.minimum)
  })
})

test('Local orders by the type given, then by bytes, and has no tokens', () => {
  const local = partitionerByName('org.apache.cassandra.dht.LocalPartitioner', { kind: 'decimal' })
  const compare = (a: string, b: string) => {
    const [x, y] = [Buffer.from(a, 'hex'), Buffer.from(b, 'hex')]
    return Math.sign(local.compareKeys(x, 0, x.length, y, 0, y.length))
  }
  const [minusOne, ten, tenPointZero, eleven] = ['00000000ff', '000000000a', '0000000164', '000000000b']
  expect(compare(minusOne, ten)).toBe(-1)
  expect(compare(ten, tenPointZero)).toBe(-1)
  expect(compare(tenPointZero, ten)).toBe(1)
  expect(compare(eleven, tenPointZero)).toBe(1)
  expect(compare(ten, ten)).toBe(0)
  expect(local.formatToken(new Int32Array(4), 0, Uint8Array.of(1))).toBe(null)
  expect(() => local.parseToken('1')).toThrow(expect.objectContaining({ code: 'BAD_RANGE' }))
})

test('anything else is refused by name', () => {
  for (const name of ['org.apache.cassandra.dht.OrderPreservingPartitioner', 'com.example.Murmur3Partitioner', '']) {
    expect(() => partitionerByName(name, { kind: 'blob' })).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED_PARTITIONER', fields: { value: name } }),
    )
  }
})

test.each([
  ['Murmur3', ['', '1.5', '1e3', '9223372036854775808', '-9223372036854775809', '0x10', ' 1', '--1', '9'.repeat(60)]],
  ['Random', ['-2', '170141183460469231731687303715884105729', 'a']],
  ['ByteOrdered', ['1', 'zz', '-1', '0'.repeat(140000)]],
])('%s refuses what is no token', (name, texts) => {
  for (const text of texts) {
    expect(() => by(name).parseToken(text)).toThrow(expect.objectContaining({ code: 'BAD_RANGE' }))
  }
})
