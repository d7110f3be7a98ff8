// Counts what is deleted or expired in what a scan goes through, in each SSTable by itself: of several tombstones over one thing each
// counts, as each has to be read.

import type { PartitionSource } from '../rows/partition-source.ts'
import { isStart } from '../rows/row-decoder.ts'
import {
  CELL_DELETED,
  CELL_EXPIRING,
  COMPLEX_DELETION,
  EXCL_END_INCL_START,
  EXPIRED_LIVENESS_TTL,
  INCL_END_EXCL_START,
  NO_TIMESTAMP_HI,
  NO_TIMESTAMP_LO,
  type Unfiltered,
} from '../rows/unfiltered.ts'

export class TombstoneCounter {
  readonly #counters: { tombstones: number }
  readonly #now: number

  constructor(counters: { tombstones: number }, now: number) {
    this.#counters = counters
    this.#now = now
  }

  /** A partition's own deletion, and what is dead in its static row. */
  partition(source: PartitionSource): void {
    if (source.deletionHi !== NO_TIMESTAMP_HI || source.deletionLo !== NO_TIMESTAMP_LO) this.#counters.tombstones++
    if (source.layout.hasStatics) this.row(source.staticRow)
  }

  /** A range deletion counts where it begins. */
  marker({ boundKind }: Unfiltered): void {
    const opens = isStart(boundKind) || boundKind === EXCL_END_INCL_START || boundKind === INCL_END_EXCL_START
    if (opens) this.#counters.tombstones++
  }

  /** A row's deletion, its expired liveness, its dead cells, and the deletions of its collections. */
  row(row: Unfiltered): void {
    let dead = 0
    if (row.delHi !== NO_TIMESTAMP_HI || row.delLo !== NO_TIMESTAMP_LO) dead++
    if (row.liveTtl !== 0 && (row.liveTtl === EXPIRED_LIVENESS_TTL || row.liveLdt <= this.#now)) dead++
    for (let i = 0; i < row.cells; i++) {
      const flags = row.flags[i]
      if ((flags & (CELL_DELETED | COMPLEX_DELETION)) !== 0) dead++
      else if ((flags & CELL_EXPIRING) !== 0 && row.ldt[i] <= this.#now) dead++
    }
    this.#counters.tombstones += dead
  }
}
