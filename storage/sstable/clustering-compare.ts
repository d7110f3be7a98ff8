// Where a clustering prefix of an index stands to a place in a partition (o.a.c.db.ClusteringComparator, ClusteringPrefix
// .Kind.comparedToClustering). For index blocks: cold code over plain values.

import { isSluiceError } from '../errors.ts'
import { comparator, type ValueComparator } from '../schema/compare.ts'
import type { CqlType } from '../schema/cql-type.ts'
import { fixedLength } from '../schema/fixed-length.ts'
import { parseMarshalType } from '../schema/marshal.ts'
import { CLUSTERING_KIND, type ClusteringPrefix } from './clustering-values.ts'
import type { ClusteringPlace } from './index.ts'

export interface ClusteringTypes {
  readonly types: readonly CqlType[]
  readonly reversed: readonly boolean[]
  /** As `fixedValueLength`. */
  readonly lengths: readonly number[]
}

export interface PrefixOrder extends ClusteringTypes {
  readonly compare: readonly ValueComparator[]
}

export function clusteringTypes(marshalTypes: readonly string[]): ClusteringTypes {
  const parsed = marshalTypes.map(parseMarshalType)
  return {
    types: parsed.map(({ type }) => type),
    reversed: parsed.map(({ reversed }) => reversed),
    lengths: parsed.map(({ type }) => fixedLength(type)),
  }
}

/** The order of an SSTable's clusterings; null when one of the types has no known order. */
export function prefixOrder(marshalTypes: readonly string[]): PrefixOrder | null {
  const types = clusteringTypes(marshalTypes)
  try {
    return { ...types, compare: types.types.map(comparator) }
  } catch (error) {
    if (isSluiceError(error) && error.code === 'UNSUPPORTED_TYPE') return null
    throw error
  }
}

/** -1 or 1 as what has this kind stands before or behind the clusterings it is equal to or a prefix of; 0 for a row. */
function sideOf(kind: number): number {
  return Math.sign(kind - CLUSTERING_KIND) || 0
}

/** Negative, 0 or positive as the prefix stands before, at or behind the place. */
export function compareToPlace(order: PrefixOrder, prefix: ClusteringPrefix, place: ClusteringPlace): number {
  const { values } = prefix
  const { clustering } = place
  const shared = Math.min(values.length, clustering.length)
  for (let i = 0; i < shared; i++) {
    const a = values[i]
    const b = clustering[i]
    if (a === null || b === null) {
      if (a === b) continue
      return a === null ? -1 : 1
    }
    const c = order.compare[i](a, viewOf(a), 0, a.length, b, viewOf(b), 0, b.length)
    if (c !== 0) return order.reversed[i] ? -c : c
  }
  const placeSide = place.after ? 1 : -1
  if (values.length < clustering.length) return sideOf(prefix.kind)
  if (values.length > clustering.length) return -placeSide
  return sideOf(prefix.kind) - placeSide
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The place at which a row or marker with this prefix begins: nothing before the place is at or behind it. */
export function placeOf(prefix: ClusteringPrefix): ClusteringPlace {
  return { clustering: prefix.values, after: prefix.kind > CLUSTERING_KIND }
}
