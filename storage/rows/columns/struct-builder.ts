// tuple and UDT. Frozen tuples and UDTs: i32 length and bytes per field, no count; a negative length is null, and so are
// fields missing at the end (o.a.c.db.marshal.TupleType.split: written before a field was added). Multi-cell UDTs: a cell
// per field that is not null, its path the field's number as u16.

import type { Field, Vector } from '../batch.ts'
import type { ColumnBuilder } from '../column-builder.ts'
import { BaseBuilder, NO_VALUES } from './base-builder.ts'
import type { BufferOptions } from './buffers.ts'

export class StructBuilder extends BaseBuilder {
  readonly fields: ColumnBuilder[]
  /** Fields that the multi-cell value at hand has so far. */
  #next = 0

  constructor(field: Field, options: BufferOptions, fields: ColumnBuilder[]) {
    super(field, options)
    this.fields = fields
  }

  append(bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    if (length === 0) {
      this.appendEmpty()
      return
    }
    const fields = this.fields
    const end = offset + length
    let at = offset
    for (let i = 0; i < fields.length; i++) {
      if (at === end) {
        fields[i].appendNull()
        continue
      }
      if (end - at < 4) throw this.corrupt('a field that ends early')
      const size = view.getInt32(at)
      at += 4
      if (size < 0) {
        fields[i].appendNull()
      } else {
        if (size > end - at) throw this.corrupt('a field that runs past the end')
        fields[i].append(bytes, view, at, size)
        at += size
      }
    }
    if (at !== end) throw this.corrupt(`more than ${fields.length} fields`)
    this.endRow()
  }

  appendNull(): void {
    if (this.length === this.capacity) this.growRows()
    this.markNull(this.length++)
    for (let i = 0; i < this.fields.length; i++) this.fields[i].appendNull()
  }

  override beginCells(): void {
    this.#next = 0
  }

  override appendCell(
    _path: Uint8Array,
    pathView: DataView,
    pathOffset: number,
    pathLength: number,
    value: Uint8Array,
    valueView: DataView,
    valueOffset: number,
    valueLength: number,
  ): void {
    const index = pathLength === 2 ? pathView.getUint16(pathOffset) : -1
    if (index < this.#next || index >= this.fields.length) {
      throw this.corrupt(
        index < 0
          ? `a field number of ${pathLength} bytes`
          : `field ${index} of ${this.fields.length}, or out of order`,
      )
    }
    for (; this.#next < index; this.#next++) this.fields[this.#next].appendNull()
    this.fields[index].append(value, valueView, valueOffset, valueLength)
    this.#next = index + 1
  }

  override endCells(): void {
    if (this.#next === 0) {
      this.appendNull()
      return
    }
    for (; this.#next < this.fields.length; this.#next++) this.fields[this.#next].appendNull()
    this.endRow()
  }

  private endRow(): void {
    if (this.length === this.capacity) this.growRows()
    this.length++
  }

  byteLength(): number {
    let bytes = this.bitmapBytes()
    for (let i = 0; i < this.fields.length; i++) bytes += this.fields[i].byteLength()
    return bytes
  }

  finish(): Vector {
    return this.vector(
      null,
      NO_VALUES,
      this.fields.map((field) => field.finish()),
    )
  }

  override reset(): void {
    super.reset()
    for (const field of this.fields) field.reset()
  }

  override shrink(): void {
    super.shrink()
    for (const field of this.fields) field.shrink()
  }
}
