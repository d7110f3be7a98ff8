// map. Frozen, on the wire and inside other values: i32 count, then key and value in turn, each i32 length and bytes.
// Multi-cell: a cell per entry, the key in the path. Arrow has no room for a key that is null or empty: the latter is an
// error by name.

import { SluiceError } from '../../errors.ts'
import { isZeroLengthOrdinary } from '../../schema/cql-type.ts'
import { formatCqlType } from '../../schema/cql-type-text.ts'
import type { Field, Vector } from '../batch.ts'
import type { ColumnBuilder } from '../column-builder.ts'
import { NO_VALUES } from './base-builder.ts'
import type { BufferOptions } from './buffers.ts'
import { OffsetsBuilder } from './offsets-builder.ts'

export class MapBuilder extends OffsetsBuilder {
  readonly key: ColumnBuilder
  readonly value: ColumnBuilder
  readonly #emptyKeys: boolean
  #start = 0

  constructor(field: Field, options: BufferOptions, key: ColumnBuilder, value: ColumnBuilder) {
    super(field, options)
    this.key = key
    this.value = value
    this.#emptyKeys = isZeroLengthOrdinary(key.field.type)
  }

  append(bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    if (length === 0) {
      this.appendEmpty()
      return
    }
    if (length < 4) throw this.corrupt(`a map of ${length} bytes`)
    const end = offset + length
    const count = view.getInt32(offset)
    if (count < 0 || count * 8 > length - 4) throw this.corrupt(`${count} entries in ${length} bytes`)
    let at = offset + 4
    for (let i = 0; i < count; i++) {
      const keySize = this.sizeAt(view, at, end)
      at += 4
      if (keySize < 0) throw this.corrupt('a null key')
      this.appendKey(bytes, view, at, keySize)
      at += keySize
      const valueSize = this.sizeAt(view, at, end)
      at += 4
      if (valueSize < 0) {
        this.value.appendNull()
      } else {
        this.value.append(bytes, view, at, valueSize)
        at += valueSize
      }
    }
    if (at !== end) throw this.corrupt('bytes after the last entry')
    this.push(this.key.length)
  }

  private sizeAt(view: DataView, at: number, end: number): number {
    if (end - at < 4) throw this.corrupt('a map that ends early')
    const size = view.getInt32(at)
    if (size > end - at - 4) throw this.corrupt('an entry that runs past the end')
    return size
  }

  private appendKey(bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    if (length === 0 && !this.#emptyKeys) {
      throw new SluiceError('EMPTY_MAP_KEY', { column: this.column, type: formatCqlType(this.key.field.type) })
    }
    this.key.append(bytes, view, offset, length)
  }

  override beginCells(): void {
    this.#start = this.key.length
  }

  override appendCell(
    path: Uint8Array,
    pathView: DataView,
    pathOffset: number,
    pathLength: number,
    value: Uint8Array,
    valueView: DataView,
    valueOffset: number,
    valueLength: number,
  ): void {
    this.appendKey(path, pathView, pathOffset, pathLength)
    this.value.append(value, valueView, valueOffset, valueLength)
  }

  override endCells(): void {
    if (this.key.length === this.#start) this.appendNull()
    else this.push(this.key.length)
  }

  byteLength(): number {
    return (this.length + 1) * 4 + this.bitmapBytes() + this.key.byteLength() + this.value.byteLength()
  }

  finish(): Vector {
    const entries: Vector = {
      field: this.field.children[0],
      length: this.key.length,
      nullCount: 0,
      validity: null,
      empty: null,
      offsets: null,
      values: NO_VALUES,
      children: [this.key.finish(), this.value.finish()],
    }
    return this.vector(this.offsets.subarray(0, this.length + 1), NO_VALUES, [entries])
  }

  override reset(): void {
    super.reset()
    this.key.reset()
    this.value.reset()
  }

  override shrink(): void {
    super.shrink()
    this.key.shrink()
    this.value.shrink()
  }
}
