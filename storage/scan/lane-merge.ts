// The quick way through partitions that several SSTables hold: rows of all of them side by side, of which mostly one hides the others,
// decoded straight into the columns. It goes from partition to partition without a stop, and leaves at whatever is not of that kind
// (deletions of partitions and ranges, rows that must be put together from several, bytes that are not there yet): then the sources stand
// where it has come, and PartitionMerger goes on. A test holds both to the same batches.
//
// Rule of hiding (Row.Merger, Cells.reconcile): a row whose liveness and every cell have one timestamp, that has all columns, hides all
// versions that hold nothing newer or as new.

import { vintSize } from '../bytes/vint.ts'
import type { Partitioner } from '../ring/partitioner.ts'
import { compareLanes, hasKey, type Lane } from '../rows/lane.ts'
import { LANE_END, LANE_ROW, LANE_TOMBSTONE } from '../rows/lane-decoder.ts'
import type { PartitionSource } from '../rows/partition-source.ts'
import type { RowWriter } from '../rows/row-writer.ts'
import type { RunState } from '../rows/run-state.ts'
import type { TableLayout } from '../rows/table-layout.ts'
import { compareTimestamps } from '../rows/unfiltered.ts'
import type { MergeCounters } from './partition-merger.ts'

// Why run() left.
/** Between partitions: lanes that are not `inside` any must be brought to their next one. */
export const LANES_APART = 0
/** Inside of a partition, before something that is not for this merge, or not there yet. */
export const LANES_INSIDE = 1
export const LANES_FULL = 2
export const LANES_LIMIT = 3
/** Before a partition of which nothing was looked at. */
export const LANES_BEFORE = 4

/** Rows in a row from one SSTable alone, after which its run decoder does better. */
const LONE_ROWS = 64

export interface LaneMergeParts {
  layout: TableLayout
  partitioner: Partitioner
  counters: MergeCounters
  writer: RowWriter
  limit: number
  lanes: ReadonlyMap<PartitionSource, Lane>
}

export class LaneMerge {
  /** Those of the partition at hand, oldest first, when run() left inside of one. */
  readonly group: Lane[] = []
  /** A row of that partition was written. */
  emitted = false
  /** Rows passed since run() began. */
  rows = 0
  /** Holds the clustering of the row written last. */
  last: Lane | undefined
  /** The lane that an error comes from. */
  at: Lane | undefined
  #parts: LaneMergeParts
  #compare: TableLayout['clusteringCompare']
  #reversed: boolean[]
  #lanes: Lane[] = []
  /** Lanes of the partition at hand: the first of #lanes. */
  #count = 0
  /** Of them, those that stand at the row at hand. */
  #row: Lane[] = []
  #lone = 0
  #loneLane: Lane | undefined

  constructor(parts: LaneMergeParts) {
    this.#parts = parts
    this.#compare = parts.layout.clusteringCompare
    this.#reversed = parts.layout.clusteringReversed
  }

  /** Merges on from where these sources stand: each inside a partition, before its first row. */
  run(sources: readonly PartitionSource[]): number {
    const { partitioner, counters } = this.#parts
    this.#enter(sources)
    const sorted = this.#lanes
    for (;;) {
      const first = sorted[0]
      let count = 1
      while (count < sorted.length && isSame(sorted[count], first)) count++
      for (let i = 0; i < count; i++) if (sorted[i].isUnusual) return LANES_BEFORE
      this.#count = count
      this.emitted = false
      counters.partitionsVisited++
      const left = this.#partition()
      if (left !== LANES_APART) {
        this.#keepGroup()
        return left
      }
      if (!this.#moveOn(count, partitioner)) return LANES_APART
    }
  }

  /**
   * Merges on in the midst of the partition that all these sources stand in, up to its end (LANES_APART) at most; `emitted`: a row of it was
   * written.
   */
  runInside(sources: readonly PartitionSource[], emitted: boolean): number {
    this.#enter(sources)
    this.#count = sources.length
    this.emitted = emitted
    if (this.#lanes.some((lane) => lane.isUnusual)) return LANES_BEFORE
    const left = this.#partition()
    this.#keepGroup()
    return left
  }

  #enter(sources: readonly PartitionSource[]): void {
    this.rows = 0
    this.emitted = false
    this.last = undefined
    this.at = undefined
    this.#lone = 0
    this.#loneLane = undefined
    this.#lanes.length = 0
    for (const source of sources) {
      const lane = this.#parts.lanes.get(source)!
      lane.enter()
      this.#insert(lane, this.#lanes.length)
    }
  }

  #keepGroup(): void {
    this.group.length = 0
    for (let i = 0; i < this.#count; i++) if (this.#lanes[i].inside) this.group.push(this.#lanes[i])
  }

  /** Gives what was reached back to the sources; then those that are `inside` a partition stand there. */
  leave(): readonly Lane[] {
    for (const lane of this.#lanes) lane.leave()
    return this.#lanes
  }

  /** All lanes of the partition at hand go on to their next ones; false: one cannot. */
  #moveOn(count: number, partitioner: Partitioner): boolean {
    const sorted = this.#lanes
    let complete = true
    let like: Lane | undefined
    let inOrder = true
    for (let i = 0; i < count; i++) {
      const lane = sorted[i]
      this.at = lane
      if (!lane.nextPartition(partitioner, like)) complete = false
      else {
        // Lanes that stay together stay in their order.
        if (like !== undefined && !isSame(lane, like)) inOrder = false
        like ??= lane
      }
    }
    if (!complete) return false
    if (inOrder && (count === sorted.length || isBefore(like!, sorted[count]))) return true
    for (let i = count - 1; i >= 0; i--) this.#sink(i, partitioner)
    return true
  }

  /** Moves the lane at `from`, behind which all are in order, to its place. */
  #sink(from: number, partitioner: Partitioner): void {
    const sorted = this.#lanes
    const lane = sorted[from]
    let i = from
    while (i + 1 < sorted.length && compareLanes(sorted[i + 1], lane, partitioner) < 0) {
      sorted[i] = sorted[i + 1]
      i++
    }
    sorted[i] = lane
  }

  #insert(lane: Lane, count: number): void {
    const { partitioner } = this.#parts
    const sorted = this.#lanes
    let i = count
    while (i > 0 && compareLanes(lane, sorted[i - 1], partitioner) < 0) {
      sorted[i] = sorted[i - 1]
      i--
    }
    sorted[i] = lane
  }

  /** All rows of the partition at hand; LANES_APART at its end. */
  #partition(): number {
    const { counters, writer, limit } = this.#parts
    const lanes = this.#lanes
    const n = this.#count
    const row = this.#row
    for (;;) {
      let standing = 0
      for (let i = 0; i < n; i++) {
        const lane = lanes[i]
        if (!lane.inside) continue
        if (lane.standing < 0) {
          this.at = lane
          const found = lane.decoder.prefix(lane.state, lane.bytes, lane.view, lane.pos, lane.end)
          if (found === LANE_END) {
            lane.pos++
            lane.inside = false
            continue
          }
          if (found > LANE_TOMBSTONE) return LANES_INSIDE
          lane.standing = found
        }
        const c = standing === 0 ? -1 : this.#compareRows(lane.state, lane, row[0].state, row[0])
        if (c < 0) standing = 0
        if (c <= 0) row[standing++] = lane
      }
      if (standing === 0) return LANES_APART
      const written = standing === 1 ? this.#alone(row[0]) : this.#several(standing)
      if (written < 0) return LANES_INSIDE
      counters.rowsVisited++
      this.rows++
      for (let i = 0; i < standing; i++) row[i].pass()
      if (written === 1) {
        this.last = row[standing - 1]
        counters.rowsEmitted++
        writer.addRun(1)
        if (!this.emitted) {
          this.emitted = true
          counters.partitionsEmitted++
        }
        if (writer.total >= limit) return LANES_LIMIT
        if (writer.isFull) return LANES_FULL
      }
      if (standing > 1 || row[0] !== this.#loneLane) {
        this.#lone = 0
        this.#loneLane = row[0]
      } else if (++this.#lone > LONE_ROWS && n === 1) return LANES_INSIDE
    }
  }

  #alone(lane: Lane): number {
    this.at = lane
    if (lane.standing === LANE_TOMBSTONE) return 0
    return lane.decoder.row(lane.state, lane.bytes, lane.view, true)
  }

  /** The versions of one row: 1 it was written, 0 it is not alive, -1 they must be put together. */
  #several(count: number): number {
    const row = this.#row
    let winner = row[0]
    winner.isCopy = false
    for (let i = 1; i < count; i++) {
      const lane = row[i]
      const c = compareTimestamps(lane.state.liveHi, lane.state.liveLo, winner.state.liveHi, winner.state.liveLo)
      lane.isCopy = false
      if (c > 0) {
        winner = lane
      } else if (c === 0) {
        // Of equal times a deletion wins (DeletionTime.deletes).
        if (lane.standing === LANE_TOMBSTONE) winner = lane
        else if (winner.standing === LANE_ROW) {
          if (!isEqual(lane, winner)) return -1
          lane.isCopy = true
        }
      }
    }
    let otherHi = -0x80000000
    let otherLo = 0
    for (let i = 0; i < count; i++) {
      const lane = row[i]
      if (lane === winner || lane.isCopy) continue
      const { state } = lane
      if (lane.standing === LANE_ROW && !lane.decoder.isOfOneTime(state, lane.bytes)) return -1
      if (compareTimestamps(state.liveHi, state.liveLo, otherHi, otherLo) > 0) {
        otherHi = state.liveHi
        otherLo = state.liveLo
      }
    }
    if (winner.standing === LANE_TOMBSTONE) return 0
    // Of clusterings that compare equal with other bytes the newest SSTable's is shown.
    if (winner !== row[count - 1] && !hasSameClustering(winner, row[count - 1])) return -1
    if (!winner.isComplete) return -1
    this.at = winner
    const { state } = winner
    state.dominates = true
    state.otherHi = otherHi
    state.otherLo = otherLo
    const written = winner.decoder.row(state, winner.bytes, winner.view, false)
    state.dominates = false
    return written
  }

  #compareRows(a: RunState, laneA: Lane, b: RunState, laneB: Lane): number {
    const compare = this.#compare
    for (let i = 0; i < compare.length; i++) {
      const c = compare[i](
        laneA.bytes,
        laneA.view,
        a.clusteringOffset[i],
        a.clusteringLength[i],
        laneB.bytes,
        laneB.view,
        b.clusteringOffset[i],
        b.clusteringLength[i],
      )
      if (c !== 0) return this.#reversed[i] ? -c : c
    }
    return 0
  }
}

function isSame(a: Lane, b: Lane): boolean {
  return a.tokenHi === b.tokenHi && a.tokenLo === b.tokenLo && hasKey(a, b.state.keyBytes, b.keyOffset, b.keyWhole)
}

/** By their tokens alone: certainly. */
function isBefore(a: Lane, b: Lane): boolean {
  return a.tokenHi < b.tokenHi || (a.tokenHi === b.tokenHi && a.tokenLo >>> 0 < b.tokenLo >>> 0)
}

/** Whether two versions of one time are the same to the byte: as where two replicas are read, or a file was streamed twice. */
function isEqual(a: Lane, b: Lane): boolean {
  const sa = a.state
  const sb = b.state
  if (a.decoder.shape !== b.decoder.shape) return false
  if (sa.layout.minLdt !== sb.layout.minLdt || sa.layout.minTtl !== sb.layout.minTtl) return false
  // No expiry and no deletions, whose times count from the SSTable's own.
  if (sa.flags !== sb.flags || (sa.flags & 0x58) !== 0 || (sa.flags & 0x04) === 0) return false
  if (!a.decoder.isOfOneTime(sa, a.bytes) || !b.decoder.isOfOneTime(sb, b.bytes)) return false
  const from = sa.at + vintSize(a.bytes[sa.at])
  const other = sb.at + vintSize(b.bytes[sb.at])
  const length = sa.rowEnd - from
  if (sb.rowEnd - other !== length) return false
  for (let i = 0; i < length; i++) if (a.bytes[from + i] !== b.bytes[other + i]) return false
  return true
}

function hasSameClustering(a: Lane, b: Lane): boolean {
  const sa = a.state
  const sb = b.state
  for (let i = 0; i < sa.layout.clusteringCount; i++) {
    const length = sa.clusteringLength[i]
    if (length !== sb.clusteringLength[i]) return false
    for (let j = 0; j < length; j++) {
      if (a.bytes[sa.clusteringOffset[i] + j] !== b.bytes[sb.clusteringOffset[i] + j]) return false
    }
  }
  return true
}
