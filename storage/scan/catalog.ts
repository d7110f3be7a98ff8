// What tables there are, and where: the data directories with the schema that describes them. The schema comes from the
// system_schema SSTables in the directories; else from a CQL file given or lying beside the SSTables; else from the SSTables'
// own headers, with a warning. Re-read when the schema's SSTables have changed.

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { SluiceError } from '../errors.ts'
import { parseDdl } from '../schema/ddl-parser.ts'
import { headerSchema } from '../schema/header-schema.ts'
import type { Schema } from '../schema/schema.ts'
import type { TableSchema } from '../schema/table.ts'
import { type DirectoryOptions, fileNames, findTableDirectories, type TableDirectory } from './data-directory.ts'
import { openLive } from './live-set.ts'
import type { PinnedTable } from './pinned-table.ts'
import { readSystemSchema, SYSTEM_SCHEMA } from './schema-reader.ts'
import { WarmTables } from './warm-tables.ts'

export interface CatalogOptions extends DirectoryOptions {
  /** Cassandra data directories of one node or of several replicas, keyspace directories, or table directories. */
  data: string[]
  /** A file of CQL DDL; it describes tables that no system_schema does. */
  schemaFile?: string
}

interface KnownTable {
  /** What describes the table, or why nothing can. */
  schema: TableSchema | SluiceError
  directories: string[]
}

type Known = Map<string, Map<string, KnownTable>>

export class Catalog {
  readonly options: CatalogOptions
  #known: Known = new Map()
  #signature = ''
  readonly #warm = new WarmTables()
  #refreshing: Promise<void> | undefined

  private constructor(options: CatalogOptions) {
    this.options = options
  }

  static async open(options: CatalogOptions): Promise<Catalog> {
    const catalog = new Catalog(options)
    await catalog.#refresh()
    return catalog
  }

  /** Keyspaces and their tables, by name; those of the node itself (`system...`) too. */
  async keyspaces(): Promise<{ name: string; tables: string[] }[]> {
    await this.#refresh()
    return [...this.#known.entries()]
      .map(([name, tables]) => ({ name, tables: [...tables.keys()].sort() }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  async table(keyspace: string, table: string): Promise<TableSchema> {
    return (await this.#described(keyspace, table)).schema
  }

  /** That there is such a table; one that was there at the last look counts. @throws SluiceError UNKNOWN_KEYSPACE, UNKNOWN_TABLE */
  async check(keyspace: string, table: string): Promise<void> {
    if (this.#known.get(keyspace)?.has(table) !== true) await this.#find(keyspace, table)
  }

  /** The directories that hold a table's SSTables; none when it was never flushed. */
  async directories(keyspace: string, table: string): Promise<string[]> {
    return (await this.#described(keyspace, table)).directories
  }

  /** Opens the table's live SSTables. The caller releases what it gets. */
  async pin(keyspace: string, table: string): Promise<PinnedTable> {
    const before = this.#known.get(keyspace)?.get(table)
    const [look, { schema, directories }] = await Promise.all([
      before === undefined || before.schema instanceof SluiceError
        ? undefined
        : this.#warm.look(before.schema, before.directories),
      this.#described(keyspace, table),
    ])
    return this.#warm.pin(schema, directories, look)
  }

  async close(): Promise<void> {
    this.#warm.close()
    this.#known.clear()
  }

  async #described(keyspace: string, table: string): Promise<{ schema: TableSchema; directories: string[] }> {
    const { schema, directories } = await this.#find(keyspace, table)
    if (schema instanceof SluiceError) throw schema
    return { schema, directories }
  }

  async #find(keyspace: string, table: string): Promise<KnownTable> {
    await this.#refresh()
    const tables = this.#known.get(keyspace)
    if (tables === undefined)
      throw new SluiceError('UNKNOWN_KEYSPACE', { keyspace, hint: hintFor(keyspace, this.#known) })
    const known = tables.get(table)
    if (known === undefined) throw new SluiceError('UNKNOWN_TABLE', { keyspace, table, hint: hintFor(table, tables) })
    return known
  }

  /** One refresh at a time; callers that come meanwhile share it. */
  #refresh(): Promise<void> {
    this.#refreshing ??= this.#read().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #read(): Promise<void> {
    const { data, schemaFile } = this.options
    const [version, ...perPath] = await Promise.all([
      schemaFile === undefined ? '' : versionOf(schemaFile),
      ...data.map((path) => findTableDirectories(path, this.options)),
    ])
    const found = perPath.flat()
    const signature = await signatureOf(found, version)
    if (signature === this.#signature) return
    this.#known = await describe(found, this.options)
    this.#signature = signature
  }
}

/** Changes when a table directory comes or goes and when the schema's SSTables do. */
async function signatureOf(found: TableDirectory[], schemaVersion: string): Promise<string> {
  const parts: string[] = [schemaVersion]
  for (const directory of found) {
    parts.push(directory.path)
    if (directory.keyspace === SYSTEM_SCHEMA) parts.push(...(await fileNames(directory.path)).sort())
  }
  return parts.join('\n')
}

/** Another one when a file has been written or replaced. */
async function versionOf(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true })
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
  } catch (error) {
    throw new SluiceError('SCHEMA_INVALID', { file, reason: (error as Error).message }, error)
  }
}

async function describe(found: TableDirectory[], options: CatalogOptions): Promise<Known> {
  const schemas: Schema[] = []
  const system = found.filter((d) => d.keyspace === SYSTEM_SCHEMA)
  if (system.length > 0) schemas.push(await readSystemSchema(system))
  if (options.schemaFile !== undefined) schemas.push(parseDdl(await readText(options.schemaFile), options.schemaFile))

  const known: Known = new Map()
  const used = new Set<TableDirectory>()
  const add = (keyspace: string, table: string, schema: TableSchema | SluiceError, directories: TableDirectory[]) => {
    const tables = known.get(keyspace) ?? new Map<string, KnownTable>()
    known.set(keyspace, tables)
    if (tables.has(table)) return
    for (const directory of directories) used.add(directory)
    tables.set(table, { schema, directories: directories.map((d) => d.path) })
  }
  for (const schema of schemas) {
    for (const table of schema.tables) {
      add(
        table.keyspace,
        table.table,
        table,
        found.filter((d) => belongs(d, table)),
      )
    }
    for (const { keyspace, table, error } of schema.faults) add(keyspace, table, error, [])
  }
  for (const directory of found) {
    if (used.has(directory) || known.get(directory.keyspace)?.has(directory.table)) continue
    // With a schema at hand, a directory that it does not name is a dropped table, or a system table of the node.
    if (system.length > 0 && !directory.keyspace.startsWith('system')) continue
    const own = found.filter((d) => d.keyspace === directory.keyspace && d.table === directory.table)
    const described = await describeAlone(own)
    if (described !== undefined) add(directory.keyspace, directory.table, described, own)
  }
  return known
}

/** A dropped and re-created table has two directories: the id tells them apart where both sides have one. */
function belongs(directory: TableDirectory, table: TableSchema): boolean {
  if (directory.keyspace !== table.keyspace || directory.table !== table.table) return false
  return directory.id === undefined || table.id === undefined || directory.id === table.id
}

/** From a schema.cql beside the SSTables (snapshots have one), else from their headers; undefined: no SSTable either. */
async function describeAlone(directories: TableDirectory[]): Promise<TableSchema | undefined> {
  const { keyspace, table } = directories[0]
  for (const directory of directories) {
    if (!(await fileNames(directory.path)).includes('schema.cql')) continue
    const file = join(directory.path, 'schema.cql')
    const { tables } = parseDdl(await readText(file), file, keyspace)
    const named = tables.find((t) => t.table === table) ?? (tables.length === 1 ? tables[0] : undefined)
    if (named !== undefined) return named
  }
  const sstables = await openLive(directories.map((d) => d.path))
  try {
    if (sstables.length === 0) return undefined
    return headerSchema(
      keyspace,
      table,
      sstables.map((s) => s.statistics.header),
      directories[0].id,
    )
  } finally {
    for (const sstable of sstables) sstable.release()
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new SluiceError('SCHEMA_INVALID', { file, reason: (error as Error).message }, error)
  }
}

function hintFor(name: string, names: ReadonlyMap<string, unknown>): string | undefined {
  const alike = [...names.keys()].find((n) => n.toLowerCase() === name.toLowerCase())
  return alike === undefined ? undefined : `there is "${alike}"`
}
