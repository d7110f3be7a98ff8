// Columns that no SSTable holds: token, writetime(c), ttl(c). Their values come as 32-bit halves or integers from the row
// code, not as bytes. As in CQL (5.0, CASSANDRA-8877) writetime and ttl of a multi-cell column are lists, a value per cell.

import type { CqlType } from '../../schema/cql-type.ts'
import type { Field } from '../batch.ts'
import type { BufferOptions } from './buffers.ts'
import { createBuilder } from './create-builder.ts'
import { fieldOf } from './field.ts'
import type { Word32Builder, Word64Builder } from './fixed-builders.ts'
import type { ListBuilder } from './list-builder.ts'

export type ComputedKind = 'token' | 'writetime' | 'ttl'

/** token and writetime (microseconds): bigint; ttl (seconds): int; `perCell`: a list of that. */
export function computedField(name: string, kind: ComputedKind, perCell = false): Field {
  const value: CqlType = { kind: kind === 'ttl' ? 'int' : 'bigint' }
  const type: CqlType = perCell ? { kind: 'list', element: value, frozen: true } : value
  const cqlType = perCell ? `frozen<list<${value.kind}>>` : value.kind
  return fieldOf(name, type, {}, { kind: 'computed', position: -1, reversed: false, cqlType })
}

/** For token and writetime: appendHalves(hi, lo) or appendNull() per row. */
export function createHalvesBuilder(field: Field, options: BufferOptions = {}): Word64Builder {
  return createBuilder(field, options) as Word64Builder
}

/** For ttl: appendInt(seconds) or appendNull() per row. */
export function createIntBuilder(field: Field, options: BufferOptions = {}): Word32Builder {
  return createBuilder(field, options) as Word32Builder
}

/** Per cell: list.beginCells(), then item.appendHalves / appendInt / appendNull per cell, then list.endCells() (none: null). */
export function createPerCellBuilder<Item extends Word64Builder | Word32Builder>(
  field: Field,
  options: BufferOptions = {},
): { list: ListBuilder; item: Item } {
  const list = createBuilder(field, options) as ListBuilder
  return { list, item: list.item as Item }
}
