// The builder of a field, with those of its children.

import { SluiceError } from '../../errors.ts'
import type { Field } from '../batch.ts'
import type { ColumnBuilder } from '../column-builder.ts'
import type { BufferOptions } from './buffers.ts'
import { DecimalBuilder, NumberTextBuilder } from './decimal-builders.ts'
import { DurationStructBuilder, DurationTextBuilder, IntervalBuilder } from './duration-builders.ts'
import {
  BoolBuilder,
  Int8Builder,
  Int16Builder,
  NullBuilder,
  UuidBuilder,
  Word32Builder,
  Word64Builder,
} from './fixed-builders.ts'
import { InetBuilder } from './inet-text.ts'
import { ListBuilder } from './list-builder.ts'
import { MapBuilder } from './map-builder.ts'
import { StructBuilder } from './struct-builder.ts'
import { BinaryBuilder, TextBuilder } from './varlen-builder.ts'
import { VectorBuilder } from './vector-builder.ts'

/**
 * An empty builder for a field made by fieldOf() or computedField(). After an error that one of its methods threw, it must
 * be reset before it is used again.
 */
export function createBuilder(field: Field, options: BufferOptions = {}): ColumnBuilder {
  const inner = { ...options, column: options.column ?? field.name }
  const child = (f: Field): ColumnBuilder => createBuilder(f, inner)
  switch (field.layout.kind) {
    case 'null':
      return new NullBuilder(field, inner)
    case 'bool':
      return new BoolBuilder(field, inner)
    case 'int8':
      return new Int8Builder(field, inner)
    case 'int16':
      return new Int16Builder(field, inner)
    case 'int32':
    case 'float32':
    case 'date32':
      return new Word32Builder(field, inner)
    case 'int64':
    case 'float64':
    case 'time64ns':
    case 'timestamp_ms':
      return new Word64Builder(field, inner)
    case 'uuid':
      return new UuidBuilder(field, inner)
    case 'interval':
      return new IntervalBuilder(field, inner)
    case 'decimal128':
    case 'decimal256':
      return new DecimalBuilder(field, inner)
    case 'binary':
      return new BinaryBuilder(field, inner)
    case 'utf8':
      return createText(field, inner)
    case 'list':
      return new ListBuilder(field, inner, child(field.children[0]))
    case 'map': {
      const [key, value] = field.children[0].children
      return new MapBuilder(field, inner, child(key), child(value))
    }
    case 'struct':
      if (field.type.kind === 'duration') return new DurationStructBuilder(field, inner)
      return new StructBuilder(field, inner, field.children.map(child))
    case 'fixed_list':
      return new VectorBuilder(field, inner, child(field.children[0]))
  }
}

function createText(field: Field, options: BufferOptions): ColumnBuilder {
  switch (field.type.kind) {
    case 'text':
    case 'ascii':
      return new TextBuilder(field, options)
    case 'inet':
      return new InetBuilder(field, options)
    case 'decimal':
    case 'varint':
      return new NumberTextBuilder(field, options)
    case 'duration':
      return new DurationTextBuilder(field, options)
    default:
      throw new SluiceError('INTERNAL', { column: options.column, reason: `text of a ${field.type.kind}` })
  }
}
