// The builders of a batch, a builder per field: handed out with the batch and used again when it is released. What a scan leaves is
// kept for the next scan of the same columns, so that a job of a hundred splits fills the same buffers over and over: the memory
// of shared buffers is given back late, since the collector does not see how large they are.

import type { Batch, BatchSchema } from './batch.ts'
import type { ColumnBuilder } from './column-builder.ts'
import { type BufferOptions, INITIAL_ROWS } from './columns/buffers.ts'
import { createBuilder } from './columns/create-builder.ts'

/** Rows of one run at most: decoders make room for so many beforehand. */
export const RUN_ROWS = 2048

/** More than this many sets of released buffers are not kept by a scan. */
const MAX_POOLED = 3
/** Sets kept between scans, over all shapes; the one used longest ago goes first. */
const MAX_KEPT = 8

interface Kept {
  key: string
  builders: ColumnBuilder[]
}

const kept: Kept[] = []

export class BuilderSet {
  readonly schema: BatchSchema
  /** Those of the batch at hand. */
  builders: ColumnBuilder[]
  #pool: ColumnBuilder[][] = []
  #options: BufferOptions
  #key: string
  #closed = false
  #isSized = false

  constructor(schema: BatchSchema, options: BufferOptions = {}) {
    this.schema = schema
    this.#options = options
    this.#key = JSON.stringify([options.shared === true, schema.fields])
    this.builders = this.#take()
  }

  /** Hands the rows out and goes on with empty builders. */
  finish(rows: number, position: string): Batch {
    const { schema, builders } = this
    const columns = builders.map((b) => b.finish())
    let bytes = 0
    for (const builder of builders) bytes += builder.byteLength()
    const isGrown = this.#learn(rows)
    this.builders = this.#pool.pop() ?? this.#take()
    let released = false
    const release = () => {
      if (released) return
      released = true
      if (isGrown) return
      for (const builder of builders) builder.reset()
      if (this.#closed) keep(this.#key, builders)
      else if (this.#pool.length < MAX_POOLED) this.#pool.push(builders)
    }
    return { schema, rows, columns, position, bytes, release }
  }

  /** The scan is over: its buffers serve the next one. Batches that are still out follow when they are released. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const builder of this.builders) builder.reset()
    for (const builders of [...this.#pool, this.builders]) keep(this.#key, builders)
    this.#pool = []
    this.builders = []
  }

  /**
   * From the first batch that outgrew its columns on, new ones have room for as many rows. True for that batch: its own columns grew
   * by doubling and hold up to four times what is in them, too much to keep.
   */
  #learn(rows: number): boolean {
    if (this.#isSized || rows <= (this.#options.rows ?? INITIAL_ROWS)) return false
    this.#isSized = true
    this.#options = { ...this.#options, rows: rows + (rows >> 4) + RUN_ROWS }
    return true
  }

  #take(): ColumnBuilder[] {
    const at = kept.findLastIndex(({ key }) => key === this.#key)
    if (at >= 0) return kept.splice(at, 1)[0].builders
    return this.schema.fields.map((field) => createBuilder(field, this.#options))
  }
}

function keep(key: string, builders: ColumnBuilder[]): void {
  kept.push({ key, builders })
  if (kept.length > MAX_KEPT) kept.shift()
}
