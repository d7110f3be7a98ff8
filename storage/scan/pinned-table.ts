// A table with the set of SSTables that an export reads, held open: what compaction deletes meanwhile stays readable.

import { SluiceError } from '../errors.ts'
import type { TableSchema } from '../schema/table.ts'
import type { SSTable, SSTableData } from '../sstable/sstable.ts'

/** What a scan needs of a pinned table; in a worker it is a copy whose files the main thread holds open. */
export interface ScannedTable {
  readonly schema: TableSchema
  readonly partitioner: string
  readonly sstables: readonly SSTableData[]
  retain(): void
  release(): Promise<void>
}

/** Shared by its opener and the scans over it; the files are closed when all have released it. */
export class PinnedTable implements ScannedTable {
  readonly schema: TableSchema
  /** Simple class name, such as Murmur3Partitioner. */
  readonly partitioner: string
  /** Oldest first. */
  readonly sstables: SSTable[]
  #references = 1

  constructor(schema: TableSchema, sstables: SSTable[]) {
    this.schema = schema
    this.sstables = sstables
    const names = new Set(sstables.map((s) => s.statistics.partitioner))
    if (names.size > 1) {
      const [first, second] = names
      const other = sstables.find((s) => s.statistics.partitioner === second)!
      throw new SluiceError('PARTITIONER_MISMATCH', { file: other.file, expected: first, found: second })
    }
    this.partitioner = names.values().next().value ?? 'Murmur3Partitioner'
  }

  retain(): void {
    if (this.#references === 0) throw new SluiceError('INTERNAL', { reason: 'the pinned table was released' })
    this.#references++
  }

  async release(): Promise<void> {
    if (this.#references === 0 || --this.#references > 0) return
    for (const sstable of this.sstables) sstable.release()
  }
}
