// Order of clusterings and bounds within a partition (Cassandra: ClusteringComparator, ClusteringPrefix.Kind).
// Null parts sort before everything, also in a reversed column; an empty value sorts last there.

import type { ValueComparator } from '../schema/compare.ts'
import type { TableLayout } from './table-layout.ts'
import type { Unfiltered } from './unfiltered.ts'

/** Where a kind stands against another of equal values: ClusteringPrefix.Kind.comparison. */
const COMPARISON = Int8Array.of(0, 0, 0, 1, 2, 3, 3, 3)
/** Where a shorter prefix of this kind stands against a clustering that it is a prefix of. */
const COMPARED_TO_CLUSTERING = Int8Array.of(-1, -1, -1, -1, 0, 1, 1, 1)

export class ClusteringOrder {
  #compare: ValueComparator[]
  #reversed: boolean[]

  constructor(layout: Pick<TableLayout, 'clusteringCompare' | 'clusteringReversed'>) {
    this.#compare = layout.clusteringCompare
    this.#reversed = layout.clusteringReversed
  }

  /** Negative, zero or positive as `a` stands before, at or behind `b`. */
  compare(a: Unfiltered, b: Unfiltered): number {
    const na = a.clusteringCount
    const nb = b.clusteringCount
    const n = na < nb ? na : nb
    for (let i = 0; i < n; i++) {
      const lengthA = a.clusteringLength[i]
      const lengthB = b.clusteringLength[i]
      if (lengthA < 0 || lengthB < 0) {
        if (lengthA < 0 && lengthB < 0) continue
        return lengthA < 0 ? -1 : 1
      }
      const c = this.#compare[i](
        a.bytes,
        a.view,
        a.clusteringOffset[i],
        lengthA,
        b.bytes,
        b.view,
        b.clusteringOffset[i],
        lengthB,
      )
      if (c !== 0) return this.#reversed[i] ? -c : c
    }
    if (na === nb) return COMPARISON[a.boundKind] - COMPARISON[b.boundKind]
    return na < nb ? COMPARED_TO_CLUSTERING[a.boundKind] : -COMPARED_TO_CLUSTERING[b.boundKind]
  }
}
