// Partition keys and positions as the byte-comparable bytes that Partitions.db is sorted by (o.a.c.db.DecoratedKey
// .asComparableBytes, o.a.c.utils.bytecomparable.ByteSource): 0x40, token, 0x40, escaped key, 0x38.

import { type Partitioner, TOKEN_WORDS } from '../ring/partitioner.ts'
import type { Position } from '../ring/position.ts'
import { keyPosition } from '../ring/position.ts'
import { encodeValue } from '../schema/byte-comparable.ts'
import type { CqlType } from '../schema/cql-type.ts'
import { unescapeBytes } from './bti-separator.ts'
import { placeBeforeToken } from './partition-place.ts'

const NEXT_COMPONENT = 0x40
const TERMINATOR = 0x38
/** Sorts before, or behind, all that begins with what stands before it. */
const BEFORE = 0x20
const BEHIND = 0x60

export interface KeyEncoding {
  readonly partitioner: Partitioner
  /** Of the partition key: orders the keys under LocalPartitioner. */
  readonly keyType: CqlType
}

/** A whole key. */
export function encodeKey(encoding: KeyEncoding, key: Uint8Array): Uint8Array {
  const words = new Int32Array(TOKEN_WORDS)
  encoding.partitioner.token(key, 0, key.length, words, 0)
  return withKey(encoding, words, key, TERMINATOR)
}

/** What separates the keys before a position from those behind it. Empty: all are behind. */
export function encodePosition(encoding: KeyEncoding, position: Position): Uint8Array {
  if (position.kind === 'key') {
    const behind = position.after && position.clustering.length === 0
    return withKey(encoding, position.words, position.key, behind ? BEHIND : BEFORE)
  }
  const { words, bytes } = position.token
  if (encoding.partitioner.words === 0 && bytes.length === 0) return new Uint8Array(0)
  return Uint8Array.from([NEXT_COMPONENT, ...encodeToken(encoding, words, bytes), BEHIND])
}

function withKey(encoding: KeyEncoding, words: Int32Array, key: Uint8Array, end: number): Uint8Array {
  const token = encodeToken(encoding, words, key)
  return Uint8Array.from([NEXT_COMPONENT, ...token, NEXT_COMPONENT, ...escaped(key), end])
}

function encodeToken({ partitioner, keyType }: KeyEncoding, words: Int32Array, key: Uint8Array): Uint8Array | number[] {
  switch (partitioner.name) {
    case 'Murmur3Partitioner': {
      const bytes = new Uint8Array(8)
      const view = new DataView(bytes.buffer)
      view.setInt32(0, words[0] ^ 0x80000000)
      view.setInt32(4, words[1])
      return bytes
    }
    case 'RandomPartitioner':
      return encodeValue({ kind: 'varint' }, varintBytes(randomToken(words))) ?? []
    case 'ByteOrderedPartitioner':
      return escaped(key)
    case 'LocalPartitioner':
      return encodeValue(keyType, key) ?? []
  }
}

function escaped(key: Uint8Array): Uint8Array {
  return encodeValue({ kind: 'blob' }, key)!
}

/** RandomPartitioner's token: its words hold it plus 1, the top bit flipped. */
function randomToken(words: Int32Array): bigint {
  let value = BigInt((words[0] ^ 0x80000000) >>> 0)
  for (let i = 1; i < TOKEN_WORDS; i++) value = (value << 32n) | BigInt(words[i] >>> 0)
  return value - 1n
}

/** Two's complement, as few bytes as hold it, big-endian (Java's BigInteger.toByteArray). */
function varintBytes(value: bigint): Uint8Array {
  let length = 1
  while (BigInt.asIntN(8 * length, value) !== value) length++
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i++) bytes[length - 1 - i] = Number((value >> BigInt(8 * i)) & 0xffn)
  return bytes
}

/**
 * The position that a trie path stands for: all keys of payloads before it are before the position, the key it leads to and
 * all behind it are behind. `path` is the shortest prefix that tells a key from its neighbours, often shorter than a token.
 * null: it tells nothing (LocalPartitioner, whose positions no one asks for).
 */
export function positionOfPath({ partitioner }: KeyEncoding, path: Uint8Array): Position | null {
  const token = path.subarray(1)
  switch (partitioner.name) {
    case 'Murmur3Partitioner': {
      const bytes = new Uint8Array(8)
      bytes.set(token.subarray(0, 8))
      const view = new DataView(bytes.buffer)
      const words = Int32Array.of(view.getInt32(0) ^ 0x80000000, view.getInt32(4), 0, 0)
      return isLeast(words) ? null : placeBeforeToken(partitioner, words)
    }
    case 'RandomPartitioner': {
      const words = randomWords(leastVarint(token))
      return isLeast(words) ? null : placeBeforeToken(partitioner, words)
    }
    case 'ByteOrderedPartitioner':
      return keyPosition(partitioner, unescapeBytes(token, 0).value, [], false)
    case 'LocalPartitioner':
      return null
  }
}

function isLeast(words: Int32Array): boolean {
  return words[0] === -0x80000000 && words[1] === 0 && words[2] === 0 && words[3] === 0
}

/** The least number whose varint encoding does not sort before these bytes, for numbers of 0 to 2^127. */
function leastVarint(bytes: Uint8Array): bigint {
  const head = bytes[0] ?? 0
  if (head < 0x80) return 0n
  let value = 0n
  const digits = (from: number, count: number) => {
    for (let i = 0; i < count; i++) value = (value << 8n) | BigInt(bytes[from + i] ?? 0)
  }
  if (head === 0xff) {
    // 0xFF, length - 7, then the digits.
    const length = 7 + Math.min(bytes[1] ?? 0, 10)
    digits(2, length)
    return value
  }
  // n leading ones, then 7n - 1 bits.
  const length = Math.clz32(~(head << 24))
  digits(0, length)
  return BigInt.asUintN(7 * length, value)
}

function randomWords(token: bigint): Int32Array {
  const shifted = token + 1n
  const word = (bits: bigint) => Number(BigInt.asIntN(32, shifted >> bits))
  return Int32Array.of(word(96n) ^ 0x80000000, word(64n), word(32n), word(0n))
}
