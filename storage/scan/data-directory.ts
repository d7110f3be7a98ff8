// Where tables lie. A directory given by the user is a Cassandra data directory (KEYSPACE/TABLE-ID/...), one keyspace's
// directory, or one table directory itself: a snapshot, a backup, files written offline.

import { readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { SluiceError } from '../errors.ts'
import { parseComponentName } from '../sstable/descriptor.ts'

/** A directory that holds the SSTables of one table. */
export interface TableDirectory {
  path: string
  keyspace: string
  table: string
  /** 32 hex digits from the directory's name, where it has them. */
  id: string | undefined
}

export interface DirectoryOptions {
  /** Read this snapshot of every table in place of its live files. */
  snapshot?: string
  /** Read `backups` (incremental backups) beside the live files. */
  backups?: boolean
}

const TABLE_NAME = /^(.+)-([0-9a-f]{32})$/

/** All table directories under a directory given by the user. DATA_DIRECTORY when there are none or it cannot be read. */
export async function findTableDirectories(path: string, options: DirectoryOptions = {}): Promise<TableDirectory[]> {
  const root = resolve(path)
  const top = await list(root)
  if (holdsSSTables(top.files)) return chosen([describe(root)], options)
  const found: TableDirectory[] = []
  const lists = await Promise.all(top.directories.map((name) => list(join(root, name))))
  for (const [i, name] of top.directories.entries()) {
    const inner = join(root, name)
    const below = lists[i]
    if (holdsSSTables(below.files) || TABLE_NAME.test(name)) {
      found.push(describe(inner)) // `path` is a keyspace's directory
      continue
    }
    for (const table of below.directories) {
      const directory = join(inner, table)
      if (TABLE_NAME.test(table) || holdsSSTables((await list(directory)).files)) found.push(describe(directory))
    }
  }
  if (found.length === 0) {
    throw new SluiceError('DATA_DIRECTORY', {
      file: path,
      reason: 'no table directory in it',
      hint: 'give a Cassandra data directory, or a directory that holds SSTables',
    })
  }
  return chosen(found, options)
}

async function chosen(tables: TableDirectory[], options: DirectoryOptions): Promise<TableDirectory[]> {
  const result: TableDirectory[] = []
  for (const table of tables) {
    if (options.snapshot === undefined) result.push(table)
    else if (await isDirectory(join(table.path, 'snapshots', options.snapshot))) {
      result.push({ ...table, path: join(table.path, 'snapshots', options.snapshot) })
    }
    const backups = join(table.path, 'backups')
    if (options.backups && (await isDirectory(backups))) result.push({ ...table, path: backups })
  }
  if (result.length === 0) {
    throw new SluiceError('DATA_DIRECTORY', {
      parameter: 'snapshot',
      value: options.snapshot,
      reason: 'no table has this snapshot',
    })
  }
  return result
}

/** Keyspace, table and id out of a path: .../ks/table-id[/snapshots/tag | /backups]. */
function describe(path: string): TableDirectory {
  let directory = path
  if (basename(directory) === 'backups') directory = dirname(directory)
  else if (basename(dirname(directory)) === 'snapshots') directory = dirname(dirname(directory))
  const name = basename(directory)
  const match = TABLE_NAME.exec(name)
  return { path, keyspace: basename(dirname(directory)), table: match?.[1] ?? name, id: match?.[2] }
}

interface Listing {
  files: string[]
  directories: string[]
}

async function list(path: string): Promise<Listing> {
  try {
    const entries = await readdir(path, { withFileTypes: true })
    const listing: Listing = { files: [], directories: [] }
    for (const entry of entries) {
      if (entry.isDirectory() || (entry.isSymbolicLink() && (await isDirectory(join(path, entry.name))))) {
        // Hidden ones are secondary indexes.
        if (!entry.name.startsWith('.')) listing.directories.push(entry.name)
      } else {
        listing.files.push(entry.name)
      }
    }
    listing.directories.sort()
    return listing
  } catch (error) {
    throw unreadable(path, error)
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    await readdir(path)
    return true
  } catch {
    return false
  }
}

function holdsSSTables(files: string[]): boolean {
  return files.some((name) => parseComponentName(name)?.component === 'Data.db')
}

/** Names of the files in a table directory. */
export async function fileNames(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true })
    return entries.filter((e) => !e.isDirectory()).map((e) => e.name)
  } catch (error) {
    throw unreadable(path, error)
  }
}

function unreadable(path: string, error: unknown): SluiceError {
  const { code, message } = error as NodeJS.ErrnoException
  const reason = code === 'ENOENT' ? 'it is not there' : code === 'ENOTDIR' ? 'it is no directory' : message
  return new SluiceError('DATA_DIRECTORY', { file: path, reason }, error)
}
