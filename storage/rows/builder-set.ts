// The builders of a batch, a builder per field: handed out with the batch and used again when it is released. What a scan leaves is
// kept for the next scan of the same columns, so that a job of a hundred splits fills the same buffers over and over. All that
// the sets of a scan hold is counted: up to a part that its opener has reckoned with for nothing, beyond it from the allowance.

import { type Allowance, MemoryClaim } from '../bytes/allowance.ts'
import { dropped, droppedShared } from '../bytes/garbage.ts'
import type { Batch, BatchSchema, Field } from './batch.ts'
import type { ColumnBuilder } from './column-builder.ts'
import { INITIAL_ROWS } from './columns/buffers.ts'
import { ColumnAccount, ColumnMemory } from './columns/column-memory.ts'
import { createBuilder } from './columns/create-builder.ts'

export interface SetOptions {
  /** Columns in SharedArrayBuffers, so that another thread can read them without a copy. */
  shared?: boolean
  /** Rows that new columns have room for. */
  rows?: number
  /** Bytes that a batch is to hold, about. */
  bytes?: number
  /** Where columns that come to more than BATCHES_COUNTED such batches take their memory from. */
  memory?: Allowance
}

/** Rows of one run at most: decoders make room for so many beforehand. */
export const RUN_ROWS = 2048
/** Values of one run at most: of 1,000 columns, room for 2,048 rows would be many times what a batch holds. */
export const RUN_VALUES = 1 << 17

/** Who opens a scan reckons with columns of so many batches: one that is being sent, one that waits or is being filled, and room. */
export const BATCHES_COUNTED = 3

/**
 * What a column, or a child of one, takes beside its buffers from a scan's beginning to its end: its field, its builders, its vectors in
 * two batches, and objects for their buffers, in the thread that fills them and in the one that sends them. Measured with 1,000 columns:
 * 4 KB on the heaps, the rest is what V8 and malloc add.
 */
export const VECTOR_BYTES = 10 << 10

/** Of a batch with more vectors, the objects that it leaves are called garbage: V8 by itself lets hundreds of megabytes of them pile up. */
const MANY_VECTORS = 256
/** What a batch leaves of each vector on the heap of a thread that had it. */
const LEFT_BYTES = 1536

/** Of ordinary batches; with what its object costs. */
const BITMAP_BYTES = 600

/** What a scan leaves, in what a batch does. */
const LEFT_BY_SCAN = 3

/** More than this many sets of released buffers are not kept by a scan. */
const MAX_POOLED = 3
/** Sets kept between scans, over all shapes; the one used longest ago goes first. */
const MAX_KEPT = 8
/** Bytes of all of them. */
const KEPT_BYTES = 16 << 20

/** The columns of one batch. */
interface ColumnSet {
  builders: ColumnBuilder[]
  memory: ColumnMemory
  /** Bytes when it was new. */
  initial: number
}

const kept: { key: string; set: ColumnSet }[] = []

export class BuilderSet {
  readonly schema: BatchSchema
  /** Of the batch at hand; made when it is begun, since the one before it may have been released by then. */
  #set: ColumnSet | undefined
  #pool: ColumnSet[] = []
  readonly #shared: boolean
  readonly #bytes: number
  #rows: number
  readonly #claim: MemoryClaim
  readonly #account: ColumnAccount
  readonly #key: string
  #closed = false
  #isSized = false
  #isBegun = false
  readonly #left: number

  constructor(schema: BatchSchema, options: SetOptions = {}) {
    const { shared = false, rows = INITIAL_ROWS, bytes = 1 << 20, memory } = options
    this.schema = schema
    this.#shared = shared
    this.#rows = rows
    this.#bytes = bytes
    this.#claim = new MemoryClaim(memory)
    this.#account = new ColumnAccount(this.#claim, BATCHES_COUNTED * bytes)
    // From the beginning, so that a scan which has begun does not end by it.
    this.#left = leftBytes(schema)
    try {
      this.#account.grow(VECTOR_BYTES * countVectors(schema.fields))
    } catch (error) {
      this.#dropScan()
      throw error
    }
    this.#key = JSON.stringify([shared, schema.fields])
  }

  /** @throws SluiceError VALUE_TOO_LARGE, OVERLOADED */
  get builders(): ColumnBuilder[] {
    this.#set ??= this.#pool.pop() ?? this.#take()
    return this.#set.builders
  }

  /** Hands the rows out. */
  finish(rows: number, position: string): Batch {
    const { schema, builders } = this
    const set = this.#set!
    this.#set = undefined
    const columns = builders.map((b) => b.finish())
    let bytes = 0
    for (const builder of builders) bytes += builder.byteLength()
    const isGrown = this.#learn(rows)
    let released = false
    const release = () => {
      if (released) return
      released = true
      if (this.#left > 0) dropped(this.#left)
      if (isGrown) this.#drop(set)
      else this.#giveBack(set, bytes)
    }
    return { schema, rows, columns, position, bytes, release }
  }

  /** The scan is over: its buffers serve the next one. Batches that are still out follow when they are released. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const set of this.#set === undefined ? this.#pool : [...this.#pool, this.#set]) this.#giveBack(set, 0)
    this.#pool = []
    this.#set = undefined
    this.#claim.giveBack()
    this.#dropScan()
  }

  /** Layouts, selectors, decoders and builders of many columns are garbage with their scan. */
  #dropScan(): void {
    if (this.#left > 0) dropped(LEFT_BY_SCAN * this.#left)
  }

  /** @param used bytes of the batch that it held */
  #giveBack(set: ColumnSet, used: number): void {
    const { builders, memory, initial } = set
    for (const builder of builders) builder.reset()
    // Huge values must not hold their memory in one column while the next ones hold as much in another.
    const enough = 2 * (initial + (this.#closed ? 0 : used)) + this.#bytes
    if (memory.bytes > enough) for (const builder of builders) builder.shrink()
    if (!this.#closed && this.#pool.length < MAX_POOLED) {
      this.#pool.push(set)
      return
    }
    memory.move(undefined)
    keep(this.#key, set)
  }

  #drop({ builders, memory }: ColumnSet): void {
    for (const builder of builders) {
      builder.reset()
      builder.shrink()
    }
    memory.move(undefined)
    if (memory.shared) droppedShared(memory.bytes)
  }

  /**
   * From the first batch that outgrew its columns on, new ones have room for as many rows. True for that batch: its own columns grew
   * by doubling and hold up to four times what is in them, too much to keep.
   */
  #learn(rows: number): boolean {
    if (this.#isSized || rows <= this.#rows) return false
    this.#isSized = true
    this.#rows = rows + (rows >> 4) + RUN_ROWS
    return true
  }

  #take(): ColumnSet {
    const at = kept.findLastIndex(({ key }) => key === this.#key)
    if (at >= 0) {
      const [{ set }] = kept.splice(at, 1)
      set.memory.move(this.#account)
      this.#expectAnother(set)
      return set
    }
    const memory = new ColumnMemory(this.#shared, this.#account)
    const builders = this.schema.fields.map((field) => createBuilder(field, { memory, rows: this.#rows }))
    const set = { builders, memory, initial: memory.bytes }
    this.#expectAnother(set)
    return set
  }

  /** The first set is made before a reader sees anything: what is refused then cuts no stream. The next will be as large, and both get bitmaps of nulls. */
  #expectAnother({ memory }: ColumnSet): void {
    if (this.#isBegun) return
    this.#isBegun = true
    const bytes = memory.bytes + 2 * BITMAP_BYTES * countVectors(this.schema.fields)
    this.#account.grow(bytes)
    this.#account.grow(-bytes)
  }
}

/** Bytes of garbage that a batch is on the heap of each thread that had it; 0 where they do not matter. */
export function leftBytes({ fields }: BatchSchema): number {
  const vectors = countVectors(fields)
  return vectors > MANY_VECTORS ? LEFT_BYTES * vectors : 0
}

function countVectors(fields: readonly Field[]): number {
  return fields.reduce((sum, { children }) => sum + 1 + countVectors(children), 0)
}

function keep(key: string, set: ColumnSet): void {
  kept.push({ key, set })
  let bytes = kept.reduce((sum, { set: { memory } }) => sum + memory.bytes, 0)
  while (kept.length > MAX_KEPT || bytes > KEPT_BYTES) {
    const { memory } = kept.shift()!.set
    bytes -= memory.bytes
    if (memory.shared) droppedShared(memory.bytes)
  }
}
