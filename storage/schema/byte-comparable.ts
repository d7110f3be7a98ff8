// Byte-comparable form of values and clusterings: bytes whose unsigned order is the order of the values, as bti tries hold them
// (Cassandra's ByteSource, version OSS50, and asComparableBytes of the types; CASSANDRA-6936). Used for seeks, a few per request:
// plain code, no tricks.

import { readUvint, vintSize } from '../bytes/vint.ts'
import { SluiceError } from '../errors.ts'
import { encodeDecimal, encodeVariableLength, encodeVarint } from './byte-comparable-numbers.ts'
import { type ByteSink, newSink, push, pushBytes, sinkBytes } from './byte-sink.ts'
import type { CqlType } from './cql-type.ts'
import { damagedValue } from './damaged-value.ts'
import { fixedLength } from './fixed-length.ts'
import {
  compositeComponents,
  dynamicCompositeAliases,
  type MarshalType,
  marshalClassName,
  parseMarshalType,
} from './marshal.ts'

const NEXT_COMPONENT = 0x40
const NEXT_COMPONENT_EMPTY = 0x3f
const NEXT_COMPONENT_EMPTY_REVERSED = 0x41
const NEXT_COMPONENT_NULL = 0x3e
const TERMINATOR = 0x38
const LT_NEXT_COMPONENT = 0x20
const GT_NEXT_COMPONENT = 0x60

/** ClusteringPrefix.Kind by ordinal: 0 to 2 sort before, 5 to 7 after all clusterings that begin with the values; 4 is a row. */
const END_BY_KIND = [
  LT_NEXT_COMPONENT,
  LT_NEXT_COMPONENT,
  LT_NEXT_COMPONENT,
  0x18, // static: sorts before everything
  TERMINATOR,
  GT_NEXT_COMPONENT,
  GT_NEXT_COMPONENT,
  GT_NEXT_COMPONENT,
]

/**
 * @param types of the clustering columns, without ReversedType
 * @param reversed which of them are DESC
 * @param values on-disk bytes, null for a null part; fewer than the types in bounds
 * @param boundKind ordinal of ClusteringPrefix.Kind
 * @throws SluiceError CORRUPT_SSTABLE for bytes that are no value of their type, UNSUPPORTED_TYPE for unknown classes
 */
export function encodeClusteringPrefix(
  types: readonly CqlType[],
  reversed: readonly boolean[],
  values: readonly (Uint8Array | null)[],
  boundKind: number,
): Uint8Array {
  const sink = newSink()
  values.forEach((value, i) => {
    if (value === null) push(sink, NEXT_COMPONENT_NULL)
    else pushComponent(sink, types[i], reversed[i], value)
  })
  push(sink, END_BY_KIND[boundKind])
  return sinkBytes(sink)
}

/** The value's own bytes, ascending; undefined for an empty value of a type that has none for it (all but text, ascii, blob, inet). */
export function encodeValue(type: CqlType, value: Uint8Array): Uint8Array | undefined {
  const sink = newSink()
  return pushValue(sink, type, value) ? sinkBytes(sink) : undefined
}

function pushComponent(sink: ByteSink, type: CqlType, reversed: boolean, value: Uint8Array): void {
  const start = sink.length
  push(sink, NEXT_COMPONENT)
  if (!pushValue(sink, type, value)) {
    sink.bytes[start] = reversed ? NEXT_COMPONENT_EMPTY_REVERSED : NEXT_COMPONENT_EMPTY
  } else if (reversed) {
    for (let i = start + 1; i < sink.length; i++) sink.bytes[i] ^= 0xff
  }
}

/** Writes the value, or nothing and returns false where it has no bytes of its own. */
function pushValue(sink: ByteSink, type: CqlType, value: Uint8Array): boolean {
  switch (type.kind) {
    case 'ascii':
    case 'blob':
    case 'duration':
    case 'inet':
    case 'text':
      pushEscaped(sink, value)
      return true
    case 'counter':
      throw new SluiceError('UNSUPPORTED_TYPE', { type: 'counter', reason: 'counters have no order' })
    case 'bigint':
      if (value.length > 0) encodeVariableLength(sink, viewOf(sized(value, 8)).getBigInt64(0))
      return value.length > 0
    case 'boolean':
      if (value.length > 0) push(sink, sized(value, 1)[0] === 0 ? 0 : 1)
      return value.length > 0
    case 'date':
    case 'time':
      pushBytes(sink, value)
      return value.length > 0
    case 'decimal':
      if (value.length > 0) encodeDecimal(sink, value)
      return value.length > 0
    case 'double':
    case 'float':
      return pushFloat(sink, value, type.kind === 'float' ? 4 : 8)
    case 'empty':
      return false
    case 'int':
      return pushSigned(sink, value, 4)
    case 'smallint':
      return pushSigned(sink, value, 2)
    case 'tinyint':
      return pushSigned(sink, value, 1)
    case 'timestamp':
      if (type.legacy !== 'DateType') return pushSigned(sink, value, 8)
      pushBytes(sink, value)
      return value.length > 0
    case 'timeuuid':
      return value.length > 0 && pushTimeuuid(sink, sized(value, 16))
    case 'uuid':
      if (value.length === 0) return false
      return type.legacy === undefined ? pushUuid(sink, sized(value, 16)) : pushLexicalUuid(sink, sized(value, 16))
    case 'varint':
      if (value.length > 0) encodeVarint(sink, value)
      return value.length > 0
    case 'list':
    case 'set':
    case 'map':
      return value.length > 0 && pushCollection(sink, type, value)
    case 'tuple':
    case 'udt':
      return value.length > 0 && pushTuple(sink, type.fields, value)
    case 'vector':
      return pushVector(sink, type.element, type.dimension, value)
    case 'custom':
      return pushCustom(sink, type.className, value)
  }
}

// A run of k zeros is 00, (k - 1) times FE, then FF if more follows or FE if it ends the value; else a 00 ends the value.
function pushEscaped(sink: ByteSink, value: Uint8Array): void {
  let inRun = false
  for (const byte of value) {
    if (byte === 0) push(sink, inRun ? 0xfe : 0x00)
    else {
      if (inRun) push(sink, 0xff)
      push(sink, byte)
    }
    inRun = byte === 0
  }
  push(sink, inRun ? 0xfe : 0x00)
}

function pushSigned(sink: ByteSink, value: Uint8Array, size: number): boolean {
  if (value.length === 0) return false
  const start = sink.length
  pushBytes(sink, sized(value, size))
  sink.bytes[start] ^= 0x80
  return true
}

function pushFloat(sink: ByteSink, value: Uint8Array, size: number): boolean {
  if (value.length === 0) return false
  const start = sink.length
  pushBytes(sink, sized(value, size))
  if (value[0] < 0x80) sink.bytes[start] ^= 0x80
  else for (let i = start; i < sink.length; i++) sink.bytes[i] ^= 0xff
  return true
}

// The time from its highest bits to its lowest: version and high, mid, low.
function pushTime(sink: ByteSink, uuid: Uint8Array): void {
  for (const i of [6, 7, 4, 5, 0, 1, 2, 3]) push(sink, uuid[i])
}

function pushTimeuuid(sink: ByteSink, uuid: Uint8Array): true {
  pushTime(sink, uuid)
  for (let i = 8; i < 16; i++) push(sink, uuid[i] ^ 0x80)
  return true
}

// Version nibble first; for other versions than 1 the high half follows without it, moved by a nibble.
function pushUuid(sink: ByteSink, uuid: Uint8Array): true {
  if (uuid[6] >> 4 === 1) pushTime(sink, uuid)
  else {
    push(sink, (uuid[6] & 0xf0) | (uuid[0] >> 4))
    for (let i = 0; i < 5; i++) push(sink, ((uuid[i] << 4) | (uuid[i + 1] >> 4)) & 0xff)
    push(sink, ((uuid[5] << 4) | (uuid[6] & 0x0f)) & 0xff)
    push(sink, uuid[7])
  }
  pushBytes(sink, uuid.subarray(8))
  return true
}

function pushLexicalUuid(sink: ByteSink, uuid: Uint8Array): true {
  const start = sink.length
  pushBytes(sink, uuid)
  sink.bytes[start] ^= 0x80
  sink.bytes[start + 8] ^= 0x80
  return true
}

/** An element of a composed value: its bytes, or nothing where the value has none. */
function pushElement(sink: ByteSink, type: CqlType, value: Uint8Array | null): void {
  const start = sink.length
  push(sink, NEXT_COMPONENT)
  if (value === null || !pushValue(sink, type, value)) sink.bytes[start] = NEXT_COMPONENT_NULL
}

function pushCollection(
  sink: ByteSink,
  type: Extract<CqlType, { kind: 'list' | 'set' | 'map' }>,
  value: Uint8Array,
): true {
  const view = viewOf(value)
  const isMap = type.kind === 'map'
  const count = lengthAt(view, 0) * (isMap ? 2 : 1)
  let at = 4
  for (let i = 0; i < count; i++) {
    const element = partAt(value, view, at)
    at += 4 + (element?.length ?? 0)
    pushElement(sink, !isMap ? type.element : i % 2 === 0 ? type.key : type.value, element)
  }
  push(sink, TERMINATOR)
  return true
}

// Trailing nulls are dropped: a tuple sorts with the one that lacks these fields.
function pushTuple(sink: ByteSink, fields: readonly CqlType[], value: Uint8Array): true {
  const view = viewOf(value)
  let kept = sink.length
  let at = 0
  for (let i = 0; i < fields.length && at < value.length; i++) {
    const field = partAt(value, view, at)
    at += 4 + (field?.length ?? 0)
    pushElement(sink, fields[i], field)
    if (field !== null) kept = sink.length
  }
  sink.length = kept
  push(sink, TERMINATOR)
  return true
}

function pushVector(sink: ByteSink, element: CqlType, dimension: number, value: Uint8Array): boolean {
  if (value.length === 0) return false
  const fixed = fixedLength(element)
  let at = 0
  for (let i = 0; i < dimension; i++) {
    if (fixed < 0 && at >= value.length) throw damagedValue(`${dimension} elements`, value.length)
    const size = fixed < 0 ? readUvint(value, at) : fixed
    if (fixed < 0) at += vintSize(value[at])
    if (size > value.length - at) throw damagedValue(`${size} bytes`, value.length - at)
    pushElement(sink, element, value.subarray(at, at + size))
    at += size
  }
  push(sink, TERMINATOR)
  return true
}

function pushCustom(sink: ByteSink, className: string, value: Uint8Array): boolean {
  const components = compositeComponents(className)
  if (components !== undefined) return value.length > 0 && pushComposite(sink, components, value)
  const aliases = dynamicCompositeAliases(className)
  if (aliases !== undefined) return pushDynamicComposite(sink, aliases, value)
  throw new SluiceError('UNSUPPORTED_TYPE', { type: className, reason: 'the order of its values is not known' })
}

// A leading component marks static composites; behind each component comes its end-of-component byte, as a signed one.
function pushComposite(sink: ByteSink, components: readonly MarshalType[], value: Uint8Array): true {
  const view = viewOf(value)
  const isStatic = value.length >= 2 && view.getUint16(0) === 0xffff
  push(sink, isStatic ? NEXT_COMPONENT_NULL : NEXT_COMPONENT)
  let at = isStatic ? 2 : 0
  for (let i = 0; at < value.length; i++) {
    if (i >= components.length) throw damagedValue(`${components.length} components`, value.length)
    at = pushCompositePart(sink, components[i], value, view, at)
  }
  push(sink, TERMINATOR)
  return true
}

function pushDynamicComposite(sink: ByteSink, aliases: Map<string, MarshalType>, value: Uint8Array): true {
  const view = viewOf(value)
  push(sink, NEXT_COMPONENT)
  let at = 0
  while (at < value.length) {
    if (value.length - at < 2) throw damagedValue('2 bytes', value.length - at)
    const header = view.getUint16(at)
    at += 2
    let type: MarshalType | undefined
    if (header >= 0x8000) type = aliases.get(String.fromCharCode(header & 0xff))
    else {
      if (header > value.length - at) throw damagedValue(`${header} bytes`, value.length - at)
      type = parseMarshalType(Buffer.from(value.subarray(at, at + header)).toString('utf8'))
      at += header
    }
    if (type === undefined) throw damagedValue('an alias of the type', header & 0xff)
    pushClassNames(sink, type)
    at = pushCompositePart(sink, type, value, view, at)
  }
  push(sink, TERMINATOR)
  return true
}

// Components of different classes sort by simple, then full class name; reversed ones by "ReversedType" before those.
function pushClassNames(sink: ByteSink, { type, reversed }: MarshalType): void {
  const name = marshalClassName(type)
  const text = (value: string): void => pushElement(sink, { kind: 'text' }, Buffer.from(value))
  if (reversed) text('ReversedType')
  text(name.slice(name.lastIndexOf('.') + 1))
  text(name)
}

function pushCompositePart(sink: ByteSink, part: MarshalType, value: Uint8Array, view: DataView, at: number): number {
  if (value.length - at < 3) throw damagedValue('3 bytes', value.length - at)
  const size = view.getUint16(at)
  const end = at + 2 + size
  if (end >= value.length) throw damagedValue(`${size} bytes`, value.length - at - 3)
  const start = sink.length
  pushElement(sink, part.type, value.subarray(at + 2, end))
  if (part.reversed) for (let i = start + 1; i < sink.length; i++) sink.bytes[i] ^= 0xff
  pushBytes(sink, Uint8Array.of(NEXT_COMPONENT, value[end] ^ 0x80))
  return end + 1
}

function partAt(value: Uint8Array, view: DataView, at: number): Uint8Array | null {
  const size = lengthAt(view, at)
  if (size < 0) return null
  if (size > value.length - at - 4) throw damagedValue(`${size} bytes`, value.length - at - 4)
  return value.subarray(at + 4, at + 4 + size)
}

function lengthAt(view: DataView, at: number): number {
  if (view.byteLength - at < 4) throw damagedValue('4 bytes', view.byteLength - at)
  return view.getInt32(at)
}

function sized(value: Uint8Array, size: number): Uint8Array {
  if (value.length !== size) throw damagedValue(`${size} bytes`, value.length)
  return value
}

function viewOf(value: Uint8Array): DataView {
  return new DataView(value.buffer, value.byteOffset, value.byteLength)
}
