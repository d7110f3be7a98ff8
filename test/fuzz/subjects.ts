// The tables that are damaged: small ones of every golden set, of all kinds of content, with their files in memory and the
// rows that the undamaged files give.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Catalog } from '../../storage/scan/catalog.ts'
import { openLive } from '../../storage/scan/live-set.ts'
import { PinnedTable } from '../../storage/scan/pinned-table.ts'
import type { TableSchema } from '../../storage/schema/table.ts'
import { ndjsonOf } from '../corpus/compare-table.ts'
import { GOLDEN_NAMES, type GoldenName, goldenMeta, goldenSet } from '../corpus/golden.ts'

const TABLES = [
  'types_scalar',
  'types_nested',
  'types_empty',
  'static_rows',
  'clustering_mixed',
  'deletions',
  'deletions_desc',
  'ttl',
  'counters',
  'counters_clustered',
  'ties',
  'columns_64',
  'many_columns',
  'update_only',
  'altered_drop',
  'altered_readd',
  'compact_counter',
  'compact_dense',
  'compact_noval',
  'compact_sparse',
  'pk_comp3',
  'ck_decimal',
  'ck_tuple',
  'big_values',
  'compress_deflate',
  'compress_lz4',
  'compress_lz4_4k',
  'compress_lz4_min_ratio',
  'compress_none',
  'compress_noop',
  'compress_snappy',
  'compress_zstd',
]

export interface Subject {
  set: GoldenName
  table: string
  schema: TableSchema
  /** Path of the undamaged directory. */
  directory: string
  now: number
  /** Names of files in the directory. */
  names: string[]
  files: Map<string, Buffer>
  /** NDJSON lines of the undamaged files. */
  rows: string[]
}

export class Subjects {
  #known = new Map<string, Subject>()
  #catalogs = new Map<GoldenName, Promise<Catalog>>()

  /** All (set, table) pairs, always in the same order. */
  async list(): Promise<{ set: GoldenName; table: string }[]> {
    const pairs: { set: GoldenName; table: string }[] = []
    for (const set of GOLDEN_NAMES) {
      const { rows } = await goldenMeta(set)
      for (const table of TABLES) if (rows[`golden.${table}`] !== undefined) pairs.push({ set, table })
    }
    return pairs
  }

  async get(set: GoldenName, table: string): Promise<Subject> {
    const key = `${set} ${table}`
    let subject = this.#known.get(key)
    if (subject === undefined) {
      subject = await this.#read(set, table)
      this.#known.set(key, subject)
    }
    return subject
  }

  async #read(set: GoldenName, table: string): Promise<Subject> {
    let opening = this.#catalogs.get(set)
    if (opening === undefined) {
      opening = goldenSet(set).then((directory) => Catalog.open({ data: [join(directory, 'data')] }))
      this.#catalogs.set(set, opening)
    }
    const catalog = await opening
    const schema = await catalog.table('golden', table)
    const [directory] = await catalog.directories('golden', table)
    const entries = await readdir(directory, { withFileTypes: true })
    const names = entries.filter((e) => e.isFile() && /\.(db|txt|crc32)$/.test(e.name)).map((e) => e.name)
    names.sort()
    const files = new Map<string, Buffer>()
    for (const name of names) files.set(name, await readFile(join(directory, name)))
    const { now } = await goldenMeta(set)
    const pinned = new PinnedTable(schema, await openLive([directory]))
    const rows = await ndjsonOf(pinned, { now })
    await pinned.release()
    return { set, table, schema, directory, now, names, files, rows }
  }
}
