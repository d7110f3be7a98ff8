// BatchSchema as the flatbuffer Schema of Arrow's IPC format (Schema.fbs, metadata version V5).
// Field metadata names the CQL side of a column: cql.type, cql.kind, cql.position, cql.order.

import { Binary } from 'apache-arrow/fb/binary'
import { Bool } from 'apache-arrow/fb/bool'
import { Date as DateType } from 'apache-arrow/fb/date'
import { DateUnit } from 'apache-arrow/fb/date-unit'
import { Decimal } from 'apache-arrow/fb/decimal'
import { Endianness } from 'apache-arrow/fb/endianness'
import { Field as FieldTable } from 'apache-arrow/fb/field'
import { FixedSizeBinary } from 'apache-arrow/fb/fixed-size-binary'
import { FixedSizeList } from 'apache-arrow/fb/fixed-size-list'
import { FloatingPoint } from 'apache-arrow/fb/floating-point'
import { Int } from 'apache-arrow/fb/int'
import { Interval } from 'apache-arrow/fb/interval'
import { IntervalUnit } from 'apache-arrow/fb/interval-unit'
import { KeyValue } from 'apache-arrow/fb/key-value'
import { List } from 'apache-arrow/fb/list'
import { Map as MapTable } from 'apache-arrow/fb/map'
import { Null } from 'apache-arrow/fb/null'
import { Precision } from 'apache-arrow/fb/precision'
import { Schema } from 'apache-arrow/fb/schema'
import { Struct_ } from 'apache-arrow/fb/struct-'
import { Time } from 'apache-arrow/fb/time'
import { TimeUnit } from 'apache-arrow/fb/time-unit'
import { Timestamp } from 'apache-arrow/fb/timestamp'
import { Type } from 'apache-arrow/fb/type'
import { Utf8 } from 'apache-arrow/fb/utf8'
import type { Builder, Offset } from 'flatbuffers'
import type { BatchSchema, Field, Layout } from '../../storage/rows/batch.ts'

/** Writes the schema into the builder and returns where. */
export function writeSchema(builder: Builder, schema: BatchSchema): Offset {
  const fields = Schema.createFieldsVector(
    builder,
    schema.fields.map((field) => writeField(builder, field)),
  )
  const metadata = writeKeyValues(builder, schema.metadata)
  Schema.startSchema(builder)
  Schema.addEndianness(builder, Endianness.Little)
  Schema.addFields(builder, fields)
  if (metadata !== 0) Schema.addCustomMetadata(builder, metadata)
  return Schema.endSchema(builder)
}

/** A vector of KeyValue tables; 0 where there are none. Used for schemas, fields, messages and the file footer alike. */
export function writeKeyValues(builder: Builder, entries: Iterable<readonly [string, string]>): Offset {
  const offsets: Offset[] = []
  for (const [key, value] of entries) {
    const keyAt = builder.createString(key)
    const valueAt = builder.createString(value)
    offsets.push(KeyValue.createKeyValue(builder, keyAt, valueAt))
  }
  return offsets.length === 0 ? 0 : Schema.createCustomMetadataVector(builder, offsets)
}

/** The metadata of one field, as readers see it. */
export function fieldMetadata(field: Field): Map<string, string> {
  const metadata = new Map<string, string>()
  if (field.column !== undefined) {
    metadata.set('cql.type', field.column.cqlType)
    metadata.set('cql.kind', field.column.kind)
    if (field.column.position >= 0) metadata.set('cql.position', String(field.column.position))
    if (field.column.kind === 'clustering') metadata.set('cql.order', field.column.reversed ? 'desc' : 'asc')
  }
  // What is text here, and not in CQL: inside collections, tuples and UDTs too.
  const { kind } = field.type
  if (kind === 'inet' || kind === 'decimal' || kind === 'varint') metadata.set('cql.type', kind)
  if (field.layout.kind === 'uuid') {
    // A canonical extension type (Arrow: CanonicalExtensions, UUID): storage FixedSizeBinary(16), no parameters.
    metadata.set('ARROW:extension:name', 'arrow.uuid')
    metadata.set('ARROW:extension:metadata', '')
  }
  return metadata
}

function writeField(builder: Builder, field: Field): Offset {
  const childOffsets = field.children.map((child) => writeField(builder, child))
  const children = FieldTable.createChildrenVector(builder, childOffsets)
  const metadata = writeKeyValues(builder, fieldMetadata(field))
  const name = builder.createString(field.name)
  const type = writeType(builder, field.layout)
  FieldTable.startField(builder)
  FieldTable.addName(builder, name)
  FieldTable.addNullable(builder, field.nullable)
  FieldTable.addTypeType(builder, TYPE_IDS[field.layout.kind])
  FieldTable.addType(builder, type)
  FieldTable.addChildren(builder, children)
  if (metadata !== 0) FieldTable.addCustomMetadata(builder, metadata)
  return FieldTable.endField(builder)
}

const TYPE_IDS: Record<Layout['kind'], Type> = {
  null: Type.Null,
  bool: Type.Bool,
  int8: Type.Int,
  int16: Type.Int,
  int32: Type.Int,
  int64: Type.Int,
  float32: Type.FloatingPoint,
  float64: Type.FloatingPoint,
  date32: Type.Date,
  time64ns: Type.Time,
  timestamp_ms: Type.Timestamp,
  uuid: Type.FixedSizeBinary,
  interval: Type.Interval,
  decimal128: Type.Decimal,
  decimal256: Type.Decimal,
  utf8: Type.Utf8,
  binary: Type.Binary,
  list: Type.List,
  map: Type.Map,
  struct: Type.Struct_,
  fixed_list: Type.FixedSizeList,
}

function writeType(builder: Builder, layout: Layout): Offset {
  switch (layout.kind) {
    case 'null':
      Null.startNull(builder)
      return Null.endNull(builder)
    case 'bool':
      Bool.startBool(builder)
      return Bool.endBool(builder)
    case 'int8':
      return Int.createInt(builder, 8, true)
    case 'int16':
      return Int.createInt(builder, 16, true)
    case 'int32':
      return Int.createInt(builder, 32, true)
    case 'int64':
      return Int.createInt(builder, 64, true)
    case 'float32':
      return FloatingPoint.createFloatingPoint(builder, Precision.SINGLE)
    case 'float64':
      return FloatingPoint.createFloatingPoint(builder, Precision.DOUBLE)
    case 'date32':
      return DateType.createDate(builder, DateUnit.DAY)
    case 'time64ns':
      return Time.createTime(builder, TimeUnit.NANOSECOND, 64)
    case 'timestamp_ms':
      return Timestamp.createTimestamp(builder, TimeUnit.MILLISECOND, builder.createString('UTC'))
    case 'uuid':
      return FixedSizeBinary.createFixedSizeBinary(builder, 16)
    case 'interval':
      return Interval.createInterval(builder, IntervalUnit.MONTH_DAY_NANO)
    case 'decimal128':
      return Decimal.createDecimal(builder, layout.precision, layout.scale, 128)
    case 'decimal256':
      return Decimal.createDecimal(builder, layout.precision, layout.scale, 256)
    case 'utf8':
      Utf8.startUtf8(builder)
      return Utf8.endUtf8(builder)
    case 'binary':
      Binary.startBinary(builder)
      return Binary.endBinary(builder)
    case 'list':
      List.startList(builder)
      return List.endList(builder)
    case 'map':
      return MapTable.createMap(builder, false)
    case 'struct':
      Struct_.startStruct_(builder)
      return Struct_.endStruct_(builder)
    case 'fixed_list':
      return FixedSizeList.createFixedSizeList(builder, layout.size)
  }
}
