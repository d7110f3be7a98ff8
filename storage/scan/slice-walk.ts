// What of a partition is wanted: ascending slices of its clusterings, and where a merge stands to them.

import type { ClusteringOrder } from '../rows/clustering.ts'
import { EXCL_END, EXCL_START, INCL_END, INCL_START, Unfiltered } from '../rows/unfiltered.ts'
import type { ClusteringBound, ClusteringSlice } from './predicate/clustering-slices.ts'

/** A run of clusterings: from `start` to `end`, bounds whose kind says on which side of equal rows they stand. */
export interface RowSlice {
  /** undefined: from the first. */
  start: Unfiltered | undefined
  /** undefined: to the last. */
  end: Unfiltered | undefined
}

/** What of a partition is wanted. */
export interface PartitionSlices {
  /** Ascending, disjoint. */
  slices: readonly RowSlice[]
  /** This slice of the partition is its beginning: it tells of a partition with static content alone. */
  beginsPartition: boolean
}

// Where a row stands to the slices.
export const IN_SLICE = 0
export const OUTSIDE = 1
export const BEHIND_SLICES = 2

export class SliceWalk {
  /** undefined: all is wanted. */
  slices: readonly RowSlice[] | undefined
  /** Number of the slice that the merge is in or before. */
  at = 0
  #order: ClusteringOrder

  constructor(order: ClusteringOrder) {
    this.#order = order
  }

  begin(slices: readonly RowSlice[] | undefined): void {
    this.slices = slices
    this.at = 0
  }

  /** Where the slice that the merge is in or before begins; undefined: with the partition, or there is none. */
  get start(): Unfiltered | undefined {
    const { slices } = this
    return slices === undefined || this.at >= slices.length ? undefined : slices[this.at].start
  }

  /** Where the next row stands; rows come in ascending order. */
  standing(row: Unfiltered): number {
    const { slices } = this
    if (slices === undefined) return IN_SLICE
    while (this.at < slices.length) {
      const { start, end } = slices[this.at]
      if (end !== undefined && this.#order.compare(row, end) > 0) {
        this.at++
        continue
      }
      if (start !== undefined && this.#order.compare(row, start) < 0) return OUTSIDE
      // Nothing is left to look for.
      if (end === undefined) this.slices = undefined
      return IN_SLICE
    }
    return BEHIND_SLICES
  }
}

/** A bound over clustering values, null for null. */
export function boundOfPrefix(values: readonly (Uint8Array | null)[], kind: number): Unfiltered {
  const bound = new Unfiltered()
  bound.boundKind = kind
  bound.reserveClustering(values.length)
  const length = values.reduce((sum, v) => sum + (v?.length ?? 0), 0)
  bound.bytes = new Uint8Array(length)
  bound.view = new DataView(bound.bytes.buffer)
  let at = 0
  values.forEach((value, i) => {
    bound.clusteringOffset[i] = at
    bound.clusteringLength[i] = value === null ? -1 : value.length
    if (value !== null) bound.bytes.set(value, at)
    at += value?.length ?? 0
  })
  return bound
}

/** The clustering values of a bound or a row, copied. */
export function valuesOf(row: Unfiltered): (Uint8Array | null)[] {
  return Array.from({ length: row.clusteringCount }, (_, i) => {
    const at = row.clusteringOffset[i]
    return row.clusteringLength[i] < 0 ? null : row.bytes.slice(at, at + row.clusteringLength[i])
  })
}

/** A predicate's slices in the form that rows are compared with. */
export function rowSlices(slices: readonly ClusteringSlice[]): RowSlice[] {
  return slices.map(({ start, end }) => ({
    start: boundOf(start, start.inclusive ? INCL_START : EXCL_START),
    end: boundOf(end, end.inclusive ? INCL_END : EXCL_END),
  }))
}

function boundOf({ values }: ClusteringBound, kind: number): Unfiltered | undefined {
  return values.length === 0 ? undefined : boundOfPrefix(values, kind)
}

/** The parts of the slices between two bounds. */
export function cutSlices(
  order: ClusteringOrder,
  slices: readonly RowSlice[],
  lower: Unfiltered | undefined,
  upper: Unfiltered | undefined,
): RowSlice[] {
  const later = (a: Unfiltered | undefined, b: Unfiltered | undefined) =>
    a === undefined || (b !== undefined && order.compare(a, b) < 0) ? b : a
  const earlier = (a: Unfiltered | undefined, b: Unfiltered | undefined) =>
    a === undefined || (b !== undefined && order.compare(a, b) > 0) ? b : a
  return slices
    .map(({ start, end }) => ({ start: later(start, lower), end: earlier(end, upper) }))
    .filter(({ start, end }) => start === undefined || end === undefined || order.compare(start, end) < 0)
}
