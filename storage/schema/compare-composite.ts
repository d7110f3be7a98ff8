// Order of CompositeType and DynamicCompositeType values: Thrift-era clusterings and values that CQL knows by class name only.
// A component is (dynamic only: comparator), u16 length, bytes, end-of-component byte. A composite may start with the u16 0xFFFF
// that marks a static one.

import type { ValueComparator } from './compare.ts'
import type { CqlType } from './cql-type.ts'
import { damagedValue } from './damaged-value.ts'
import type { MarshalType } from './marshal.ts'
import { marshalClassName, parseMarshalType } from './marshal.ts'

const STATIC_MARKER = 0xffff

interface Component {
  compare: ValueComparator
  reversed: boolean
}

export function compositeComparator(components: Component[]): ValueComparator {
  return (a, aView, aOffset, aLength, b, bView, bOffset, bLength) => {
    if (aLength === 0 || bLength === 0) return aLength - bLength
    const aEnd = aOffset + aLength
    const bEnd = bOffset + bLength
    const aStatic = isStatic(aView, aOffset, aEnd)
    if (aStatic !== isStatic(bView, bOffset, bEnd)) return aStatic ? -1 : 1
    let aAt = aStatic ? aOffset + 2 : aOffset
    let bAt = aStatic ? bOffset + 2 : bOffset
    for (let i = 0; aAt < aEnd && bAt < bEnd; i++) {
      if (i >= components.length) throw damagedValue(`${components.length} components`, aLength)
      const aSize = sizeAt(aView, aAt, aEnd)
      const bSize = sizeAt(bView, bAt, bEnd)
      const { compare, reversed } = components[i]
      const c = compare(a, aView, aAt + 2, aSize, b, bView, bAt + 2, bSize)
      if (c !== 0) return reversed ? -c : c
      aAt += 3 + aSize
      bAt += 3 + bSize
      const ends = aView.getInt8(aAt - 1) - bView.getInt8(bAt - 1)
      if (ends !== 0) return ends
    }
    return (aAt < aEnd ? 1 : 0) - (bAt < bEnd ? 1 : 0)
  }
}

/** What a component of a dynamic composite says of itself. */
interface DynamicComponent extends Component {
  /** Simple and full class name: components of different classes sort by these. */
  names: [string, string]
  /** The same of the class within ReversedType, compared where both are reversed. */
  baseNames: [string, string]
}

/** @param comparatorOf the order of the types that the values name */
export function dynamicCompositeComparator(
  aliases: Map<string, MarshalType>,
  comparatorOf: (type: CqlType) => ValueComparator,
): ValueComparator {
  const known = new Map<string, DynamicComponent>()
  const component = (parsed: MarshalType): DynamicComponent => {
    const base = marshalClassName(parsed.type)
    const name = parsed.reversed ? 'org.apache.cassandra.db.marshal.ReversedType' : base
    return {
      compare: comparatorOf(parsed.type),
      reversed: parsed.reversed,
      names: [simpleName(name), name],
      baseNames: [simpleName(base), base],
    }
  }
  const byAlias = new Map([...aliases].map(([alias, type]) => [alias, component(type)]))
  const componentAt = (bytes: Uint8Array, view: DataView, at: number, end: number): DynamicComponent => {
    if (end - at < 2) throw damagedValue('2 bytes', end - at)
    const header = view.getUint16(at)
    if (header >= 0x8000) {
      const found = byAlias.get(String.fromCharCode(header & 0xff))
      if (found === undefined) throw damagedValue('an alias of the type', header & 0xff)
      return found
    }
    if (header > end - at - 2) throw damagedValue(`${header} bytes`, end - at - 2)
    const name = Buffer.from(bytes.buffer, bytes.byteOffset + at + 2, header).toString('utf8')
    let found = known.get(name)
    if (found === undefined) {
      found = component(parseMarshalType(name))
      // Only names met in files: few, unless the file is damaged.
      if (known.size < 256) known.set(name, found)
    }
    return found
  }
  return (a, aView, aOffset, aLength, b, bView, bOffset, bLength) => {
    if (aLength === 0 || bLength === 0) return aLength - bLength
    const aEnd = aOffset + aLength
    const bEnd = bOffset + bLength
    let aAt = aOffset
    let bAt = bOffset
    while (aAt < aEnd && bAt < bEnd) {
      const x = componentAt(a, aView, aAt, aEnd)
      const y = componentAt(b, bView, bAt, bEnd)
      const classes = compareClasses(x, y)
      if (classes !== 0) return classes
      aAt += comparatorSize(aView, aAt)
      bAt += comparatorSize(bView, bAt)
      const aSize = sizeAt(aView, aAt, aEnd)
      const bSize = sizeAt(bView, bAt, bEnd)
      const c = x.compare(a, aView, aAt + 2, aSize, b, bView, bAt + 2, bSize)
      if (c !== 0) return x.reversed ? -c : c
      aAt += 3 + aSize
      bAt += 3 + bSize
      const ends = aView.getInt8(aAt - 1) - bView.getInt8(bAt - 1)
      if (ends !== 0) return ends
    }
    return (aAt < aEnd ? 1 : 0) - (bAt < bEnd ? 1 : 0)
  }
}

function compareClasses(a: DynamicComponent, b: DynamicComponent): number {
  const x = a.reversed && b.reversed ? a.baseNames : a.names
  const y = a.reversed && b.reversed ? b.baseNames : b.names
  for (let i = 0; i < 2; i++) if (x[i] !== y[i]) return x[i] < y[i] ? -1 : 1
  return 0
}

function comparatorSize(view: DataView, at: number): number {
  const header = view.getUint16(at)
  return header >= 0x8000 ? 2 : 2 + header
}

// CompositeType.readStatic: the marker counts only if more than it is there.
function isStatic(view: DataView, at: number, end: number): boolean {
  return end - at >= 2 && view.getUint16(at) === STATIC_MARKER
}

/** Length of the component at `at`, which fits with its end-of-component byte. */
function sizeAt(view: DataView, at: number, end: number): number {
  if (end - at < 3) throw damagedValue('3 bytes', end - at)
  const size = view.getUint16(at)
  if (size > end - at - 3) throw damagedValue(`${size} bytes`, end - at - 3)
  return size
}

function simpleName(className: string): string {
  return className.slice(className.lastIndexOf('.') + 1)
}
