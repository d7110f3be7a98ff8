// Transaction logs of a table directory, which say what of a running or interrupted compaction counts (Cassandra:
// db/lifecycle/LogFile, LogRecord, LogTransaction). A log is read as Cassandra reads it at start-up: after a COMMIT the files
// to REMOVE are dead, else the files that were ADDed are.
//
// Cassandra also compares modification times and the absolute folder; a copied directory has neither, so files are matched by
// the prefix of their names. Each data directory that a transaction touches has its own copy of the log.

import { crc32 } from 'node:zlib'
import { SluiceError } from '../errors.ts'

const LOG_NAME = /^(?:bti-)?[a-z]{2}_txn_[a-z_]+_[0-9a-z_-]+\.log$/
const RECORD = /^(ADD|REMOVE|COMMIT|ABORT):\[(.*),(-?\d+),(-?\d+)\]\[(\d+)\]$/

interface LogRecord {
  kind: string
  path: string
  fileCount: number
}

export function isTransactionLog(fileName: string): boolean {
  return LOG_NAME.test(fileName)
}

/**
 * Prefixes (`nb-12-big-`) of the SSTables that a log makes dead.
 * @param names all file names of the log's directory
 * @throws CORRUPT_SSTABLE where Cassandra would not start: a bad record before the last
 */
export function deadPrefixes(text: string, file: string, names: readonly string[]): Set<string> {
  const lines = text.split('\n').filter((line) => line !== '')
  const records: (LogRecord | undefined)[] = lines.map(parseRecord)
  const bad = records.indexOf(undefined)
  if (bad >= 0 && bad < records.length - 1) {
    throw new SluiceError('CORRUPT_SSTABLE', { file, reason: `record ${bad + 1} of ${records.length} is damaged` })
  }
  const good = records.filter((r) => r !== undefined)
  if (bad >= 0) {
    // A last record cut off while written: ignored as long as nothing was deleted yet.
    for (const record of good) {
      if (record.kind !== 'REMOVE') continue
      const present = names.filter((n) => n.startsWith(prefixOf(record.path))).length
      if (present < record.fileCount) {
        throw new SluiceError('CORRUPT_SSTABLE', {
          file,
          reason: 'its last record is damaged, and files that it removes are gone',
        })
      }
    }
  }
  const committed = bad < 0 && good.at(-1)?.kind === 'COMMIT'
  return new Set(good.filter((r) => r.kind === (committed ? 'REMOVE' : 'ADD')).map((r) => prefixOf(r.path)))
}

/** The last part of `/a/b/nb-12-big-`; Windows separators too. */
function prefixOf(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
}

function parseRecord(line: string): LogRecord | undefined {
  const match = RECORD.exec(line)
  if (match === null) return undefined
  const [, kind, path, mtime, count, stated] = match
  return recordChecksum(kind, path, BigInt(mtime), Number(count)) === Number(stated)
    ? { kind, path, fileCount: Number(count) }
    : undefined
}

/** CRC32 over path, type name, then as u32 the low and high half of the modification time and the file count. */
export function recordChecksum(kind: string, path: string, mtime: bigint, fileCount: number): number {
  const numbers = Buffer.alloc(12)
  numbers.writeUInt32BE(Number(BigInt.asUintN(32, mtime)), 0)
  numbers.writeUInt32BE(Number(BigInt.asUintN(32, mtime >> 32n)), 4)
  numbers.writeInt32BE(fileCount, 8)
  return crc32(numbers, crc32(kind, crc32(path)))
}
