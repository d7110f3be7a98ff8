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
