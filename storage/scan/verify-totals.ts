// What the rows of one SSTable add up to, held against what Statistics.db says of them (o.a.c.io.sstable.metadata
// .MetadataCollector, o.a.c.db.rows.Rows.collectStats).

import type { PartitionSource } from '../rows/partition-source.ts'
import {
  COMPLEX_DELETION,
  compareTimestamps,
  KIND_MARKER,
  NO_TIMESTAMP_HI,
  NO_TIMESTAMP_LO,
  timestampOf,
  type Unfiltered,
} from '../rows/unfiltered.ts'
import { CHUNK_CRC_BYTES } from '../sstable/compression-info.ts'
import type { SSTableData } from '../sstable/sstable.ts'
import { countedPartitions } from '../sstable/statistics.ts'

export class VerifyTotals {
  partitions = 0
  /** Regular rows, and static rows that are not empty, as Cassandra counts them. */
  rows = 0
  markers = 0
  cells = 0
  /** Columns with a cell, row by row. */
  columnsSet = 0
  firstKey: Uint8Array | undefined
  lastKey: Uint8Array | undefined
  #timestamps = 0
  #minHi = 0
  #minLo = 0
  #maxHi = 0
  #maxLo = 0

  /** A partition whose header and static row have been read. */
  partition(source: PartitionSource): void {
    this.partitions++
    this.lastKey = source.key.slice(0, source.keyLength)
    this.firstKey ??= this.lastKey
    this.#timestamp(source.deletionHi, source.deletionLo)
    const { staticRow } = source
    const isDeleted = staticRow.delHi !== NO_TIMESTAMP_HI || staticRow.delLo !== NO_TIMESTAMP_LO
    if (source.layout.hasStatics && (staticRow.cells > 0 || isDeleted)) this.#row(staticRow)
  }

  /** A row or marker. */
  unfiltered(u: Unfiltered): void {
    if (u.kind !== KIND_MARKER) {
      this.#row(u)
      return
    }
    this.markers++
    this.#timestamp(u.delHi, u.delLo)
    this.#timestamp(u.openHi, u.openLo)
  }

  #row(u: Unfiltered): void {
    this.rows++
    this.#timestamp(u.liveHi, u.liveLo)
    this.#timestamp(u.delHi, u.delLo)
    let slot = -1
    for (let i = 0; i < u.cells; i++) {
      this.#timestamp(u.tsHi[i], u.tsLo[i])
      if ((u.flags[i] & COMPLEX_DELETION) !== 0) continue
      this.cells++
      if (u.slot[i] !== slot) this.columnsSet++
      slot = u.slot[i]
    }
  }

  #timestamp(hi: number, lo: number): void {
    if (hi === NO_TIMESTAMP_HI && lo === NO_TIMESTAMP_LO) return
    if (this.#timestamps++ === 0) {
      this.#minHi = this.#maxHi = hi
      this.#minLo = this.#maxLo = lo
    } else if (compareTimestamps(hi, lo, this.#minHi, this.#minLo) < 0) {
      this.#minHi = hi
      this.#minLo = lo
    } else if (compareTimestamps(hi, lo, this.#maxHi, this.#maxLo) > 0) {
      this.#maxHi = hi
      this.#maxLo = lo
    }
  }

  /** Every way in which Statistics.db says something else, in words. */
  differences({ statistics, compression, dataFileLength, dataLength }: SSTableData): string[] {
    const found: string[] = []
    const equal = (what: string, data: bigint | number, said: bigint | number) => {
      if (BigInt(data) !== BigInt(said)) found.push(`${data} ${what} where Statistics.db counts ${said}`)
    }
    equal('partitions', this.partitions, countedPartitions(statistics))
    equal('rows', this.rows, statistics.totalRows)
    equal('columns set', this.columnsSet, statistics.totalColumnsSet)
    if (this.#timestamps > 0) {
      equal('as the lowest timestamp', timestampOf(this.#minHi, this.#minLo), statistics.minTimestamp)
      equal('as the highest timestamp', timestampOf(this.#maxHi, this.#maxLo), statistics.maxTimestamp)
    }
    // Versions up to 3.0.x left the ratio out when they compacted.
    if (compression !== null && statistics.compressionRatio > 0) {
      const stored = dataFileLength - CHUNK_CRC_BYTES * compression.listedCount
      const ratio = stored / dataLength
      if (ratio !== statistics.compressionRatio)
        found.push(`a compression ratio of ${ratio} where Statistics.db says ${statistics.compressionRatio}`)
    }
    sameKey(found, 'first', this.firstKey, statistics.firstKey)
    sameKey(found, 'last', this.lastKey, statistics.lastKey)
    return found
  }
}

function sameKey(found: string[], which: string, key: Uint8Array | undefined, said: Uint8Array | null): void {
  if (said === null || key === undefined || Buffer.compare(said, key) === 0) return
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  found.push(`${hex(key)} as the ${which} key where Statistics.db says ${hex(said)}`)
}
