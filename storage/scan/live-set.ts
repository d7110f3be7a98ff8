// The SSTables of table directories that count at this moment, opened as one consistent set: list, leave out what transaction
// logs say is dead, open everything, list again; again from the start when names or logs have changed meanwhile. A log that was
// committed in between counts as a change even where nothing was deleted yet: of several directories one could have been read
// before and one behind it, and what moved from one to the other would be missing.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSluiceError, SluiceError } from '../errors.ts'
import { compareIds, groupSSTables, type SSTableFiles } from '../sstable/descriptor.ts'
import { openSSTable, type SSTable } from '../sstable/sstable.ts'
import { deadPrefixes, isTransactionLog } from '../sstable/transaction-log.ts'
import { fileNames } from './data-directory.ts'

const ATTEMPTS = 20
const PAUSE_MS = 50
const OPEN_AT_ONCE = 8

/** What is live in one directory; names only, nothing opened. */
export async function listLive(directory: string): Promise<SSTableFiles[]> {
  return liveOf([await list(directory)])
}

interface Listing {
  directory: string
  names: string[]
  /** Text of the transaction logs by name. */
  logs: Map<string, string>
}

/**
 * A transaction over several data directories has a copy of its log in each, which are written one after the other: the fullest
 * tells for all (Cassandra: db/lifecycle/LogReplicaSet).
 */
function liveOf(listings: readonly Listing[]): SSTableFiles[] {
  const dead = new Map(listings.map(({ directory }) => [directory, new Set<string>()]))
  for (const log of new Set(listings.flatMap(({ logs }) => [...logs.keys()]))) {
    const copies = listings.filter(({ logs }) => logs.has(log))
    const fullest = copies.reduce((a, b) => (b.logs.get(log)!.length > a.logs.get(log)!.length ? b : a))
    const names = copies.flatMap((copy) => copy.names)
    for (const prefix of deadPrefixes(fullest.logs.get(log)!, join(fullest.directory, log), names)) {
      for (const { directory } of copies) dead.get(directory)!.add(prefix)
    }
  }
  // An SSTable without Data.db stays in the list, and is refused by name when it is opened: it could be lost data.
  return listings.flatMap(({ directory, names }) =>
    groupSSTables(directory, names).filter((files) => !dead.get(directory)!.has(files.descriptor.prefix)),
  )
}

async function list(directory: string): Promise<Listing> {
  const names = await fileNames(directory)
  const logs = new Map<string, string>()
  for (const name of names.filter(isTransactionLog)) logs.set(name, await readLog(join(directory, name)))
  return { directory, names, logs }
}

/** A log goes when its transaction is done. MISSING_COMPONENT then, as for an SSTable that went. */
async function readLog(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new SluiceError('MISSING_COMPONENT', { file }, error)
    throw new SluiceError('IO', { file, reason: message }, error)
  }
}

/** SSTables that are live together, oldest id first. */
export interface LiveSet {
  sstables: SSTable[]
  /** As namesIn; undefined also where files came or went that do not count. */
  names: string | undefined
}

/** Opens all live SSTables of the directories, oldest id first. The caller releases each. */
export async function openLive(directories: readonly string[]): Promise<SSTable[]> {
  return (await openLiveSet(directories)).sstables
}

/** As openLive. */
export async function openLiveSet(directories: readonly string[]): Promise<LiveSet> {
  let last: unknown
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * Math.min(attempt, 5)))
    const opened: SSTable[] = []
    try {
      const before = await listAll(directories)
      await openAll(liveOf(before), opened)
      const after = await listAll(directories)
      if (signature(after) === signature(before)) {
        const names = namesOf(before)
        return { sstables: sorted(opened), names: names === namesOf(after) ? names : undefined }
      }
      last = undefined
    } catch (error) {
      // A file that went away between listing and opening is a change of the set, not damage. A set that stays the same and
      // still lacks a file is damage, and said at once.
      closeAll(opened)
      if (!isSluiceError(error) || error.code !== 'MISSING_COMPONENT') throw error
      if (attempt > 2 && String(last) === String(error)) throw error
      last = error
      continue
    }
    closeAll(opened)
  }
  throw (
    last ??
    new SluiceError('DATA_DIRECTORY', {
      file: directories.join(', '),
      reason: `the set of SSTables changed ${ATTEMPTS} times while it was opened`,
      hint: 'read a snapshot',
    })
  )
}

/** Puts what it opens into `opened`, whatever fails. The first failure is raised when nothing is under way any more. */
async function openAll(all: readonly SSTableFiles[], opened: SSTable[]): Promise<void> {
  for (let i = 0; i < all.length; i += OPEN_AT_ONCE) {
    const outcomes = await Promise.allSettled(all.slice(i, i + OPEN_AT_ONCE).map(openSSTable))
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') opened.push(outcome.value)
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }
}

async function listAll(directories: readonly string[]): Promise<Listing[]> {
  const listings: Listing[] = []
  for (const directory of directories) listings.push(await list(directory))
  return listings
}

/** All file names of the directories; undefined where there is a transaction log, which has to be asked what counts. */
export async function namesIn(directories: readonly string[]): Promise<string | undefined> {
  return namesOf(await listAll(directories))
}

function namesOf(listings: readonly Listing[]): string | undefined {
  if (listings.some(({ logs }) => logs.size > 0)) return undefined
  return listings.map(({ directory, names }) => [directory, ...names.sort()].join('\n')).join('\n')
}

/** Differs where another set of SSTables could count. */
function signature(listings: readonly Listing[]): string {
  const parts: string[] = []
  for (const { directory, names, logs } of listings) {
    parts.push(directory, ...names.filter((name) => name.endsWith('-Data.db')).sort())
    for (const name of [...logs.keys()].sort()) parts.push(name, logs.get(name)!)
  }
  return parts.join('\n')
}

function sorted(sstables: SSTable[]): SSTable[] {
  return sstables.sort((a, b) => compareIds(a.descriptor.id, b.descriptor.id))
}

function closeAll(sstables: readonly SSTable[]): void {
  for (const sstable of sstables) sstable.release()
}
