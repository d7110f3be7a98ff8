// Constants of CQL as bytes of a scalar type (Cassandra's AbstractType.fromString).

import { isIPv4, isIPv6 } from 'node:net'
import type { CqlToken } from './cql-lexer.ts'
import type { CqlType } from './cql-type.ts'
import { parseDuration } from './literal-durations.ts'
import { decimalBytes, float32Of, integerBytes, varintBytes } from './literal-numbers.ts'
import { parseDate, parseTime, parseTimestamp } from './literal-times.ts'

// 1582-10-15 to 1970-01-01 in milliseconds: where uuids count from.
const UUID_EPOCH = 12219292800000n

const INTEGER_SIZES: Partial<Record<CqlType['kind'], number>> = {
  tinyint: 1,
  smallint: 2,
  int: 4,
  bigint: 8,
  counter: 8,
}

/** The bytes, or what is wrong: a few words, empty where the kind of literal says it all. */
export function constantBytes(token: CqlToken, type: CqlType): Uint8Array | string {
  switch (token.kind) {
    case 'string':
      return fromString(token.value, type)
    case 'integer':
      return fromInteger(token.value, type)
    case 'float':
      return fromFloat(token.value, type)
    case 'boolean':
      return type.kind === 'boolean' ? Uint8Array.of(token.value === 'true' ? 1 : 0) : ''
    case 'blob':
      return fromBlob(token.value, type)
    case 'uuid':
      return fromUuid(token.value, type)
    case 'duration':
      return type.kind === 'duration' ? parseDuration(token.value) : ''
    default:
      return token.kind === 'identifier' && !token.quoted ? 'functions are not called here' : ''
  }
}

/** The smallest or largest uuid of a millisecond, in the order of timeuuid: its low half is signed bytes there. */
export function timeuuidAt(milliseconds: bigint, isMax: boolean): Uint8Array {
  const ticks = BigInt.asUintN(60, (milliseconds + UUID_EPOCH + (isMax ? 1n : 0n)) * 10000n - (isMax ? 1n : 0n))
  const bytes = new Uint8Array(16).fill(isMax ? 0x7f : 0x80, 8)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, Number(ticks & 0xffffffffn))
  view.setUint16(4, Number((ticks >> 32n) & 0xffffn))
  view.setUint16(6, 0x1000 | Number(ticks >> 48n))
  return bytes
}

function fromString(text: string, type: CqlType): Uint8Array | string {
  switch (type.kind) {
    case 'text':
      return Buffer.from(text, 'utf8')
    case 'ascii':
      return /^[\x00-\x7f]*$/.test(text) ? Buffer.from(text, 'latin1') : 'it is not ASCII'
    case 'inet':
      return text === '' ? new Uint8Array(0) : (inetBytes(text) ?? 'no IPv4 or IPv6 address')
    case 'date':
      return orFault(parseDate(text), (days) => integerBytes(days, 4), 'no date such as 2024-01-31')
    case 'time':
      return orFault(parseTime(text), (nanos) => integerBytes(nanos, 8), 'no time of day such as 10:11:12.123456789')
    case 'timestamp':
      if (text === '') return new Uint8Array(0)
      return orFault(parseTimestamp(text), (ms) => integerBytes(ms, 8), 'no timestamp such as 2024-01-31T10:11:12.123Z')
    case 'blob':
      return 'blobs are written 0x...'
    case 'uuid':
    case 'timeuuid':
      return 'uuids are written without quotes'
    default:
      return ''
  }
}

function fromInteger(text: string, type: CqlType): Uint8Array | string {
  const size = INTEGER_SIZES[type.kind]
  if (size !== undefined)
    return orFault(within(BigInt(text), size), (value) => integerBytes(value, size), 'out of range')
  switch (type.kind) {
    case 'varint':
      return varintBytes(BigInt(text))
    case 'decimal':
    case 'double':
    case 'float':
      return fromFloat(text, type)
    case 'date':
      return orFault(parseDate(text), (days) => integerBytes(days, 4), 'out of range')
    case 'time':
      return orFault(parseTime(text), (nanos) => integerBytes(nanos, 8), 'out of range')
    case 'timestamp':
      return orFault(parseTimestamp(text), (ms) => integerBytes(ms, 8), 'out of range')
    default:
      return ''
  }
}

function fromFloat(text: string, type: CqlType): Uint8Array | string {
  const bytes = new Uint8Array(8)
  const view = new DataView(bytes.buffer)
  switch (type.kind) {
    case 'double':
      if (isOverflow(text)) return 'out of range'
      view.setFloat64(0, Number(text))
      return bytes
    case 'float':
      if (isOverflow(text)) return 'out of range'
      view.setFloat32(0, float32Of(text))
      return bytes.subarray(0, 4)
    case 'decimal':
      return decimalBytes(text) ?? 'no decimal number'
    default:
      return ''
  }
}

// Digits that no double holds; Infinity has to be written as a word.
function isOverflow(text: string): boolean {
  return !Number.isFinite(Number(text)) && /\d/.test(text)
}

function fromBlob(hex: string, type: CqlType): Uint8Array | string {
  if (type.kind !== 'blob' && type.kind !== 'custom') return ''
  return hex.length % 2 === 0 ? Buffer.from(hex, 'hex') : 'an odd number of hex digits'
}

function fromUuid(text: string, type: CqlType): Uint8Array | string {
  if (type.kind !== 'uuid' && type.kind !== 'timeuuid') return ''
  const bytes = Buffer.from(text.replaceAll('-', ''), 'hex')
  return type.kind === 'timeuuid' && bytes[6] >> 4 !== 1 ? 'a timeuuid has version 1' : bytes
}

/** 4 or 16 bytes; an IPv6 address that maps an IPv4 one becomes that, as in Java. */
function inetBytes(text: string): Uint8Array | undefined {
  if (isIPv4(text)) return Uint8Array.from(text.split('.'), Number)
  if (!isIPv6(text) || text.includes('%')) return undefined
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text)
  const last = dotted?.slice(2).map(Number)
  const pair = (high: number, low: number): string => ((high << 8) | low).toString(16)
  const plain = last === undefined ? text : `${dotted![1]}${pair(last[0], last[1])}:${pair(last[2], last[3])}`
  const [head, tail] = plain.split('::')
  const groups = (part: string | undefined): string[] => (part ? part.split(':') : [])
  const missing = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length
  const all = [...groups(head), ...Array<string>(missing).fill('0'), ...groups(tail)]
  const bytes = Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex')
  const isMapped = bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff
  return isMapped ? bytes.subarray(12) : bytes
}

function within(value: bigint, size: number): bigint | undefined {
  return BigInt.asIntN(size * 8, value) === value ? value : undefined
}

function orFault(value: bigint | undefined, encode: (value: bigint) => Uint8Array, fault: string): Uint8Array | string {
  return value === undefined ? fault : encode(value)
}
