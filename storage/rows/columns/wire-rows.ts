// Rows of a batch in wire form, one behind the other: what writeWireValue writes value by value, written column by column (but
// clusterings that are decimals are shortened, so that equal ones have equal bytes). A block of rows is laid out first (how long is
// each), then every column writes its values where they belong, in a loop of its own: no decision per value but whether it is null.

import type { Vector } from '../batch.ts'
import { shortenDecimal } from './equal-decimals.ts'
import { writeWireValue } from './wire.ts'
import { createWireBuffer, take, type WireBuffer } from './wire-buffer.ts'

/** Rows of a block take about this many bytes: they stay in the processor's cache while the columns write them. */
const BLOCK_BYTES = 128 * 1024
const MAX_BLOCK_ROWS = 4096

const ONE = 0
const TWO = 1
const FOUR = 2
const EIGHT = 3
const SIXTEEN = 4
const DATE = 5
const BOOL = 6
const BYTES = 7
/** Each value by writeWireValue. */
const ANY = 8
const WIDTH = [1, 2, 4, 8, 16, 4, 1, 0, 0]

interface Column {
  vector: Vector
  view: DataView
  op: number
  /** Of ANY: the block's values, and where each ends. */
  encoded: WireBuffer
  ends: Int32Array
}

export class WireRows {
  readonly out: WireBuffer
  #columns: Column[] = []
  /** Per row of the block: its length, then where its next value goes. */
  #at = new Int32Array(MAX_BLOCK_ROWS)
  // Where the block before has left the same lengths at the same places: they need not be written again.
  #laidIn: Uint8Array | undefined
  #laidOps = ''
  #laidRows = 0

  /** Rows are appended to `out`; whoever empties it, between two blocks, sets its length to 0. */
  constructor(out: WireBuffer) {
    this.out = out
  }

  /** Appends all rows of these vectors, and calls `onBlock` behind each block of them. */
  append(vectors: readonly Vector[], rows: number, onBlock: () => void): void {
    this.#bind(vectors)
    const perRow = this.#meanLength(rows)
    const step = Math.max(1, Math.min(MAX_BLOCK_ROWS, Math.floor(BLOCK_BYTES / perRow)))
    for (let from = 0; from < rows; from += step) {
      this.#block(from, Math.min(step, rows - from))
      onBlock()
    }
  }

  #bind(vectors: readonly Vector[]): void {
    const columns = this.#columns
    columns.length = vectors.length
    for (let i = 0; i < vectors.length; i++) {
      const vector = vectors[i]
      const { values } = vector
      const op = opOf(vector)
      columns[i] = {
        vector,
        op,
        view: new DataView(values.buffer, values.byteOffset, values.byteLength),
        encoded: columns[i]?.encoded ?? createWireBuffer(0),
        ends: op === ANY ? (columns[i]?.ends ?? new Int32Array(MAX_BLOCK_ROWS)) : NO_ENDS,
      }
    }
  }

  #meanLength(rows: number): number {
    let bytes = 0
    for (const { vector } of this.#columns) bytes += bytesOf(vector)
    return 4 * this.#columns.length + bytes / Math.max(1, rows)
  }

  #block(from: number, count: number): void {
    const at = this.#at
    let fixed = 4 * this.#columns.length
    for (const column of this.#columns) if (isWhole(column)) fixed += WIDTH[column.op]
    at.fill(fixed, 0, count)
    for (const column of this.#columns) if (!isWhole(column)) addLengths(column, from, count, at)
    let end = this.out.length
    for (let r = 0; r < count; r++) {
      const start = end
      end += at[r]
      at[r] = start
    }
    const columns = this.#columns
    const isLaid = this.#isLaid(this.out.length, count)
    take(this.out, end - this.out.length)
    for (let c = 0; c < columns.length; c++) {
      if (isRun(columns, c)) {
        const write = isLaid ? writeRunValues : writeRun
        write(columns[c].view, columns[c + 1].view, columns[c + 2].view, columns[c + 3].view, from, count, at, this.out)
        c += 3
      } else {
        writeColumn(columns[c], from, count, at, this.out)
      }
    }
  }

  /** Whether rows of this layout, no fewer, were written to the same place last; from now on they are. */
  #isLaid(start: number, count: number): boolean {
    const whole = start === 0 && this.#columns.every(isWhole)
    const ops = whole ? this.#columns.map(({ op }) => op).join() : ''
    const isLaid = whole && this.out.bytes === this.#laidIn && ops === this.#laidOps
    if (isLaid && count <= this.#laidRows) return true
    this.#laidIn = whole ? this.out.bytes : undefined
    this.#laidOps = ops
    this.#laidRows = count
    return false
  }
}

const NO_ENDS = new Int32Array(0)

function opOf({ field }: Vector): number {
  switch (field.type.kind) {
    case 'tinyint':
      return ONE
    case 'smallint':
      return TWO
    case 'int':
    case 'float':
      return FOUR
    case 'bigint':
    case 'counter':
    case 'double':
    case 'time':
    case 'timestamp':
      return EIGHT
    case 'uuid':
    case 'timeuuid':
      return SIXTEEN
    case 'date':
      return DATE
    case 'boolean':
      return BOOL
    case 'text':
    case 'ascii':
    case 'blob':
    case 'custom':
      return BYTES
    default:
      return ANY
  }
}

function bytesOf({ values, children, offsets }: Vector): number {
  return children.reduce((sum, child) => sum + bytesOf(child), values.length + (offsets?.byteLength ?? 0))
}

/** All its values are there, and of one length. */
function isWhole({ vector, op }: Column): boolean {
  return op < BYTES && vector.validity === null
}

/** Adds the values' lengths, without the four bytes that tell them, to the rows' lengths. */
function addLengths(column: Column, from: number, count: number, at: Int32Array): void {
  const { vector, op } = column
  const { validity } = vector
  if (op === ANY) {
    addEncoded(column, from, count, at)
  } else if (op === BYTES) {
    // A null's offsets are equal.
    const offsets = vector.offsets!
    for (let r = 0; r < count; r++) at[r] += offsets[from + r + 1] - offsets[from + r]
  } else {
    const width = WIDTH[op]
    for (let r = 0; r < count; r++) at[r] += isSet(validity, from + r) ? width : 0
  }
}

function addEncoded({ vector, encoded, ends }: Column, from: number, count: number, at: Int32Array): void {
  const { type, column } = vector.field
  const isShortened = type.kind === 'decimal' && column?.kind === 'clustering'
  encoded.length = 0
  for (let r = 0; r < count; r++) {
    const before = encoded.length
    writeWireValue(vector, from + r, encoded)
    if (isShortened) shortenDecimal(encoded, before)
    ends[r] = encoded.length
    at[r] += encoded.length - before - 4
  }
}

/** Writes the values of rows from `from` on, each at its row's place, which moves behind it. */
function writeColumn(column: Column, from: number, count: number, at: Int32Array, out: WireBuffer): void {
  const { vector, op } = column
  if (op === ANY) writeEncoded(column, count, at, out)
  else if (op === BYTES) writeBytes(vector, from, count, at, out)
  else if (vector.validity !== null) writeNullable(column, from, count, at, out)
  else if (op === FOUR) writeFours(column.view, from, count, at, out.view)
  else if (op === EIGHT) writeEights(column.view, from, count, at, out.view)
  else {
    for (let r = 0; r < count; r++) {
      out.view.setInt32(at[r], WIDTH[op])
      at[r] = writeFixed(column, from + r, at[r] + 4, out)
    }
  }
}

/** Four columns of whole ints or floats stand side by side. */
function isRun(columns: readonly Column[], at: number): boolean {
  if (at + 4 > columns.length) return false
  for (let c = at; c < at + 4; c++) if (columns[c].op !== FOUR || !isWhole(columns[c])) return false
  return true
}

/** Four at once: each line of the cache is written at one go, which more than halves the time a value takes. */
function writeRun(
  a: DataView,
  b: DataView,
  c: DataView,
  d: DataView,
  from: number,
  count: number,
  at: Int32Array,
  { view }: WireBuffer,
): void {
  for (let r = 0; r < count; r++) {
    const to = at[r]
    const index = 4 * (from + r)
    view.setInt32(to, 4)
    view.setInt32(to + 4, a.getInt32(index, true))
    view.setInt32(to + 8, 4)
    view.setInt32(to + 12, b.getInt32(index, true))
    view.setInt32(to + 16, 4)
    view.setInt32(to + 20, c.getInt32(index, true))
    view.setInt32(to + 24, 4)
    view.setInt32(to + 28, d.getInt32(index, true))
    at[r] = to + 32
  }
}

/** The same where the lengths are there already. */
function writeRunValues(
  a: DataView,
  b: DataView,
  c: DataView,
  d: DataView,
  from: number,
  count: number,
  at: Int32Array,
  { view }: WireBuffer,
): void {
  for (let r = 0; r < count; r++) {
    const to = at[r]
    const index = 4 * (from + r)
    view.setInt32(to + 4, a.getInt32(index, true))
    view.setInt32(to + 12, b.getInt32(index, true))
    view.setInt32(to + 20, c.getInt32(index, true))
    view.setInt32(to + 28, d.getInt32(index, true))
    at[r] = to + 32
  }
}

function writeFours(view: DataView, from: number, count: number, at: Int32Array, out: DataView): void {
  for (let r = 0; r < count; r++) {
    const to = at[r]
    out.setInt32(to, 4)
    out.setInt32(to + 4, view.getInt32(4 * (from + r), true))
    at[r] = to + 8
  }
}

function writeEights(view: DataView, from: number, count: number, at: Int32Array, out: DataView): void {
  for (let r = 0; r < count; r++) {
    const to = at[r]
    out.setInt32(to, 8)
    out.setInt32(to + 4, view.getInt32(8 * (from + r) + 4, true))
    out.setInt32(to + 8, view.getInt32(8 * (from + r), true))
    at[r] = to + 12
  }
}

function writeNullable(column: Column, from: number, count: number, at: Int32Array, out: WireBuffer): void {
  const { op, vector } = column
  const validity = vector.validity!
  const { view } = out
  for (let r = 0; r < count; r++) {
    if (isSet(validity, from + r)) {
      view.setInt32(at[r], WIDTH[op])
      at[r] = writeFixed(column, from + r, at[r] + 4, out)
    } else {
      view.setInt32(at[r], isSet(vector.empty, from + r) ? 0 : -1)
      at[r] += 4
    }
  }
}

/** One value that is there; returns where it ends. */
function writeFixed({ op, view, vector }: Column, index: number, to: number, out: WireBuffer): number {
  switch (op) {
    case FOUR:
      out.view.setInt32(to, view.getInt32(4 * index, true))
      return to + 4
    case EIGHT:
      out.view.setInt32(to, view.getInt32(8 * index + 4, true))
      out.view.setInt32(to + 4, view.getInt32(8 * index, true))
      return to + 8
    case ONE:
      out.bytes[to] = view.getInt8(index)
      return to + 1
    case TWO:
      out.view.setInt16(to, view.getInt16(2 * index, true))
      return to + 2
    case DATE:
      // Arrow's signed days from 1970 back to unsigned ones with 1970 at 2^31.
      out.view.setInt32(to, view.getInt32(4 * index, true) ^ -0x80000000)
      return to + 4
    case BOOL:
      out.bytes[to] = isSet(vector.values, index) ? 1 : 0
      return to + 1
    default:
      for (let i = 0; i < 16; i += 4) out.view.setInt32(to + i, view.getInt32(16 * index + i))
      return to + 16
  }
}

function writeBytes(vector: Vector, from: number, count: number, at: Int32Array, out: WireBuffer): void {
  const { values, validity, empty } = vector
  const offsets = vector.offsets!
  const { bytes, view } = out
  for (let r = 0; r < count; r++) {
    const start = offsets[from + r]
    const length = offsets[from + r + 1] - start
    const to = at[r]
    const isNull = validity !== null && !isSet(validity, from + r)
    view.setInt32(to, isNull && !isSet(empty, from + r) ? -1 : length)
    copy(values, start, length, bytes, to + 4)
    at[r] = to + 4 + length
  }
}

/** The length before each value is among the encoded bytes. */
function writeEncoded({ encoded, ends }: Column, count: number, at: Int32Array, out: WireBuffer): void {
  let start = 0
  for (let r = 0; r < count; r++) {
    copy(encoded.bytes, start, ends[r] - start, out.bytes, at[r])
    at[r] += ends[r] - start
    start = ends[r]
  }
}

function copy(from: Uint8Array, start: number, length: number, to: Uint8Array, at: number): void {
  // Calling set costs about 50 ns.
  if (length > 64) to.set(from.subarray(start, start + length), at)
  else for (let i = 0; i < length; i++) to[at + i] = from[start + i]
}

function isSet(bits: Uint8Array | null, index: number): boolean {
  return bits !== null && ((bits[index >>> 3] >>> (index & 7)) & 1) === 1
}
