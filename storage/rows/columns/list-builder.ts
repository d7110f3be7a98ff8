// list and set. Frozen, on the wire and inside other values: i32 count, then i32 length and bytes per element; a negative
// length is null (o.a.c.serializers.CollectionSerializer). Multi-cell: a cell per element, a set's in the path, a list's in
// the value. A frozen empty collection is a value; a multi-cell one without cells is null.

import type { Field, Vector } from '../batch.ts'
import type { ColumnBuilder } from '../column-builder.ts'
import { NO_VALUES } from './base-builder.ts'
import type { BufferOptions } from './buffers.ts'
import { OffsetsBuilder } from './offsets-builder.ts'

export class ListBuilder extends OffsetsBuilder {
  /** Elements; a computed list (writetime, ttl of a multi-cell column) is filled here, between beginCells and endCells. */
  readonly item: ColumnBuilder
  readonly #fromPath: boolean
  #start = 0

  constructor(field: Field, options: BufferOptions, item: ColumnBuilder) {
    super(field, options)
    this.item = item
    this.#fromPath = field.type.kind === 'set'
  }

  append(bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    if (length === 0) {
      this.appendEmpty()
      return
    }
    if (length < 4) throw this.corrupt(`a collection of ${length} bytes`)
    const end = offset + length
    const count = view.getInt32(offset)
    if (count < 0 || count * 4 > length - 4) throw this.corrupt(`${count} elements in ${length} bytes`)
    const item = this.item
    let at = offset + 4
    for (let i = 0; i < count; i++) {
      if (end - at < 4) throw this.corrupt('a collection that ends early')
      const size = view.getInt32(at)
      at += 4
      if (size < 0) {
        item.appendNull()
      } else {
        if (size > end - at) throw this.corrupt('an element that runs past the end')
        item.append(bytes, view, at, size)
        at += size
      }
    }
    if (at !== end) throw this.corrupt('bytes after the last element')
    this.push(item.length)
  }

  override beginCells(): void {
    this.#start = this.item.length
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
    if (this.#fromPath) this.item.append(path, pathView, pathOffset, pathLength)
    else this.item.append(value, valueView, valueOffset, valueLength)
  }

  override endCells(): void {
    if (this.item.length === this.#start) this.appendNull()
    else this.push(this.item.length)
  }

  byteLength(): number {
    return (this.length + 1) * 4 + this.bitmapBytes() + this.item.byteLength()
  }

  finish(): Vector {
    return this.vector(this.offsets.subarray(0, this.length + 1), NO_VALUES, [this.item.finish()])
  }

  override reset(): void {
    super.reset()
    this.item.reset()
  }

  override shrink(): void {
    super.shrink()
    this.item.shrink()
  }
}
