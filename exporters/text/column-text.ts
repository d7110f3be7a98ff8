// The writer for a field, chosen by its layout and CQL type, with those of its children.

import type { Field } from '../../storage/rows/batch.ts'
import { CsvJsonText, FixedListText, ListText, MapText, ObjectText, TupleText } from './nested-text.ts'
import {
  BoolText,
  CsvStringText,
  DateText,
  DecimalText,
  Float32Text,
  Float64Text,
  HexText,
  Int8Text,
  Int16Text,
  Int32Text,
  Int64Text,
  IntervalText,
  JsonStringText,
  NullText,
  PlainText,
  TimestampText,
  TimeText,
  UuidText,
} from './scalar-text.ts'
import type { Form, ValueText } from './value-text.ts'

const JSON_NULL = Buffer.from('null')

/** Values as SELECT JSON prints them. */
export function jsonText(field: Field): ValueText {
  const children = field.children
  switch (field.layout.kind) {
    case 'list':
      return new ListText(JSON_NULL, jsonText(children[0]))
    case 'fixed_list':
      return new FixedListText(JSON_NULL, jsonText(children[0]), field.layout.size)
    case 'map': {
      const [key, value] = children[0].children
      return new MapText(JSON_NULL, jsonText(key), jsonText(value))
    }
    case 'struct':
      if (field.type.kind === 'tuple') return new TupleText(JSON_NULL, children.map(jsonText))
      return new ObjectText(
        JSON_NULL,
        children.map((child) => child.name),
        children.map(jsonText),
      )
    default:
      return scalarText(field, JSON_NULL, 'json')
  }
}

/** Values as CSV fields, null as `nullText`. */
export function csvText(field: Field, nullText: Uint8Array): ValueText {
  switch (field.layout.kind) {
    case 'list':
    case 'fixed_list':
    case 'map':
    case 'struct':
      return new CsvJsonText(nullText, jsonText(field))
    default:
      return scalarText(field, nullText, 'csv')
  }
}

function scalarText(field: Field, nullText: Uint8Array, form: Form): ValueText {
  const { layout } = field
  switch (layout.kind) {
    case 'bool':
      return new BoolText(nullText, form, false)
    case 'int8':
      return new Int8Text(nullText, form, false)
    case 'int16':
      return new Int16Text(nullText, form, false)
    case 'int32':
      return new Int32Text(nullText, form, false)
    case 'int64':
      return new Int64Text(nullText, form, false)
    case 'float32':
      return new Float32Text(nullText, form, false)
    case 'float64':
      return new Float64Text(nullText, form, false)
    case 'date32':
      return new DateText(nullText, form, true)
    case 'time64ns':
      return new TimeText(nullText, form, true)
    case 'timestamp_ms':
      return new TimestampText(nullText, form, true)
    case 'uuid':
      return new UuidText(nullText, form, true)
    case 'interval':
      return new IntervalText(nullText, form, true)
    case 'decimal128':
      return new DecimalText(nullText, form, 128, layout.scale)
    case 'decimal256':
      return new DecimalText(nullText, form, 256, layout.scale)
    case 'utf8':
      return utf8Text(field, nullText, form)
    case 'binary':
      return new HexText(nullText, form)
    default:
      return new NullText(nullText, false)
  }
}

function utf8Text(field: Field, nullText: Uint8Array, form: Form): ValueText {
  switch (field.type.kind) {
    case 'decimal':
    case 'varint':
      return new PlainText(nullText, false, '')
    case 'inet':
      return new PlainText(nullText, form === 'json', '')
    case 'duration':
      return new PlainText(nullText, form === 'json', form === 'json' ? '' : '0ns')
    default:
      return form === 'json' ? new JsonStringText(nullText, true) : new CsvStringText(nullText, false)
  }
}
