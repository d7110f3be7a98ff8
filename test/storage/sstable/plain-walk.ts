// A partition of Data.db, walked by nothing but its sizes: where its rows and markers lie, their clusterings, and which range
// deletion is open behind each. Written apart from the product's row decoder, to check indexes against.

import { Cursor } from '../../../storage/bytes/cursor.ts'
import { clusteringTypes } from '../../../storage/sstable/clustering-compare.ts'
import { type ClusteringPrefix, readClusteringValues } from '../../../storage/sstable/clustering-values.ts'
import { type DeletionTime, readDeletionTime } from '../../../storage/sstable/deletion-time.ts'
import type { SSTable } from '../../../storage/sstable/sstable.ts'

export interface WalkedItem {
  offset: number
  prefix: ClusteringPrefix
  openAfter: DeletionTime | null
}

export interface WalkedPartition {
  key: Uint8Array
  deletion: DeletionTime | null
  /** Rows and markers; the static row is none of them. */
  items: WalkedItem[]
  firstRow: number
  /** Behind the end flag. */
  end: number
}

export function walkPartition(sstable: SSTable, data: Uint8Array, offset: number): WalkedPartition {
  const { header } = sstable.statistics
  const { lengths } = clusteringTypes(header.clusteringTypes)
  const cursor = new Cursor(data, 'Data.db')
  cursor.skip(offset)
  const key = cursor.u16Bytes()
  const deletion = readDeletionTime(cursor, sstable.version.unsignedDeletionTime)

  const readDeltas = (): DeletionTime => {
    const timestamp = BigInt.asIntN(64, cursor.uvintBig() + header.minTimestamp)
    const local = cursor.uvintBig() + BigInt(header.minLocalDeletionTime)
    return {
      timestampHi: Number(timestamp >> 32n),
      timestampLo: Number(BigInt.asIntN(32, timestamp)),
      localDeletionTime: Number(
        sstable.version.unsignedDeletionTime ? BigInt.asUintN(32, local) : BigInt.asIntN(32, local),
      ),
    }
  }

  const items: WalkedItem[] = []
  let open: DeletionTime | null = null
  let firstRow = cursor.pos
  for (;;) {
    const at = cursor.pos
    const flags = cursor.u8()
    if (flags & 0x01) return { key, deletion, items, firstRow, end: cursor.pos }
    const extended = flags & 0x80 ? cursor.u8() : 0
    if (extended & 0x01) {
      const size = cursor.uvint()
      cursor.skip(size)
      firstRow = cursor.pos
      continue
    }
    if (flags & 0x02) {
      const kind = cursor.u8()
      const values = readClusteringValues(cursor, cursor.u16(), lengths)
      const size = cursor.uvint()
      const end = cursor.pos + size
      cursor.uvint()
      const first = readDeltas()
      // A boundary closes one and opens another.
      const second = kind === 2 || kind === 5 ? readDeltas() : null
      if (cursor.pos !== end) throw new Error(`a marker at ${at} ends at ${cursor.pos}, not ${end}`)
      open = second ?? (kind === 1 || kind === 7 ? first : null)
      items.push({ offset: at, prefix: { kind, values }, openAfter: open })
      continue
    }
    const values = readClusteringValues(cursor, lengths.length, lengths)
    const size = cursor.uvint()
    cursor.skip(size)
    items.push({ offset: at, prefix: { kind: 4, values }, openAfter: open })
  }
}
