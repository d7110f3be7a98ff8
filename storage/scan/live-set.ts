// The SSTables of table directories that count at this moment, opened as one consistent set: list, leave out what transaction
// logs say is dead, open everything, list again; again from the start when the listing has changed meanwhile.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isSluiceError, SluiceError } from '../errors.ts'
import { compareIds, groupSSTables, type SSTableFiles } from '../sstable/descriptor.ts'
import { openSSTable, type SSTable } from '../sstable/sstable.ts'
import { deadPrefixes, isTransactionLog } from '../sstable/transaction-log.ts'
import { fileNames } from './data-directory.ts'

const ATTEMPTS = 20
const PAUSE_MS = 50

/** What is live in one directory; names only, nothing opened. */
export async function listLive(directory: string): Promise<SSTableFiles[]> {
  const names = await fileNames(directory)
  const dead = new Set<string>()
  for (const name of names.filter(isTransactionLog)) {
    const file = join(directory, name)
    for (const prefix of deadPrefixes(await readFile(file, 'utf8'), file, names)) dead.add(prefix)
  }
  // An SSTable without Data.db stays in the list, and is refused by name when it is opened: it could be lost data.
  return groupSSTables(directory, names).filter((files) => !dead.has(files.descriptor.prefix))
}

/** Opens all live SSTables of the directories, oldest id first. The caller releases each. */
export async function openLive(directories: readonly string[]): Promise<SSTable[]> {
  let last: unknown
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * Math.min(attempt, 5)))
    const opened: SSTable[] = []
    try {
      const before = await signature(directories)
      for (const directory of directories) {
        for (const files of await listLive(directory)) opened.push(await openSSTable(files))
      }
      if ((await signature(directories)) === before) return sorted(opened)
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

async function signature(directories: readonly string[]): Promise<string> {
  const parts: string[] = []
  for (const directory of directories) {
    const names = await fileNames(directory)
    const relevant = names.filter((n) => n.endsWith('-Data.db') || isTransactionLog(n)).sort()
    parts.push(directory, ...relevant)
  }
  return parts.join('\n')
}

function sorted(sstables: SSTable[]): SSTable[] {
  return sstables.sort((a, b) => compareIds(a.descriptor.id, b.descriptor.id))
}

function closeAll(sstables: readonly SSTable[]): void {
  for (const sstable of sstables) sstable.release()
}
