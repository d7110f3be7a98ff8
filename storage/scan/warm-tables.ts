// Tables that were read a moment ago, still open: who asks for one again need not open its SSTables anew. One is used again only where
// its directories, listed anew, hold the very names that they held, no transaction log among them, and each Data.db is still the file
// that is open. SSTables are never written again under the same name, but an operator may put others in their place. Since a
// deleted file keeps its room on disk for as long as it is open, a table is kept for seconds only.

import { fstat, stat } from 'node:fs'
import { promisify } from 'node:util'
import type { TableSchema } from '../schema/table.ts'
import type { SSTable } from '../sstable/sstable.ts'
import { namesIn, openLiveSet } from './live-set.ts'
import { PinnedTable } from './pinned-table.ts'

/** After the last request for it. */
export const WARM_MS = 5000
const MAX_TABLES = 16
const MAX_DESCRIPTORS = 1000

interface WarmTable {
  table: PinnedTable
  names: string
  files: string
  timer: NodeJS.Timeout
}

/** What `look` saw. */
interface Look {
  warm: WarmTable
  directories: readonly string[]
  isSame: boolean
}

const statFile = promisify(stat)
const statDescriptor = promisify(fstat)

export class WarmTables {
  /** By schema, which is another object when the catalog has read another one; used last at the end. */
  readonly #tables = new Map<TableSchema, WarmTable>()
  #closed = false

  /**
   * Looks whether what is open is what is live still; the answer is for `pin`. Undefined: nothing is open. Can go on while the catalog looks
   * whether the schema has changed.
   */
  look(schema: TableSchema, directories: readonly string[]): Promise<Look | undefined> {
    const warm = this.#tables.get(schema)
    if (warm === undefined) return Promise.resolve(undefined)
    return Promise.all([
      namesIn(directories),
      identities(warm.table.sstables, ({ file }) => statFile(file, { bigint: true })),
    ]).then(
      ([names, files]) => ({ warm, directories, isSame: names === warm.names && files === warm.files }),
      () => undefined, // pin finds the reason, if it is still there
    )
  }

  /** The table's live SSTables, open. The caller releases them. @throws SluiceError as openLive */
  async pin(schema: TableSchema, directories: readonly string[], look: Look | undefined): Promise<PinnedTable> {
    const warm = look?.warm
    // It may have been dropped in the meantime.
    if (warm !== undefined && look?.isSame && look.directories === directories && this.#tables.get(schema) === warm) {
      warm.table.retain()
      warm.timer.refresh()
      this.#tables.delete(schema)
      this.#tables.set(schema, warm)
      return warm.table
    }
    const set = await openLiveSet(directories)
    try {
      const table = new PinnedTable(schema, set.sstables)
      if (set.names !== undefined) await this.#keep(schema, table, set.names)
      return table
    } catch (error) {
      for (const sstable of set.sstables) sstable.release()
      throw error
    }
  }

  close(): void {
    this.#closed = true
    for (const schema of [...this.#tables.keys()]) this.#drop(schema)
  }

  /** @param names what the directories held before and after the SSTables were opened */
  async #keep(schema: TableSchema, table: PinnedTable, names: string): Promise<void> {
    const descriptors = table.sstables.reduce((sum, { descriptorCount }) => sum + descriptorCount, 0)
    if (descriptors === 0 || descriptors > MAX_DESCRIPTORS) return
    const files = await identities(table.sstables, ({ dataFd }) => statDescriptor(dataFd, { bigint: true }))
    if (this.#closed || files === undefined) return
    this.#drop(schema)
    const [oldest] = this.#tables.keys()
    if (this.#tables.size >= MAX_TABLES) this.#drop(oldest)
    table.retain()
    const timer = setTimeout(() => this.#drop(schema), WARM_MS).unref()
    this.#tables.set(schema, { table, names, files, timer })
  }

  #drop(schema: TableSchema): void {
    const warm = this.#tables.get(schema)
    if (warm === undefined) return
    clearTimeout(warm.timer)
    this.#tables.delete(schema)
    void warm.table.release()
  }
}

interface FileStat {
  dev: bigint
  ino: bigint
  size: bigint
  mtimeNs: bigint
}

/** Tells files apart, whatever their names; not by the time of their last change of status, which a snapshot's link changes. */
async function identities(
  sstables: readonly SSTable[],
  statOf: (sstable: SSTable) => Promise<FileStat>,
): Promise<string | undefined> {
  const stats = await Promise.all(sstables.map((sstable) => statOf(sstable).catch(() => undefined)))
  if (stats.includes(undefined)) return undefined
  return stats.map((s) => `${s?.dev} ${s?.ino} ${s?.size} ${s?.mtimeNs}`).join('\n')
}
