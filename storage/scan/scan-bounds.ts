// What a scan is to read: the parts of the ring between its positions (a resume point, the ends of a split), and what those and a
// predicate's slices leave of one partition.

import { comparePrefixes } from '../ring/clustering-prefix.ts'
import type { Partitioner, Token } from '../ring/partitioner.ts'
import {
  comparePartitionToPosition,
  comparePositions,
  isInsidePartition,
  type KeyPosition,
  type Position,
} from '../ring/position.ts'
import type { TokenInterval } from '../ring/token-range.ts'
import type { ClusteringOrder } from '../rows/clustering.ts'
import type { PartitionSource } from '../rows/partition-source.ts'
import { EXCL_START, INCL_START, type Unfiltered } from '../rows/unfiltered.ts'
import type { ColumnSchema } from '../schema/table.ts'
import { boundOfPrefix, cutSlices, type PartitionSlices, type RowSlice } from './slice-walk.ts'

/** A part of the ring, between two positions; null: the ring's own beginning or end. */
export interface Reach {
  from: Position | null
  to: Position | null
}

/** The parts of the intervals that lie between two positions; ascending, disjoint. */
export function reaches(
  partitioner: Partitioner,
  clustering: readonly ColumnSchema[],
  intervals: readonly TokenInterval[],
  lower: Position | undefined,
  upper: Position | undefined,
): Reach[] {
  const compare = (a: Position, b: Position) =>
    comparePositions(partitioner, (x, y) => comparePrefixes(clustering, x, y), a, b)
  const at = (token: Token | null): Position | null => token && { kind: 'token', token }
  const result: Reach[] = []
  for (const { start, end } of intervals) {
    let from = at(start)
    let to = at(end)
    if (lower !== undefined && (from === null || compare(from, lower) < 0)) from = lower
    if (upper !== undefined && (to === null || compare(to, upper) > 0)) to = upper
    if (from === null || to === null || compare(from, to) < 0) result.push({ from, to })
  }
  return result
}

export class ScanBounds {
  #partitioner: Partitioner
  #order: ClusteringOrder
  #lower: KeyPosition | undefined
  #upper: KeyPosition | undefined
  #lowerBound: Unfiltered | undefined
  #upperBound: Unfiltered | undefined
  #predicate: PartitionSlices | undefined

  /** `slices`: what a predicate leaves of every partition. */
  constructor(
    partitioner: Partitioner,
    order: ClusteringOrder,
    lower: Position | undefined,
    upper: Position | undefined,
    slices: readonly RowSlice[] | undefined,
  ) {
    this.#partitioner = partitioner
    this.#order = order
    if (lower !== undefined && isInsidePartition(lower)) {
      this.#lower = lower
      this.#lowerBound = boundOf(lower)
    }
    if (upper !== undefined && isInsidePartition(upper)) {
      this.#upper = upper
      this.#upperBound = boundOf(upper)
    }
    // Whoever asks for slices asks for rows: static content alone is nothing to them.
    if (slices !== undefined) this.#predicate = { slices, beginsPartition: false }
  }

  /** What of the source's partition lies in the scan; undefined: all. */
  slices(source: PartitionSource): PartitionSlices | undefined {
    if (this.#lower === undefined && this.#upper === undefined) return this.#predicate
    const start = this.#isInside(source, this.#lower) ? this.#lowerBound : undefined
    const end = this.#isInside(source, this.#upper) ? this.#upperBound : undefined
    if (start === undefined && end === undefined) return this.#predicate
    const whole = this.#predicate?.slices ?? [{ start: undefined, end: undefined }]
    return {
      slices: cutSlices(this.#order, whole, start, end),
      beginsPartition: start === undefined && this.#predicate === undefined,
    }
  }

  #isInside(source: PartitionSource, position: KeyPosition | undefined): boolean {
    if (position === undefined) return false
    const { token, key, keyLength } = source
    return comparePartitionToPosition(this.#partitioner, token, 0, key, 0, keyLength, position) === 0
  }
}

/** A position inside a partition as a bound: rows that compare below it are before it. */
function boundOf(position: KeyPosition): Unfiltered {
  return boundOfPrefix(position.clustering, position.after ? EXCL_START : INCL_START)
}
