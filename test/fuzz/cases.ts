// One case: a subject's files, one of them damaged, read by the catalog and a scan. Everything follows from (seed, number).

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isSluiceError } from '../../storage/errors.ts'
import { openLive } from '../../storage/scan/live-set.ts'
import { PinnedTable } from '../../storage/scan/pinned-table.ts'
import type { ScanRequest } from '../../storage/scan/scan-request.ts'
import { verifyTable } from '../../storage/scan/verify.ts'
import { parseComponentName } from '../../storage/sstable/descriptor.ts'
import { ndjsonOf } from '../corpus/compare-table.ts'
import { damage } from './damage.ts'
import { Random } from './random.ts'
import { resealCrcDb, resealData, resealStatistics } from './reseal.ts'
import type { Subject, Subjects } from './subjects.ts'

/** What was done to which file. */
export interface Mutation {
  subject: string
  file: string
  component: string
  version: string
  kind: string
  /** Checksums were made anew behind the damage: it passes them, so that the decoders meet it. */
  resealed: boolean
  mode: 'scan' | 'plain' | 'ranges' | 'verify'
}

export interface Outcome extends Mutation {
  number: number
  result: 'right' | 'refused' | 'wrong'
  /** Error code, or the first differing line. */
  detail: string
  milliseconds: number
}

/** Nothing in these files, or nothing between them, tells that they were changed; see the table in README.md. */
export function isUnprotected({ component, version, kind, resealed, mode }: Mutation): boolean {
  if (resealed || kind.startsWith('swap')) return true
  if (component === 'CompressionInfo.db') return true
  if (component === 'Statistics.db') return version < 'na'
  // Cassandra keeps no checksum in the indexes of the big format nor in those of bti.
  return mode === 'ranges' && ['Index.db', 'Summary.db', 'Partitions.db', 'Rows.db', 'Filter.db'].includes(component)
}

export async function runCase(subjects: Subjects, seed: number, number: number): Promise<Outcome> {
  const random = new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b))
  const { set, table } = random.pick(await subjects.list())
  const subject = await subjects.get(set, table)
  const { mutation, files } = await mutate(subject, random)
  const folder = await mkdtemp(join(tmpdir(), 'sluice-fuzz-'))
  const started = performance.now()
  try {
    for (const [name, bytes] of files) await writeFile(join(folder, name), bytes)
    const outcome = await read(subject, mutation, folder, random)
    return { ...mutation, number, ...outcome, milliseconds: performance.now() - started }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function mutate(subject: Subject, random: Random): Promise<{ mutation: Mutation; files: Map<string, Buffer> }> {
  const files = new Map(subject.files)
  // Most of the code is behind Data.db.
  const ofData = subject.names.filter((name) => name.endsWith('-Data.db'))
  const file = random.pick(random.below(3) === 0 ? ofData : subject.names)
  const { component, version, prefix } = parseComponentName(file)!
  const mutation: Mutation = {
    subject: `${subject.set} ${subject.table}`,
    file,
    component,
    version,
    kind: '',
    resealed: false,
    mode: random.pick(['scan', 'scan', 'scan', 'plain', 'ranges', 'verify']),
  }
  const bytes = subject.files.get(file)!
  const choice = random.below(20)
  const others = subject.names.filter((name) => name !== file && name.endsWith(`-${component}`))
  if (choice === 0) {
    files.delete(file)
    mutation.kind = 'delete'
  } else if (choice === 1 && others.length > 0) {
    const other = random.pick(others)
    files.set(file, subject.files.get(other)!)
    files.set(other, bytes)
    mutation.kind = 'swap'
  } else if (choice >= 8 && component === 'Data.db') {
    mutation.resealed = true
    mutation.kind = await resealData(files, prefix, random)
  } else if (choice >= 8 && component === 'Statistics.db' && version >= 'na') {
    mutation.resealed = true
    mutation.kind = resealStatistics(files, file, random)
  } else if (choice >= 8 && component === 'CRC.db') {
    mutation.resealed = true
    mutation.kind = resealCrcDb(files, prefix, random)
  } else {
    const damaged = damage(bytes, random)
    files.set(file, damaged.bytes)
    mutation.kind = damaged.kind
  }
  return { mutation, files }
}

async function read(
  subject: Subject,
  mutation: Mutation,
  folder: string,
  random: Random,
): Promise<Pick<Outcome, 'result' | 'detail'>> {
  const { schema, now } = subject
  let lines: string[]
  try {
    if (mutation.mode === 'verify') {
      const reports = await verifyTable(schema, [folder])
      const faults = reports.flatMap((report) => report.faults)
      if (faults.length > 0) return { result: 'refused', detail: faults[0].error.code }
    }
    const pinned = new PinnedTable(schema, await openLive([folder]))
    try {
      lines = []
      for (const request of requests(mutation, random)) lines.push(...(await ndjsonOf(pinned, { ...request, now })))
    } finally {
      await pinned.release()
    }
  } catch (error) {
    if (!isSluiceError(error) || error.code === 'INTERNAL') throw error
    return { result: 'refused', detail: error.code }
  }
  const at = lines.findIndex((line, i) => line !== subject.rows[i])
  if (at < 0 && lines.length === subject.rows.length) return { result: 'right', detail: '' }
  if (at < 0) return { result: 'wrong', detail: `${lines.length} rows in place of ${subject.rows.length}` }
  return { result: 'wrong', detail: `row ${at}: ${lines[at]?.slice(0, 200)}` }
}

function requests(mutation: Mutation, random: Random): Partial<ScanRequest>[] {
  if (mutation.mode === 'plain') return [{ plainDecoder: true }]
  if (mutation.mode !== 'ranges') return [{}]
  const token = () => BigInt.asIntN(64, BigInt(Math.floor(random.next() * 0x100000000)) << 32n)
  const cuts = [token(), token()].sort((a, b) => (a < b ? -1 : 1)).map(String)
  return [{ end: cuts[0] }, { start: cuts[0], end: cuts[1] }, { start: cuts[1] }]
}
