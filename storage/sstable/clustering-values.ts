// Clustering values outside Data.db: in the covered slice of Statistics.db and in IndexInfo (o.a.c.db.ClusteringPrefix
// .Serializer). Per 32 values one uvint with two bits each (bit 0 empty, bit 1 null), then those that are neither:
// fixed-length types raw, others with a uvint length. Cold code; the row decoder has its own.

import type { Cursor } from '../bytes/cursor.ts'
import { fixedLength } from '../schema/fixed-length.ts'
import { parseMarshalType } from '../schema/marshal.ts'

/** Kinds of a clustering prefix by their ordinal (o.a.c.db.ClusteringPrefix.Kind). */
export const CLUSTERING_KIND = 4
export const LAST_KIND = 7

/** A clustering or a bound of clusterings. Missing trailing values of a bound are simply not there. */
export interface ClusteringPrefix {
  /** 0 EXCL_END, 1 INCL_START, 2 EXCL_END_INCL_START, 3 STATIC, 4 CLUSTERING, 5 INCL_END_EXCL_START, 6 INCL_END, 7 EXCL_START. */
  readonly kind: number
  /** Serialized values; null for null, of length 0 for empty. */
  readonly values: readonly (Uint8Array | null)[]
}

/** Bytes of a serialized value of this marshal class, or -1 when it varies. Classes that are not known vary, as in Cassandra. */
export function fixedValueLength(marshalType: string): number {
  return fixedLength(parseMarshalType(marshalType).type)
}

/** Reads `count` values; `lengths[i]` is what `fixedValueLength` says of the i-th clustering type. */
export function readClusteringValues(cursor: Cursor, count: number, lengths: readonly number[]): (Uint8Array | null)[] {
  if (count > lengths.length) {
    throw cursor.corrupt(`${count} clustering values where the table has ${lengths.length} columns`)
  }
  const values: (Uint8Array | null)[] = []
  let header = 0n
  for (let i = 0; i < count; i++) {
    if (i % 32 === 0) header = cursor.uvintBig()
    const bits = Number((header >> BigInt(2 * (i % 32))) & 3n)
    if (bits & 2) values.push(null)
    else if (bits & 1) values.push(new Uint8Array(0))
    else values.push(lengths[i] >= 0 ? cursor.take(lengths[i]) : cursor.uvintBytes())
  }
  return values
}

/** u8 kind, u16 count, values: a bound as Statistics.db holds it. */
export function readBound(cursor: Cursor, lengths: readonly number[]): ClusteringPrefix {
  const kind = readKind(cursor)
  return { kind, values: readClusteringValues(cursor, cursor.u16(), lengths) }
}

/** The same, or a whole clustering (kind 4, all values, no count): a prefix as IndexInfo holds it. */
export function readPrefix(cursor: Cursor, lengths: readonly number[]): ClusteringPrefix {
  const kind = readKind(cursor)
  const count = kind === CLUSTERING_KIND ? lengths.length : cursor.u16()
  return { kind, values: readClusteringValues(cursor, count, lengths) }
}

function readKind(cursor: Cursor): number {
  const kind = cursor.u8()
  if (kind > LAST_KIND) throw cursor.corrupt(`clustering kind ${kind}`, cursor.pos - 1)
  return kind
}
