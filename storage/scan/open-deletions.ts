// The deletions that stand over the rows of one partition while its SSTables are merged: the partition's own, and in every
// SSTable the range tombstone that is open (Cassandra: UnfilteredRowIterators.mergePartitionLevelDeletions,
// RangeTombstoneMarker.Merger). The strongest of them is the one that rows are judged by.

import type { PartitionSource } from '../rows/partition-source.ts'
import { compareTimestamps, NO_DELETION_TIME, NO_TIMESTAMP_HI, NO_TIMESTAMP_LO } from '../rows/unfiltered.ts'

export class OpenDeletions {
  // The partition's.
  partitionHi = NO_TIMESTAMP_HI
  partitionLo = NO_TIMESTAMP_LO
  partitionLdt = NO_DELETION_TIME
  // The strongest of the partition's and the open ranges'.
  activeHi = NO_TIMESTAMP_HI
  activeLo = NO_TIMESTAMP_LO
  activeLdt = NO_DELETION_TIME
  // Open in each source, as far as the merge has come.
  #openHi = new Int32Array(8)
  #openLo = new Int32Array(8)
  #openLdt = new Uint32Array(8)
  #sources: readonly PartitionSource[] = []

  /** All sources stand behind the header of the same partition. */
  begin(sources: readonly PartitionSource[]): void {
    this.#sources = sources
    if (this.#openHi.length < sources.length) {
      this.#openHi = new Int32Array(2 * sources.length)
      this.#openLo = new Int32Array(2 * sources.length)
      this.#openLdt = new Uint32Array(2 * sources.length)
    }
    this.partitionHi = NO_TIMESTAMP_HI
    this.partitionLo = NO_TIMESTAMP_LO
    this.partitionLdt = NO_DELETION_TIME
    for (let i = 0; i < sources.length; i++) {
      const { deletionHi, deletionLo, deletionLdt } = sources[i]
      const c = compareTimestamps(deletionHi, deletionLo, this.partitionHi, this.partitionLo)
      if (c > 0 || (c === 0 && deletionLdt > this.partitionLdt)) {
        this.partitionHi = deletionHi
        this.partitionLo = deletionLo
        this.partitionLdt = deletionLdt
      }
      this.take(i)
    }
    this.activate()
  }

  /** The merge has passed the marker that source `i` stands at; then activate(). */
  take(i: number): void {
    const { openHi, openLo, openLdt } = this.#sources[i]
    this.#openHi[i] = openHi
    this.#openLo[i] = openLo
    this.#openLdt[i] = openLdt
  }

  /** Source `i` has nothing more to say here; then activate(). */
  close(i: number): void {
    this.#openHi[i] = NO_TIMESTAMP_HI
    this.#openLo[i] = NO_TIMESTAMP_LO
    this.#openLdt[i] = NO_DELETION_TIME
  }

  activate(): void {
    let hi = this.partitionHi
    let lo = this.partitionLo
    let ldt = this.partitionLdt
    for (let i = 0; i < this.#sources.length; i++) {
      const c = compareTimestamps(this.#openHi[i], this.#openLo[i], hi, lo)
      if (c > 0 || (c === 0 && this.#openLdt[i] > ldt)) {
        hi = this.#openHi[i]
        lo = this.#openLo[i]
        ldt = this.#openLdt[i]
      }
    }
    this.activeHi = hi
    this.activeLo = lo
    this.activeLdt = ldt
  }

  get isAnyActive(): boolean {
    return this.activeHi !== NO_TIMESTAMP_HI || this.activeLo !== NO_TIMESTAMP_LO
  }

  /** A range tombstone does more here than the partition's deletion. */
  get isRangeActive(): boolean {
    return compareTimestamps(this.activeHi, this.activeLo, this.partitionHi, this.partitionLo) > 0
  }
}
