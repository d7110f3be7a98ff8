// CQL types as plain records. ReversedType is not a type here: clustering order belongs to the column.
// varchar is 'text'. Sets, lists, maps and UDTs are multi-cell unless frozen (Cassandra: AbstractType.isMultiCell).

export type ScalarKind =
  | 'ascii'
  | 'bigint'
  | 'blob'
  | 'boolean'
  | 'counter'
  | 'date'
  | 'decimal'
  | 'double'
  | 'duration'
  | 'empty'
  | 'float'
  | 'inet'
  | 'int'
  | 'smallint'
  | 'text'
  | 'time'
  | 'timestamp'
  | 'timeuuid'
  | 'tinyint'
  | 'uuid'
  | 'varint'

export interface ScalarType {
  kind: ScalarKind
  /** An old class with the values of `kind` and an order of its own. No CQL type creates it, old tables keep it. */
  legacy?: 'DateType' | 'LexicalUUIDType'
}
export interface ListType {
  kind: 'list' | 'set'
  element: CqlType
  frozen: boolean
}
export interface MapType {
  kind: 'map'
  key: CqlType
  value: CqlType
  frozen: boolean
}
export interface TupleType {
  kind: 'tuple'
  fields: CqlType[]
}
export interface UdtType {
  kind: 'udt'
  keyspace: string
  name: string
  fieldNames: string[]
  fields: CqlType[]
  frozen: boolean
}
export interface VectorType {
  kind: 'vector'
  element: CqlType
  dimension: number
}
/** A type known by its Java class name alone (DynamicCompositeType, CompositeType, a user's class): exported as blob. */
export interface CustomType {
  kind: 'custom'
  /** Full class name with its arguments, without blanks. */
  className: string
}

export type CqlType = ScalarType | ListType | MapType | TupleType | UdtType | VectorType | CustomType

/** A column of this type is stored as several cells. */
export function isMultiCell(type: CqlType): boolean {
  return (type.kind === 'list' || type.kind === 'set' || type.kind === 'map' || type.kind === 'udt') && !type.frozen
}

/** True where a zero-length value is an ordinary value (text, ascii, blob) and not an "empty" one. */
export function isZeroLengthOrdinary(type: CqlType): boolean {
  return type.kind === 'text' || type.kind === 'ascii' || type.kind === 'blob' || type.kind === 'custom'
}

/** The type inside `frozen<...>`: one value, compared and stored whole. */
export function freeze(type: CqlType): CqlType {
  return isMultiCell(type) ? ({ ...type, frozen: true } as CqlType) : type
}

/**
 * Values of the one read as the other, in the same order: names of UDTs and their fields do not matter, and a tuple or UDT may
 * have gained fields at its end. Whether a type is multi-cell matters only if asked.
 */
export function sameValues(a: CqlType, b: CqlType, multiCell: boolean): boolean {
  if (multiCell && isMultiCell(a) !== isMultiCell(b)) return false
  if (a.kind === 'tuple' || a.kind === 'udt') {
    if (b.kind !== 'tuple' && b.kind !== 'udt') return false
    const shared = Math.min(a.fields.length, b.fields.length)
    for (let i = 0; i < shared; i++) if (!sameValues(a.fields[i], b.fields[i], false)) return false
    return true
  }
  if (a.kind === 'list' || a.kind === 'set') return b.kind === a.kind && sameValues(a.element, b.element, false)
  if (a.kind === 'map')
    return b.kind === 'map' && sameValues(a.key, b.key, false) && sameValues(a.value, b.value, false)
  if (a.kind === 'vector') {
    return b.kind === 'vector' && a.dimension === b.dimension && sameValues(a.element, b.element, false)
  }
  if (a.kind === 'custom') return b.kind === 'custom' && a.className === b.className
  return b.kind === a.kind && (b as ScalarType).legacy === (a as ScalarType).legacy
}
