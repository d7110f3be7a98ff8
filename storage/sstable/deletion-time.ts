// A partition's or an open range's deletion as the indexes hold it (o.a.c.db.DeletionTime.Serializer, LegacySerializer).

import type { Cursor } from '../bytes/cursor.ts'

export interface DeletionTime {
  /** Halves of markedForDeleteAt, microseconds; int32 each. */
  readonly timestampHi: number
  readonly timestampLo: number
  /** Seconds: signed 32-bit before oa, unsigned from oa. */
  readonly localDeletionTime: number
}

const LIVE_FLAG = 0x80

/**
 * Before oa: i32 local deletion time, i64 timestamp, and "live" is (MAX_INT, MIN_LONG). From oa: one byte 0x80 for live, else
 * i64 timestamp, u32 local deletion time. null: live.
 */
export function readDeletionTime(cursor: Cursor, unsigned: boolean): DeletionTime | null {
  if (unsigned) {
    if (cursor.bytes[cursor.pos] === LIVE_FLAG) {
      cursor.skip(1)
      return null
    }
    const timestampHi = cursor.i32()
    if (timestampHi < 0) throw cursor.corrupt('a deletion time with unknown flags', cursor.pos - 4)
    return { timestampHi, timestampLo: cursor.i32(), localDeletionTime: cursor.u32() }
  }
  const localDeletionTime = cursor.i32()
  const timestampHi = cursor.i32()
  const timestampLo = cursor.i32()
  if (localDeletionTime === 0x7fffffff && timestampHi === -0x80000000 && timestampLo === 0) return null
  return { timestampHi, timestampLo, localDeletionTime }
}
