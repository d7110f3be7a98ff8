// Opening an SSTable: its components as integer descriptors, its statistics parsed, its lengths checked against each other.
// All files are opened at once, in the main thread: an SSTable that is deleted afterwards stays readable, and a descriptor
// opened in a worker would die with it.

import { close, open } from 'node:fs'
import { readAt, sizeOf } from '../bytes/read-at.ts'
import { SluiceError } from '../errors.ts'
import { type CompressionInfo, openCompressionInfo } from './compression-info.ts'
import { type CrcDb, openCrcDb } from './crc-db.ts'
import {
  type Component,
  componentPath,
  type Descriptor,
  missingComponent,
  requireComponents,
  type SSTableFiles,
} from './descriptor.ts'
import { MAX_STATISTICS_BYTES, parseStatistics, type Statistics } from './statistics.ts'
import { parseToc } from './toc.ts'
import { type VersionTraits, versionTraits } from './versions.ts'

/** An open component. */
export interface OpenFile {
  readonly fd: number
  /** Path, for messages. */
  readonly file: string
  /** Bytes, when it was opened. */
  readonly size: number
}

/** What there is to know of an open SSTable. Plain data: a worker thread gets a copy and reads the same descriptors. */
export interface SSTableData {
  /** `nb-12-big`: unique in its directory. */
  readonly id: string
  readonly descriptor: Descriptor
  readonly version: VersionTraits
  readonly directory: string
  /** Path of Data.db, for messages. */
  readonly file: string
  readonly dataFd: number
  /** Bytes of Data.db as stored. */
  readonly dataFileLength: number
  /** Bytes of Data.db uncompressed: what all index positions count in. */
  readonly dataLength: number
  readonly compression: CompressionInfo | null
  /** Checksums of an uncompressed Data.db; null where it is compressed, or CRC.db is not there. */
  readonly crc: CrcDb | null
  readonly statistics: Statistics
  /** big */
  readonly index: OpenFile | null
  readonly summary: OpenFile | null
  /** bti */
  readonly partitions: OpenFile | null
  readonly rows: OpenFile | null
  readonly filter: OpenFile | null
  readonly components: ReadonlySet<Component>
}

const OPENED: Component[] = [
  'Data.db',
  'Statistics.db',
  'CompressionInfo.db',
  'CRC.db',
  'Index.db',
  'Summary.db',
  'Partitions.db',
  'Rows.db',
  'Filter.db',
  'TOC.txt',
]

/** An open SSTable with its life: closed when the opener and all that retain it are done. */
export class SSTable implements SSTableData {
  readonly id: string
  readonly descriptor: Descriptor
  readonly version: VersionTraits
  readonly directory: string
  readonly file: string
  readonly dataFd: number
  readonly dataFileLength: number
  readonly dataLength: number
  readonly compression: CompressionInfo | null
  readonly crc: CrcDb | null
  readonly statistics: Statistics
  readonly index: OpenFile | null
  readonly summary: OpenFile | null
  readonly partitions: OpenFile | null
  readonly rows: OpenFile | null
  readonly filter: OpenFile | null
  readonly components: ReadonlySet<Component>
  readonly #fds: readonly number[]
  #references = 1
  #openerDone = false

  constructor(data: SSTableData, fds: readonly number[]) {
    this.id = data.id
    this.descriptor = data.descriptor
    this.version = data.version
    this.directory = data.directory
    this.file = data.file
    this.dataFd = data.dataFd
    this.dataFileLength = data.dataFileLength
    this.dataLength = data.dataLength
    this.compression = data.compression
    this.crc = data.crc
    this.statistics = data.statistics
    this.index = data.index
    this.summary = data.summary
    this.partitions = data.partitions
    this.rows = data.rows
    this.filter = data.filter
    this.components = data.components
    this.#fds = fds
  }

  get closed(): boolean {
    return this.#references === 0
  }

  /** Descriptors held open. */
  get descriptorCount(): number {
    return this.closed ? 0 : this.#fds.length
  }

  /** Keeps the files open until a `release` of its own. */
  retain(): void {
    if (this.closed) throw new SluiceError('INTERNAL', { file: this.file, reason: 'the SSTable is closed' })
    this.#references++
  }

  release(): void {
    if (this.closed) throw new SluiceError('INTERNAL', { file: this.file, reason: 'the SSTable is closed' })
    if (--this.#references === 0) closeAll(this.#fds)
  }

  /** The opener is done with it. More than once is once. */
  close(): void {
    if (this.#openerDone) return
    this.#openerDone = true
    this.release()
  }
}

/**
 * Opens an SSTable. UNSUPPORTED_VERSION; MISSING_COMPONENT, also for a file that went away since the directory was listed;
 * CORRUPT_SSTABLE and CHECKSUM_MISMATCH from Statistics.db and CompressionInfo.db; IO.
 */
export async function openSSTable(files: SSTableFiles): Promise<SSTable> {
  const { descriptor, components } = files
  const file = componentPath(descriptor, 'Data.db')
  const version = versionTraits(descriptor.version, descriptor.format, file)
  requireComponents(files)
  const opened = new Map<Component, OpenFile>()
  const fds: number[] = []
  try {
    const open = async (component: Component) => {
      const path = componentPath(descriptor, component)
      const fd = await openFile(path)
      fds.push(fd)
      opened.set(component, { fd, file: path, size: await sizeOf(fd, path) })
    }
    // Side by side; what fails is told when nothing is under way any more.
    const outcomes = await Promise.allSettled(toOpen(components).map(open))
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    const data = await describe(files, version, opened)
    // Read once; nothing of them is needed again.
    const done = ['Statistics.db', 'TOC.txt'].map((name) => opened.get(name as Component)?.fd)
    closeAll(fds.filter((fd) => done.includes(fd)))
    return new SSTable(
      data,
      fds.filter((fd) => !done.includes(fd)),
    )
  } catch (error) {
    closeAll(fds)
    throw error
  }
}

/** TOC.txt is needed where there is no CompressionInfo.db, to tell whether there should be one. */
function toOpen(components: ReadonlySet<Component>): Component[] {
  const all = OPENED.filter((component) => components.has(component))
  return components.has('CompressionInfo.db') ? all.filter((component) => component !== 'TOC.txt') : all
}

async function describe(
  { descriptor, components }: SSTableFiles,
  version: VersionTraits,
  opened: ReadonlyMap<Component, OpenFile>,
): Promise<SSTableData> {
  const data = opened.get('Data.db')!
  const statistics = await readStatistics(opened.get('Statistics.db')!, version)
  const compressionFile = opened.get('CompressionInfo.db')
  const compression =
    compressionFile === undefined
      ? null
      : await openCompressionInfo(compressionFile.fd, compressionFile.file, version, data.size)
  if (compression === null) {
    // Taken as uncompressed it would be read as garbage. Statistics.db says so, and TOC.txt.
    const toc = await readToc(opened.get('TOC.txt'))
    if (statistics.compressionRatio !== NO_COMPRESSION_RATIO || toc.has('CompressionInfo.db')) {
      throw missingComponent(descriptor, 'CompressionInfo.db', 'Data.db is compressed')
    }
  }
  const crcFile = opened.get('CRC.db')
  return {
    id: descriptor.prefix.slice(0, -1),
    descriptor,
    version,
    directory: descriptor.directory,
    file: data.file,
    dataFd: data.fd,
    dataFileLength: data.size,
    dataLength: compression === null ? data.size : compression.dataLength,
    compression,
    crc: compression === null && crcFile !== undefined ? await openCrcDb(crcFile.fd, crcFile.file, data.size) : null,
    statistics,
    index: opened.get('Index.db') ?? null,
    summary: opened.get('Summary.db') ?? null,
    partitions: opened.get('Partitions.db') ?? null,
    rows: opened.get('Rows.db') ?? null,
    filter: opened.get('Filter.db') ?? null,
    components,
  }
}

// o.a.c.io.sstable.metadata.MetadataCollector
const NO_COMPRESSION_RATIO = -1
const MAX_TOC_BYTES = 1024 * 1024

async function readStatistics({ fd, file, size }: OpenFile, version: VersionTraits): Promise<Statistics> {
  if (size > MAX_STATISTICS_BYTES) {
    throw new SluiceError('CORRUPT_SSTABLE', {
      file,
      reason: `${size} bytes of statistics`,
      limit: MAX_STATISTICS_BYTES,
    })
  }
  return parseStatistics(await readAt(fd, file, 0, size), version, file)
}

async function readToc(toc: OpenFile | undefined): Promise<Set<string>> {
  if (toc === undefined || toc.size > MAX_TOC_BYTES) return new Set()
  return parseToc((await readAt(toc.fd, toc.file, 0, toc.size)).toString('utf8'))
}

function openFile(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    open(path, 'r', (error, fd) => {
      if (error === null) resolve(fd)
      else if (error.code === 'ENOENT') reject(new SluiceError('MISSING_COMPONENT', { file: path }, error))
      else reject(new SluiceError('IO', { file: path, reason: error.message }, error))
    })
  })
}

function closeAll(fds: readonly number[]): void {
  // Nothing was written: a close that fails loses nothing.
  for (const fd of fds) close(fd, () => {})
}
