// What text, blobs, lists and maps share: Arrow's 32-bit offsets into bytes or into a child.

import { SluiceError } from '../../errors.ts'
import type { Field } from '../batch.ts'
import { BaseBuilder, isLarge } from './base-builder.ts'
import { type BufferOptions, INITIAL_ROWS, MAX_OFFSET } from './buffers.ts'

export abstract class OffsetsBuilder extends BaseBuilder {
  /** capacity + 1 entries; offsets[0] = 0. */
  offsets: Int32Array

  constructor(field: Field, options: BufferOptions) {
    super(field, options)
    this.offsets = new Int32Array(this.memory.allocate((this.capacity + 1) * 4).buffer)
  }

  appendNull(): void {
    if (this.length === this.capacity) this.growRows()
    this.markNull(this.length)
    this.offsets[this.length + 1] = this.offsets[this.length]
    this.length++
  }

  /** Ends the row's value at `end` of the bytes or of the child. */
  protected push(end: number): void {
    if (end > MAX_OFFSET) throw this.tooLarge()
    if (this.length === this.capacity) this.growRows()
    this.offsets[++this.length] = end
  }

  protected tooLarge(): SluiceError {
    return new SluiceError('VALUE_TOO_LARGE', {
      column: this.column,
      limit: MAX_OFFSET,
      reason: 'offsets in one batch',
    })
  }

  protected override setCapacity(rows: number): void {
    super.setCapacity(rows)
    const old = new Uint8Array(this.offsets.buffer)
    this.offsets = new Int32Array(this.memory.enlarge(old, (this.length + 1) * 4, (rows + 1) * 4).buffer)
  }

  override shrink(): void {
    super.shrink()
    if (isLarge(this.offsets)) this.setCapacity(INITIAL_ROWS)
  }
}
