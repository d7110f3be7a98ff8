// The four partitioners that SSTables are read under, by their class name in Statistics.db (org.apache.cassandra.dht.*).
//
// A token is four Int32 words, the first compared as signed, the others as unsigned:
//   Murmur3      the signed 64-bit token in words 0 and 1 (high, low); words 2 and 3 are 0
//   Random       the 128-bit token plus 1 (so that the ring's minimum, -1, is 0), word 0 with its top bit flipped
//   ByteOrdered  0 everywhere: the key's own bytes are its token, and the comparison of keys does all
//   Local        the same, under the comparator of the key's type
// Keys of equal token are ordered by compareKeys. Everything on the way of a row works without allocating, except Random's MD5.

import { hash } from 'node:crypto'
import { SluiceError } from '../errors.ts'
import { comparator } from '../schema/compare.ts'
import type { CqlType } from '../schema/cql-type.ts'
import { murmur3 } from './murmur3.ts'

export const TOKEN_WORDS = 4

/** Orders two byte runs; the sign of the result is what counts. */
export type CompareBytes = (
  a: Uint8Array,
  aOffset: number,
  aLength: number,
  b: Uint8Array,
  bOffset: number,
  bLength: number,
) => number

export type PartitionerName = 'Murmur3Partitioner' | 'RandomPartitioner' | 'ByteOrderedPartitioner' | 'LocalPartitioner'

/** A point of the ring that no key need stand at: a bound of a token range. */
export interface Token {
  words: Int32Array
  /** ByteOrdered: the token itself; otherwise of length 0. */
  bytes: Uint8Array
}

export interface Partitioner {
  name: PartitionerName
  /** How many leading words can differ between tokens: 2, 4, or 0 where the key is the token. */
  words: 0 | 2 | 4
  /** Writes the token of a key into out[outOffset, outOffset + 4). */
  token(key: Uint8Array, offset: number, length: number, out: Int32Array, outOffset: number): void
  /** Order of two keys whose token words are equal. */
  compareKeys: CompareBytes
  /** The token as CQL prints it: signed decimal, decimal, hex of the key (as `0x...` in CQL, without prefix here); null for Local. */
  formatToken(words: Int32Array, wordsOffset: number, key: Uint8Array): string | null
  /** A token as a user writes it. The ring's own minimum is a token too. Throws BAD_RANGE. */
  parseToken(text: string): Token
  /** The ring's minimum: no key is below it. */
  minimum: Token
  /** The ring's maximum: no key is above it. null: there is none (ByteOrdered, Local). */
  maximum: Token | null
}

export function compareWords(a: Int32Array, aOffset: number, b: Int32Array, bOffset: number): number {
  if (a[aOffset] !== b[bOffset]) return a[aOffset] < b[bOffset] ? -1 : 1
  for (let i = 1; i < TOKEN_WORDS; i++) {
    const x = a[aOffset + i]
    const y = b[bOffset + i]
    if (x !== y) return x >>> 0 < y >>> 0 ? -1 : 1
  }
  return 0
}

/** Unsigned bytes, then the shorter first. */
export function compareUnsigned(
  a: Uint8Array,
  aOffset: number,
  aLength: number,
  b: Uint8Array,
  bOffset: number,
  bLength: number,
): number {
  const common = Math.min(aLength, bLength)
  for (let i = 0; i < common; i++) {
    const difference = a[aOffset + i] - b[bOffset + i]
    if (difference !== 0) return difference
  }
  return aLength - bLength
}

/** Order of a key (its token at words[wordsOffset...]) and a token: negative, 0 or positive. */
export function compareKeyToToken(
  partitioner: Partitioner,
  words: Int32Array,
  wordsOffset: number,
  key: Uint8Array,
  keyOffset: number,
  keyLength: number,
  token: Token,
): number {
  if (partitioner.words === 0) {
    return partitioner.compareKeys(key, keyOffset, keyLength, token.bytes, 0, token.bytes.length)
  }
  return compareWords(words, wordsOffset, token.words, 0)
}

export function compareTokens(partitioner: Partitioner, a: Token, b: Token): number {
  return compareKeyToToken(partitioner, a.words, 0, a.bytes, 0, a.bytes.length, b)
}

export function tokenOf(partitioner: Partitioner, key: Uint8Array): Token {
  const words = new Int32Array(TOKEN_WORDS)
  partitioner.token(key, 0, key.length, words, 0)
  return { words, bytes: partitioner.words === 0 ? key.slice() : NO_BYTES }
}

/** The token right below one that is not the ring's minimum: minus 1 over the words that count. Not for ByteOrdered and Local. */
export function tokenBefore(partitioner: Partitioner, token: Int32Array): Token {
  const words = token.slice()
  for (let i = partitioner.words - 1; i >= 0; i--) {
    words[i] -= 1
    // Only 0 borrows from the word above: words are unsigned but for the first, which as bits makes no difference.
    if (words[i] !== -1) break
  }
  return { words, bytes: NO_BYTES }
}

const NO_BYTES = new Uint8Array(0)

function badToken(text: string, expected: string): SluiceError {
  return new SluiceError('BAD_RANGE', { value: text, expected })
}

// --- Murmur3 ---------------------------------------------------------------------------------------------------------

const MIN_HIGH = -0x80000000
const MAX_HIGH = 0x7fffffff
const hashed = new Int32Array(4)

/**
 * Token of a hash: Long.MIN_VALUE becomes Long.MAX_VALUE, so that no key has the ring's minimum but the empty one
 * (Murmur3Partitioner.normalize, getToken).
 */
function murmur3Token(key: Uint8Array, offset: number, length: number, out: Int32Array, outOffset: number): void {
  if (length === 0) {
    out[outOffset] = MIN_HIGH
    out[outOffset + 1] = 0
  } else {
    murmur3(key, offset, length, hashed)
    const lowest = hashed[0] === MIN_HIGH && hashed[1] === 0
    out[outOffset] = lowest ? MAX_HIGH : hashed[0]
    out[outOffset + 1] = lowest ? -1 : hashed[1]
  }
  out[outOffset + 2] = 0
  out[outOffset + 3] = 0
}

function longWords(value: bigint): Int32Array {
  return Int32Array.of(Number(BigInt.asIntN(32, value >> 32n)), Number(BigInt.asIntN(32, value)), 0, 0)
}

function parseDecimal(text: string, minimum: bigint, maximum: bigint): bigint {
  const expected = `an integer from ${minimum} to ${maximum}`
  if (!/^-?[0-9]{1,40}$/.test(text)) throw badToken(text, expected)
  const value = BigInt(text)
  if (value < minimum || value > maximum) throw badToken(text, expected)
  return value
}

const LONG_MIN = -(2n ** 63n)
const LONG_MAX = 2n ** 63n - 1n

const murmur3Partitioner: Partitioner = {
  name: 'Murmur3Partitioner',
  words: 2,
  token: murmur3Token,
  compareKeys: compareUnsigned,
  formatToken: (words, at) => String((BigInt(words[at]) << 32n) | BigInt(words[at + 1] >>> 0)),
  parseToken: (text) => ({ words: longWords(parseDecimal(text, LONG_MIN, LONG_MAX)), bytes: NO_BYTES }),
  minimum: { words: longWords(LONG_MIN), bytes: NO_BYTES },
  maximum: { words: longWords(LONG_MAX), bytes: NO_BYTES },
}

// --- Random ----------------------------------------------------------------------------------------------------------

// RandomPartitioner.MINIMUM is -1, MAXIMUM 2^127: |MD5 of the key as a signed number| reaches both 0 and 2^127.
const RANDOM_MIN = -1n
const RANDOM_MAX = 2n ** 127n

function randomWords(value: bigint): Int32Array {
  const shifted = value + 1n
  const word = (i: bigint) => Number(BigInt.asIntN(32, shifted >> i))
  return Int32Array.of(word(96n) ^ MIN_HIGH, word(64n), word(32n), word(0n))
}

function randomToken(key: Uint8Array, offset: number, length: number, out: Int32Array, outOffset: number): void {
  if (length === 0) {
    out[outOffset] = MIN_HIGH
    out.fill(0, outOffset + 1, outOffset + TOKEN_WORDS)
    return
  }
  const digest = hash('md5', key.subarray(offset, offset + length), 'buffer')
  // |x| + 1: for a negative x the complement gives |x| - 1, hence 2 to add.
  const negative = digest[0] >= 0x80
  const flip = negative ? -1 : 0
  let carry = negative ? 2 : 1
  for (let i = TOKEN_WORDS - 1; i >= 0; i--) {
    const sum = ((digest.readInt32BE(i * 4) ^ flip) >>> 0) + carry
    out[outOffset + i] = sum | 0
    carry = sum > 0xffffffff ? 1 : 0
  }
  out[outOffset] ^= MIN_HIGH
}

function formatRandom(words: Int32Array, at: number): string {
  let value = BigInt((words[at] ^ MIN_HIGH) >>> 0)
  for (let i = 1; i < TOKEN_WORDS; i++) value = (value << 32n) | BigInt(words[at + i] >>> 0)
  return String(value - 1n)
}

const randomPartitioner: Partitioner = {
  name: 'RandomPartitioner',
  words: 4,
  token: randomToken,
  compareKeys: compareUnsigned,
  formatToken: formatRandom,
  parseToken: (text) => ({ words: randomWords(parseDecimal(text, RANDOM_MIN, RANDOM_MAX)), bytes: NO_BYTES }),
  minimum: { words: randomWords(RANDOM_MIN), bytes: NO_BYTES },
  maximum: { words: randomWords(RANDOM_MAX), bytes: NO_BYTES },
}

// --- ByteOrdered and Local: the key is the token ---------------------------------------------------------------------

function noWords(_key: Uint8Array, _offset: number, _length: number, out: Int32Array, outOffset: number): void {
  out.fill(0, outOffset, outOffset + TOKEN_WORDS)
}

const ZERO_WORDS = new Int32Array(TOKEN_WORDS)
// A key has at most 65,535 bytes (its length is a u16), a token too.
const HEX = /^(?:[0-9a-fA-F]{2}){0,65535}$/

const byteOrderedPartitioner: Partitioner = {
  name: 'ByteOrderedPartitioner',
  words: 0,
  token: noWords,
  compareKeys: compareUnsigned,
  formatToken: (_words, _at, key) => Buffer.from(key.buffer, key.byteOffset, key.length).toString('hex'),
  parseToken: (text) => {
    const digits = text.startsWith('0x') || text.startsWith('0X') ? text.slice(2) : text
    if (digits.length > 131070 || !HEX.test(digits)) throw badToken(text.slice(0, 80), 'an even number of hex digits')
    return { words: ZERO_WORDS, bytes: new Uint8Array(Buffer.from(digits, 'hex')) }
  },
  minimum: { words: ZERO_WORDS, bytes: NO_BYTES },
  maximum: null,
}

function localPartitioner(keyType: CqlType): Partitioner {
  const compareValues = comparator(keyType)
  return {
    name: 'LocalPartitioner',
    words: 0,
    token: noWords,
    // Values that are equal without having equal bytes (decimal 1.0 and 1.00) are two keys: DecoratedKey.compareTo.
    compareKeys: (a, aOffset, aLength, b, bOffset, bLength) =>
      compareValues(a, viewOf(a), aOffset, aLength, b, viewOf(b), bOffset, bLength) ||
      compareUnsigned(a, aOffset, aLength, b, bOffset, bLength),
    formatToken: () => null,
    parseToken: (text) => {
      throw new SluiceError('BAD_RANGE', { value: text, reason: 'a table under LocalPartitioner has no tokens' })
    },
    minimum: { words: ZERO_WORDS, bytes: NO_BYTES },
    maximum: null,
  }
}

// Only tables of a few hundred rows are under LocalPartitioner: a view made per comparison costs nothing there.
function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/**
 * The partitioner by its Java class name, with or without package. `keyType` is the type of the whole partition key (Statistics.db
 * HEADER; a composite one is a custom CompositeType): LocalPartitioner orders by it.
 * @throws SluiceError UNSUPPORTED_PARTITIONER, and UNSUPPORTED_TYPE for a key type under LocalPartitioner without known order
 */
export function partitionerByName(className: string, keyType: CqlType): Partitioner {
  const dot = className.lastIndexOf('.')
  const known = dot < 0 || className.startsWith('org.apache.cassandra.dht.')
  switch (known ? className.slice(dot + 1) : '') {
    case 'Murmur3Partitioner':
      return murmur3Partitioner
    case 'RandomPartitioner':
      return randomPartitioner
    case 'ByteOrderedPartitioner':
      return byteOrderedPartitioner
    case 'LocalPartitioner':
      return localPartitioner(keyType)
    default:
      throw new SluiceError('UNSUPPORTED_PARTITIONER', { value: className })
  }
}
