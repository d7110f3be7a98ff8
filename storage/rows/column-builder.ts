// What the row code writes into: one builder per output column, filled from CQL value bytes. Implementations: columns/.
// The caller promises bytes of one value per call; a builder checks lengths and raises SluiceError (CORRUPT_SSTABLE with
// `type` and `reason`; INVALID_UTF8; EMPTY_MAP_KEY; VALUE_OUT_OF_RANGE), to which the caller adds file, partition and offset.

import type { Field, Vector } from './batch.ts'

export interface ColumnBuilder {
  readonly field: Field
  /** Rows appended so far. */
  length: number
  appendNull(): void
  /** One value in CQL's on-disk form; length 0 is an empty value (see isZeroLengthOrdinary). `view` lies over the same bytes. */
  append(bytes: Uint8Array, view: DataView, offset: number, length: number): void
  /** A multi-cell value: begin, then the cells in path order, then end (which ends the row's value; no cells: null). */
  beginCells(): void
  appendCell(
    path: Uint8Array,
    pathView: DataView,
    pathOffset: number,
    pathLength: number,
    value: Uint8Array,
    valueView: DataView,
    valueOffset: number,
    valueLength: number,
  ): void
  endCells(): void
  /** Bytes that finish() would hand out. */
  byteLength(): number
  /** The vector over the builder's own buffers: valid until reset(). */
  finish(): Vector
  /** Empties the builder; its buffers are used again, so no vector of it may still be read. */
  reset(): void
  /** Behind reset(): lets buffers go that have grown large. */
  shrink(): void
}
