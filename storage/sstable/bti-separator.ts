// Back from the separators of a row index trie to clustering values. A separator is what tells two neighbouring blocks apart
// and ends anywhere, one byte above the last clustering of the block before (o.a.c.utils.bytecomparable.ByteComparable
// .separatorGt), so what comes out is a place between rows, close to the block's start, and not always a clustering that is there.

import type { CqlType } from '../schema/cql-type.ts'
import type { ClusteringPlace } from './index.ts'

// o.a.c.utils.bytecomparable.ByteSource
const BEFORE = 0x20
const ROW = 0x38
const NULL = 0x3e
const EMPTY = 0x3f
const VALUE = 0x40
const EMPTY_REVERSED = 0x41

interface Decoded {
  value: Uint8Array
  /** Bytes taken; beyond the end of the path if it was cut off. */
  length: number
}

/** null where the path tells no value of the first clustering column. */
export function decodeSeparator(
  types: readonly CqlType[],
  reversed: readonly boolean[],
  path: Uint8Array,
): ClusteringPlace | null {
  const clustering: (Uint8Array | null)[] = []
  const place = (after: boolean) => (clustering.length === 0 ? null : { clustering, after })
  for (let at = 0; at < path.length; ) {
    const head = path[at++]
    const column = clustering.length
    if (column >= types.length) return place(head > ROW)
    if (head === NULL) clustering.push(null)
    else if (head === EMPTY || (head === EMPTY_REVERSED && reversed[column])) clustering.push(new Uint8Array(0))
    else if (head !== VALUE) return place(head > BEFORE)
    else {
      if (at === path.length) return place(false)
      const decoded = decodeValue(types[column], path.subarray(at), reversed[column] ? 0xff : 0)
      if (decoded === null) return place(false)
      clustering.push(decoded.value)
      at += decoded.length
    }
  }
  return place(false)
}

/** A value from the start of the bytes, read as followed by zeros where they end too early. null: not one to be decoded. */
function decodeValue(type: CqlType, bytes: Uint8Array, mask: number): Decoded | null {
  const byte = (i: number) => (i < bytes.length ? bytes[i] : 0) ^ mask
  const fixed = (length: number) => Uint8Array.from({ length }, (_, i) => byte(i))
  switch (type.kind) {
    case 'text':
    case 'ascii':
    case 'blob':
    case 'inet':
      return unescapeBytes(bytes, mask)
    case 'tinyint':
      return flipped(fixed(1))
    case 'smallint':
      return flipped(fixed(2))
    case 'int':
      return flipped(fixed(4))
    case 'timestamp':
      return flipped(fixed(8))
    case 'boolean':
      return { value: fixed(1), length: 1 }
    case 'date':
      return { value: fixed(4), length: 4 }
    case 'time':
      return { value: fixed(8), length: 8 }
    case 'float':
      return floating(fixed(4))
    case 'double':
      return floating(fixed(8))
    case 'uuid':
      return isPlain(type) ? uuid(fixed(16)) : null
    case 'timeuuid':
      return timeuuid(fixed(16))
    case 'bigint':
      return bigint(byte, mask !== 0)
    case 'varint':
      return varint(byte, mask !== 0)
    default:
      return null
  }
}

/** False for LexicalUUIDType, which has an order of its own. */
function isPlain(type: CqlType): boolean {
  return !('legacy' in type) || type.legacy === undefined
}

/**
 * A value from its escaped form, which may be cut off anywhere: a run of k zeros is 0x00, k - 1 times 0xFE, then 0xFF, or 0xFE
 * at the end; a value that does not end with a zero is closed by one. Of all values that begin so, the one that sorts first:
 * cut off, a value in DESC order goes on with the greatest bytes.
 */
export function unescapeBytes(bytes: Uint8Array, mask: number): Decoded {
  const value: number[] = []
  // Behind the end, what sorts first: in DESC order the greatest byte, which goes on with the value; else the value's end.
  const byte = (i: number) => (i < bytes.length ? bytes[i] ^ mask : mask)
  let at = 0
  while (at < bytes.length) {
    if (byte(at) !== 0) {
      value.push(byte(at++))
      continue
    }
    let next = byte(++at)
    // Behind a zero: more of the run, more of the value, the end of it, or (anything else) the end of a value without zero.
    if (next !== 0xfe && next !== 0xff) return { value: Uint8Array.from(value), length: at }
    value.push(0)
    while (next === 0xfe) {
      next = byte(++at)
      if (next !== 0xfe && next !== 0xff) return { value: Uint8Array.from(value), length: at }
      value.push(0)
    }
    at++
    // Cut off where something other than a zero follows.
    if (at === bytes.length && mask === 0) value.push(1)
  }
  if (mask !== 0) value.push(0xff, 0xff, 0xff, 0xff)
  return { value: Uint8Array.from(value), length: at }
}

function flipped(value: Uint8Array): Decoded {
  value[0] ^= 0x80
  return { value, length: value.length }
}

function floating(value: Uint8Array): Decoded {
  if (value[0] & 0x80) value[0] ^= 0x80
  else for (let i = 0; i < value.length; i++) value[i] ^= 0xff
  return { value, length: value.length }
}

function timeuuid(value: Uint8Array): Decoded {
  for (let i = 8; i < 16; i++) value[i] ^= 0x80
  return { value: unreordered(value), length: 16 }
}

/** Time words stand high, middle, low. */
function unreordered(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from([
    ...bytes.subarray(4, 8),
    ...bytes.subarray(2, 4),
    ...bytes.subarray(0, 2),
    ...bytes.subarray(8),
  ])
}

function uuid(bytes: Uint8Array): Decoded {
  const version = bytes[0] >> 4
  if (version === 1) return { value: unreordered(bytes), length: 16 }
  const view = new DataView(bytes.buffer)
  const high = view.getBigUint64(0)
  view.setBigUint64(0, ((high << 4n) & 0xffffffffffff0000n) | (BigInt(version) << 12n) | (high & 0xfffn))
  return { value: bytes, length: 16 }
}

/**
 * Variable-length integers: n bytes hold 7n - 1 bits behind n ones and a zero, or 63 bits behind nine ones; negative numbers
 * inverted. Between what n bytes and what n + 1 bytes stand for lie bytes that stand for nothing: they give the next number in the
 * column's order.
 */
function variable(byte: (i: number) => number, reversed: boolean): { value: bigint; length: number } {
  const negative = byte(0) < 0x80
  const sign = negative ? 0xff : 0
  const ones = Math.clz32(~((byte(0) ^ sign) << 24))
  const length = ones < 8 ? ones : (byte(1) ^ sign) & 0x80 ? 9 : 8
  let value = 0n
  for (let i = 0; i < length; i++) value = (value << 8n) | BigInt(byte(i) ^ sign)
  value = BigInt.asUintN(7 * length - (length === 9 ? 0 : 1), value)
  const least = length === 1 ? 0n : 1n << BigInt(7 * (length - 1) - 1)
  if (value < least) return { value: behindGap(least, negative, reversed), length }
  return { value: negative ? ~value : value, length }
}

/** The gap lies between least - 1 and least, or between -least - 1 and -least. */
function behindGap(least: bigint, negative: boolean, reversed: boolean): bigint {
  return (negative ? -least : least) - (reversed ? 1n : 0n)
}

function bigint(byte: (i: number) => number, reversed: boolean): Decoded {
  const { value, length } = variable(byte, reversed)
  return { value: twosComplement(BigInt.asIntN(64, value), 8), length }
}

function varint(byte: (i: number) => number, reversed: boolean): Decoded | null {
  const head = byte(0)
  if (head !== 0x00 && head !== 0xff) {
    const { value, length } = variable(byte, reversed)
    return { value: twosComplement(value), length }
  }
  // A longer one: how many bytes more than 7, inverted if negative, then the bytes without sign padding. One of more than 134
  // is not worth the trouble.
  const negative = head === 0
  const length = (byte(1) ^ (negative ? 0xff : 0)) + 7
  if (length > 134) return null
  let value = 0n
  for (let i = 0; i < length; i++) value = (value << 8n) | BigInt(byte(i + 2))
  const least = 1n << BigInt(8 * (length - 1))
  if (negative) {
    const distance = (1n << BigInt(8 * length)) - value
    value = distance > least ? -distance : behindGap(least, negative, reversed)
  } else if (value < least) value = behindGap(least, negative, reversed)
  return { value: twosComplement(value), length: 2 + length }
}

/** Big-endian two's complement in as few bytes as hold it, or in the number given. */
function twosComplement(value: bigint, size?: number): Uint8Array {
  let length = size ?? 1
  if (size === undefined) while (BigInt.asIntN(8 * length, value) !== value) length++
  return Uint8Array.from({ length }, (_, i) => Number((value >> BigInt(8 * (length - 1 - i))) & 0xffn))
}
