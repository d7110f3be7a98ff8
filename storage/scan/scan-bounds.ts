// The two positions that a scan lies between (a resume point, the ends of a split), and what they cut out of one partition.

import type { Partitioner } from '../ring/partitioner.ts'
import { comparePartitionToPosition, isInsidePartition, type KeyPosition, type Position } from '../ring/position.ts'
import type { PartitionSource } from '../rows/partition-source.ts'
import { EXCL_START, INCL_START, Unfiltered } from '../rows/unfiltered.ts'
import type { PartitionSlices } from './partition-merger.ts'

export class ScanBounds {
  readonly lower: Position | undefined
  readonly upper: Position | undefined
  #partitioner: Partitioner
  #lowerBound: Unfiltered | undefined
  #upperBound: Unfiltered | undefined

  constructor(partitioner: Partitioner, lower: Position | undefined, upper: Position | undefined) {
    this.lower = lower
    this.upper = upper
    this.#partitioner = partitioner
    this.#lowerBound = lower !== undefined && isInsidePartition(lower) ? boundOf(lower) : undefined
    this.#upperBound = upper !== undefined && isInsidePartition(upper) ? boundOf(upper) : undefined
  }

  /** Where the source's partition stands: -1 before the scan, 1 behind it, 0 in it, at least in part. */
  place(source: PartitionSource): number {
    if (this.lower !== undefined && this.#compare(source, this.lower) < 0) return -1
    if (this.upper !== undefined && this.#compare(source, this.upper) > 0) return 1
    return 0
  }

  /** What of the source's partition lies in the scan; undefined: all. */
  slices(source: PartitionSource): PartitionSlices | undefined {
    const start =
      this.#lowerBound !== undefined && this.#compare(source, this.lower!) === 0 ? this.#lowerBound : undefined
    const end =
      this.#upperBound !== undefined && this.#compare(source, this.upper!) === 0 ? this.#upperBound : undefined
    if (start === undefined && end === undefined) return undefined
    return { slices: [{ start, end }], beginsPartition: start === undefined }
  }

  #compare(source: PartitionSource, position: Position): number {
    return comparePartitionToPosition(this.#partitioner, source.token, 0, source.key, 0, source.keyLength, position)
  }
}

/** A position inside a partition as a bound: rows that compare below it are before it. */
function boundOf(position: KeyPosition): Unfiltered {
  return boundOfPrefix(position.clustering, position.after ? EXCL_START : INCL_START)
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
