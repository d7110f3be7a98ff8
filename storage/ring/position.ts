// A position: a place between rows, where a stream stands or a split begins or ends. Positions are totally ordered. As text a
// position is opaque: base64url of version, partitioner, payload and a CRC32 (RFC 1952) that also covers the table's name, so that
// a damaged text, or one of another table, is refused instead of read as some other place.
//
// Three kinds of place, by what stands before them:
//   token             behind all keys of a token (a token range's bound)
//   key, after        behind a clustering prefix within the partition of a key; with the empty prefix: behind the whole partition
//   key, before       before a clustering prefix within it; with the empty prefix: before the partition and its static row
// A prefix can be a whole clustering (the row itself), or fewer values, as a bound is.

import { crc32 } from 'node:zlib'
import { SluiceError } from '../errors.ts'
import {
  compareTokens,
  compareWords,
  type Partitioner,
  type PartitionerName,
  TOKEN_WORDS,
  type Token,
  tokenOf,
} from './partitioner.ts'

export interface TokenPosition {
  kind: 'token'
  token: Token
}

export interface KeyPosition {
  kind: 'key'
  key: Uint8Array
  /** Token words of the key. */
  words: Int32Array
  /** Clustering values in the order of the columns, null for a null value; at most as many as there are clustering columns. */
  clustering: (Uint8Array | null)[]
  after: boolean
}

export type Position = TokenPosition | KeyPosition

/** Orders two clustering prefixes value by value, over the values both have; 0 where those are equal. */
export type ComparePrefixes = (a: readonly (Uint8Array | null)[], b: readonly (Uint8Array | null)[]) => number

/** Behind everything of a partition. */
export function behindPartition(partitioner: Partitioner, key: Uint8Array): KeyPosition {
  return keyPosition(partitioner, key, [], true)
}

/** Behind one row; a row without clustering columns, and the row made of static content alone, end their partition. */
export function behindRow(
  partitioner: Partitioner,
  key: Uint8Array,
  clustering: readonly (Uint8Array | null)[],
): KeyPosition {
  return keyPosition(partitioner, key, clustering, true)
}

export function keyPosition(
  partitioner: Partitioner,
  key: Uint8Array,
  clustering: readonly (Uint8Array | null)[],
  after: boolean,
): KeyPosition {
  return { kind: 'key', key, words: tokenOf(partitioner, key).words, clustering: [...clustering], after }
}

/** The position lies inside a partition: some of the partition is before it and some behind. */
export function isInsidePartition(position: Position): position is KeyPosition {
  return position.kind === 'key' && position.clustering.length > 0
}

/**
 * Where a partition stands to a position: -1 all of it is before, 1 all of it is behind, 0 the position is inside it.
 * `words` holds the key's token at wordsOffset. Does not allocate.
 */
export function comparePartitionToPosition(
  partitioner: Partitioner,
  words: Int32Array,
  wordsOffset: number,
  key: Uint8Array,
  keyOffset: number,
  keyLength: number,
  position: Position,
): -1 | 0 | 1 {
  const other = position.kind === 'token' ? position.token.words : position.words
  let order = compareWords(words, wordsOffset, other, 0)
  if (position.kind === 'token') {
    if (order === 0 && partitioner.words === 0) {
      const { bytes } = position.token
      order = partitioner.compareKeys(key, keyOffset, keyLength, bytes, 0, bytes.length)
    }
    return order <= 0 ? -1 : 1
  }
  if (order === 0) {
    order = partitioner.compareKeys(key, keyOffset, keyLength, position.key, 0, position.key.length)
  }
  if (order !== 0) return order < 0 ? -1 : 1
  if (position.clustering.length > 0) return 0
  return position.after ? -1 : 1
}

/** Total order of positions: negative, 0 or positive. */
export function comparePositions(
  partitioner: Partitioner,
  comparePrefixes: ComparePrefixes,
  a: Position,
  b: Position,
): number {
  if (a.kind === 'token' && b.kind === 'token') return compareTokens(partitioner, a.token, b.token)
  if (a.kind === 'token') return -comparePositions(partitioner, comparePrefixes, b, a)
  const side = comparePartitionToPosition(partitioner, a.words, 0, a.key, 0, a.key.length, b)
  if (b.kind === 'token') return side
  const keys =
    compareWords(a.words, 0, b.words, 0) || partitioner.compareKeys(a.key, 0, a.key.length, b.key, 0, b.key.length)
  if (keys !== 0) return keys
  return compareInside(comparePrefixes, a, b)
}

/** A prefix stands before (or, if `after`, behind) all that begins with it. */
function compareInside(comparePrefixes: ComparePrefixes, a: KeyPosition, b: KeyPosition): number {
  const order = comparePrefixes(a.clustering, b.clustering)
  if (order !== 0) return order
  const n = a.clustering.length
  const m = b.clustering.length
  if (n === m) return Number(a.after) - Number(b.after)
  return n < m ? (a.after ? 1 : -1) : b.after ? -1 : 1
}

// --- As text -----------------------------------------------------------------------------------------------------------

const VERSION = 1
const PARTITIONER_CODES: Record<PartitionerName, number> = {
  Murmur3Partitioner: 1,
  RandomPartitioner: 2,
  ByteOrderedPartitioner: 3,
  LocalPartitioner: 4,
}
const KIND_TOKEN = 0
const KIND_BEFORE = 1
const KIND_AFTER = 2
// Cassandra's limit of a key and of a clustering value (FBUtilities.MAX_UNSIGNED_SHORT).
const MAX_VALUE = 0xffff
// Longer than any position worth decoding; bounds what a request can make us copy.
const MAX_TEXT = 4 * 1024 * 1024

/**
 * The position as url-safe text. `scope` names what it belongs to (keyspace and table): another scope cannot read it.
 */
export function encodePosition(partitioner: Partitioner, scope: string, position: Position): string {
  const parts: Uint8Array[] = []
  const head = [VERSION, PARTITIONER_CODES[partitioner.name]]
  if (position.kind === 'token') {
    const words = Buffer.alloc(partitioner.words * 4)
    for (let i = 0; i < partitioner.words; i++) words.writeInt32BE(position.token.words[i], i * 4)
    parts.push(Uint8Array.of(...head, KIND_TOKEN), words, ...sized(position.token.bytes))
  } else {
    parts.push(Uint8Array.of(...head, position.after ? KIND_AFTER : KIND_BEFORE), ...sized(position.key))
    for (const value of position.clustering) {
      // 1: a value follows; 0: null
      parts.push(...(value === null ? [Uint8Array.of(0)] : [Uint8Array.of(1), ...sized(value)]))
    }
  }
  const body = Buffer.concat(parts)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(checksum(scope, body))
  return Buffer.concat([body, sum]).toString('base64url')
}

function sized(bytes: Uint8Array): Uint8Array[] {
  if (bytes.length > MAX_VALUE)
    throw new SluiceError('INTERNAL', { reason: 'a key or clustering value above 65535 bytes' })
  return [Uint8Array.of(bytes.length >> 8, bytes.length & 0xff), bytes]
}

function checksum(scope: string, body: Uint8Array): number {
  return crc32(body, crc32(scope))
}

/** The position that the text holds, of the same partitioner and scope, with at most `clusterings` values. Throws BAD_POSITION. */
export function decodePosition(partitioner: Partitioner, scope: string, clusterings: number, text: string): Position {
  if (text.length > MAX_TEXT || !/^[A-Za-z0-9_-]+$/.test(text)) throw badPosition('it is not a position text')
  const all = Buffer.from(text, 'base64url')
  if (all.length < 7 || all.toString('base64url') !== text) throw badPosition('it is cut off')
  if (all[0] !== VERSION) throw badPosition('it is of another version')
  const body = all.subarray(0, all.length - 4)
  if (all.readUInt32BE(body.length) !== checksum(scope, body)) {
    throw badPosition('it is damaged, or belongs to another table')
  }
  if (body[1] !== PARTITIONER_CODES[partitioner.name]) throw badPosition('it belongs to another partitioner')
  const reader = { body, at: 3 }
  const kind = body[2]
  const position =
    kind === KIND_TOKEN
      ? readToken(partitioner, reader)
      : readKey(partitioner, reader, clusterings, kind === KIND_AFTER)
  if (reader.at !== body.length || kind > KIND_AFTER) throw badPosition('it does not fit the table')
  return position
}

interface Reader {
  body: Buffer
  at: number
}

function readToken(partitioner: Partitioner, reader: Reader): TokenPosition {
  const words = new Int32Array(TOKEN_WORDS)
  if (reader.body.length < reader.at + partitioner.words * 4) throw badPosition('it is cut off')
  for (let i = 0; i < partitioner.words; i++, reader.at += 4) words[i] = reader.body.readInt32BE(reader.at)
  return { kind: 'token', token: { words, bytes: readSized(reader) } }
}

function readKey(partitioner: Partitioner, reader: Reader, clusterings: number, after: boolean): KeyPosition {
  const key = readSized(reader)
  const clustering: (Uint8Array | null)[] = []
  while (reader.at < reader.body.length) {
    if (clustering.length === clusterings) throw badPosition('it has more clustering values than the table')
    clustering.push(reader.body[reader.at++] === 0 ? null : readSized(reader))
  }
  return keyPosition(partitioner, key, clustering, after)
}

function readSized(reader: Reader): Uint8Array {
  const { body, at } = reader
  const end = at + 2 > body.length ? Number.POSITIVE_INFINITY : at + 2 + body.readUInt16BE(at)
  if (end > body.length) throw badPosition('it is cut off')
  reader.at = end
  return new Uint8Array(body.subarray(at + 2, end))
}

function badPosition(reason: string): SluiceError {
  return new SluiceError('BAD_POSITION', { reason })
}
