// SSTable file names (o.a.c.io.sstable.Descriptor, SequenceBasedSSTableId, UUIDBasedSSTableId) and the grouping of a
// directory's names into SSTables. Names alone: nothing here reads a file.

import { join } from 'node:path'
import { SluiceError } from '../errors.ts'

/** The components that Sluice knows. SAI and SASI index files, Scylla.db and whatever else lies there are not among them. */
export const COMPONENTS = [
  'Data.db',
  'Index.db',
  'Summary.db',
  'Partitions.db',
  'Rows.db',
  'Filter.db',
  'Statistics.db',
  'CompressionInfo.db',
  'CRC.db',
  'Digest.crc32',
  'TOC.txt',
] as const

export type Component = (typeof COMPONENTS)[number]

const KNOWN = new Set<string>(COMPONENTS)

/** One SSTable by its files' names. */
export interface Descriptor {
  /** Folder, as the user gave it. */
  readonly directory: string
  /** `nb`, `da`...; also of versions that are not read. */
  readonly version: string
  /** A number, or 28 characters `xxxx_xxxx_xxxxxxxxxxxxxxxxxx` (CASSANDRA-17048). */
  readonly id: string
  /** `big` or `bti`; `` in names from before 2.2. */
  readonly format: string
  /** `nb-12-big-`: what the name of every component begins with. */
  readonly prefix: string
}

export interface ComponentName {
  readonly version: string
  readonly id: string
  readonly format: string
  readonly prefix: string
  /** Everything behind the prefix; not always one of COMPONENTS. */
  readonly component: string
}

// Since 2.2 (la): version, id, format, component.
const NAME = /^(([a-z]{2})-(\d{1,10}|[0-9A-Za-z]{4}_[0-9A-Za-z]{4}_[0-9A-Za-z]{18})-([a-z]+)-)([A-Za-z].*)$/
// Before: keyspace, table, version, id, component; `tmp` and `tmplink` mark unfinished files.
const OLD_NAME = /^((\w+-[\w.]+-)([a-z]{2})-(\d+)-)([A-Za-z]\w*\.\w+)$/
const OLD_TEMPORARY = /(^|-)tmp(link)?-[a-z]{2}-/

/** The parts of a component file's name; null when the file belongs to no (finished) SSTable. */
export function parseComponentName(fileName: string): ComponentName | null {
  if (fileName.endsWith('.tmp') || OLD_TEMPORARY.test(fileName)) return null
  const now = NAME.exec(fileName)
  if (now !== null) {
    return { prefix: now[1], version: now[2], id: now[3], format: now[4], component: now[5] }
  }
  const old = OLD_NAME.exec(fileName)
  if (old !== null) return { prefix: old[1], version: old[3], id: old[4], format: '', component: old[5] }
  return null
}

/** Path of a component of this SSTable. */
export function componentPath(descriptor: Descriptor, component: Component): string {
  return join(descriptor.directory, descriptor.prefix + component)
}

/** Oldest first: numbers before time-based ids, each in order (o.a.c.io.sstable.SSTableIdFactory.COMPARATOR). */
export function compareIds(a: string, b: string): number {
  const aNumber = !a.includes('_')
  const bNumber = !b.includes('_')
  if (aNumber && bNumber) return Number(a) - Number(b)
  if (aNumber !== bNumber) return aNumber ? -1 : 1
  // base 36 of fixed width, most significant time digits first
  const left = a.toLowerCase()
  const right = b.toLowerCase()
  return left < right ? -1 : left > right ? 1 : 0
}

/** An SSTable and which of the known components are there. */
export interface SSTableFiles {
  readonly descriptor: Descriptor
  readonly components: ReadonlySet<Component>
}

/**
 * Groups the names found in one directory into SSTables, oldest id first. Names of unknown components make no SSTable;
 * versions that are not read stay in the list, for `versionTraits` to refuse by name.
 */
export function groupSSTables(directory: string, fileNames: Iterable<string>): SSTableFiles[] {
  const groups = new Map<string, { descriptor: Descriptor; components: Set<Component> }>()
  for (const fileName of fileNames) {
    const parsed = parseComponentName(fileName)
    if (parsed === null || !KNOWN.has(parsed.component)) continue
    let group = groups.get(parsed.prefix)
    if (group === undefined) {
      const { version, id, format, prefix } = parsed
      group = { descriptor: { directory, version, id, format, prefix }, components: new Set() }
      groups.set(prefix, group)
    }
    group.components.add(parsed.component as Component)
  }
  return [...groups.values()].sort(
    (a, b) => compareIds(a.descriptor.id, b.descriptor.id) || (a.descriptor.prefix < b.descriptor.prefix ? -1 : 1),
  )
}

/**
 * Raises MISSING_COMPONENT unless what Cassandra needs is there: Data.db, Statistics.db (its header describes the rows),
 * Index.db (big) or Partitions.db (bti). Rows.db is missed only where a wide partition is looked up.
 */
export function requireComponents(files: SSTableFiles): void {
  const index = files.descriptor.format === 'bti' ? 'Partitions.db' : 'Index.db'
  const needed: Component[] = ['Data.db', 'Statistics.db', index]
  for (const component of needed) {
    if (!files.components.has(component)) throw missingComponent(files.descriptor, component)
  }
}

export function missingComponent(descriptor: Descriptor, component: Component, reason?: string): SluiceError {
  return new SluiceError('MISSING_COMPONENT', { file: componentPath(descriptor, component), reason })
}
