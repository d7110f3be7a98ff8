// vector<element, n>: elements without lengths where the element type is of fixed length, else uvint length and bytes each;
// no count (o.a.c.db.marshal.VectorType). No element is ever null. In Arrow a FixedSizeList, which needs its n slots
// for a null too.

import { readUvint, vintSize } from '../../bytes/vint.ts'
import type { VectorType } from '../../schema/cql-type.ts'
import { fixedLength } from '../../schema/fixed-length.ts'
import type { Field, Vector } from '../batch.ts'
import type { ColumnBuilder } from '../column-builder.ts'
import { BaseBuilder, NO_VALUES } from './base-builder.ts'
import type { BufferOptions } from './buffers.ts'
import { Word32Builder, Word64Builder } from './fixed-builders.ts'

export class VectorBuilder extends BaseBuilder {
  readonly item: ColumnBuilder
  readonly dimension: number
  /** Bytes per element; -1: each has its own length. */
  readonly #elementLength: number
  /** The item builder again if it takes the whole vector in one call. */
  readonly #run: Word32Builder | Word64Builder | null

  constructor(field: Field, options: BufferOptions, item: ColumnBuilder) {
    super(field, options)
    const type = field.type as VectorType
    this.item = item
    this.dimension = type.dimension
    this.#elementLength = fixedLength(type.element)
    const takesRuns = this.#elementLength > 0 && (item instanceof Word32Builder || item instanceof Word64Builder)
    this.#run = takesRuns ? item : null
  }

  append(bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    if (length === 0) {
      this.appendEmpty()
      return
    }
    if (this.#elementLength < 0) {
      this.appendVariable(bytes, view, offset, length)
    } else {
      const size = this.#elementLength
      if (length !== size * this.dimension)
        throw this.corrupt(`${length} bytes for ${this.dimension} elements of ${size}`)
      if (this.#run !== null) this.#run.appendRun(view, offset, this.dimension)
      else for (let i = 0; i < this.dimension; i++) this.item.append(bytes, view, offset + i * size, size)
    }
    if (this.length === this.capacity) this.growRows()
    this.length++
  }

  private appendVariable(bytes: Uint8Array, view: DataView, offset: number, length: number): void {
    const end = offset + length
    let at = offset
    for (let i = 0; i < this.dimension; i++) {
      if (at >= end || at + vintSize(bytes[at]) > end) throw this.corrupt('a vector that ends early')
      const size = readUvint(bytes, at)
      at += vintSize(bytes[at])
      if (size > end - at) throw this.corrupt('an element that runs past the end')
      this.item.append(bytes, view, at, size)
      at += size
    }
    if (at !== end) throw this.corrupt('bytes after the last element')
  }

  appendNull(): void {
    if (this.length === this.capacity) this.growRows()
    this.markNull(this.length++)
    for (let i = 0; i < this.dimension; i++) this.item.appendNull()
  }

  byteLength(): number {
    return this.bitmapBytes() + this.item.byteLength()
  }

  finish(): Vector {
    return this.vector(null, NO_VALUES, [this.item.finish()])
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
