// The columns of a partition key inside its bytes: the whole of a single one; else CompositeType's parts, each u16 length, bytes,
// 0x00 (o.a.c.db.marshal.CompositeType).

import type { PartitionSource } from './partition-source.ts'

/** Fills in where each part of the source's key lies; as many as `offsets` holds. CORRUPT_SSTABLE. */
export function splitKey(
  source: Pick<PartitionSource, 'keyView' | 'keyLength' | 'corrupt'>,
  offsets: Int32Array,
  lengths: Int32Array,
): void {
  const { keyView, keyLength } = source
  if (offsets.length === 1) {
    offsets[0] = 0
    lengths[0] = keyLength
    return
  }
  let at = 0
  for (let i = 0; i < offsets.length; i++) {
    const length = at + 2 <= keyLength ? keyView.getUint16(at) : keyLength
    if (at + 2 + length + 1 > keyLength) throw source.corrupt('a composite key runs over its end')
    offsets[i] = at + 2
    lengths[i] = length
    at += length + 3
  }
  if (at !== keyLength) throw source.corrupt('bytes behind a composite key')
}
