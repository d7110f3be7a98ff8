// Which of two versions of a cell, or of a row's liveness, wins: Cells.resolveRegular and LivenessInfo.supersedes of Cassandra 5.0
// (3.x decided ties otherwise: signed bytes, and by the clock).

import { compareUnsigned } from '../ring/partitioner.ts'
import {
  CELL_EXPIRING,
  compareTimestamps,
  EXPIRED_LIVENESS_TTL,
  NO_DELETION_TIME,
  type Unfiltered,
} from './unfiltered.ts'

/** LivenessInfo.supersedes */
export function supersedes(v: Unfiltered, hi: number, lo: number, ttl: number, ldt: number): boolean {
  const c = compareTimestamps(v.liveHi, v.liveLo, hi, lo)
  if (c !== 0) return c > 0
  const expired = v.liveTtl === EXPIRED_LIVENESS_TTL
  if (expired !== (ttl === EXPIRED_LIVENESS_TTL)) return expired
  const expiring = v.liveTtl !== 0
  if (expiring !== (ttl !== 0)) return expiring
  if (!expiring) return false
  return v.liveLdt > ldt || (v.liveLdt === ldt && v.liveTtl < ttl)
}

/** Cells.resolveRegular: whether cell `ca` of `a` wins over cell `cb` of `b`. */
export function wins(a: Unfiltered, ca: number, b: Unfiltered, cb: number): boolean {
  const c = compareTimestamps(a.tsHi[ca], a.tsLo[ca], b.tsHi[cb], b.tsLo[cb])
  if (c !== 0) return c > 0
  const ldtA = a.ldt[ca]
  const ldtB = b.ldt[cb]
  if (ldtA !== NO_DELETION_TIME || ldtB !== NO_DELETION_TIME) {
    // CASSANDRA-14592: expiring cells count as tombstones to be, whatever the clock says.
    if ((ldtA !== NO_DELETION_TIME) !== (ldtB !== NO_DELETION_TIME)) return ldtA !== NO_DELETION_TIME
    const expiringA = (a.flags[ca] & CELL_EXPIRING) !== 0
    if (expiringA !== ((b.flags[cb] & CELL_EXPIRING) !== 0)) return !expiringA
    if (ldtA !== ldtB) return ldtA > ldtB
    if (expiringA && a.ttl[ca] !== b.ttl[cb]) return a.ttl[ca] < b.ttl[cb]
  }
  return compareUnsigned(a.bytes, a.offset[ca], a.length[ca], b.bytes, b.offset[cb], b.length[cb]) >= 0
}
