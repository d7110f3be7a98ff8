// The one table of what differs between SSTable versions (o.a.c.io.sstable.format.big.BigFormat.BigVersion and
// bti.BtiFormat.BtiVersion of 5.0). Readers ask for a trait here and never compare version strings.

import { SluiceError } from '../errors.ts'

export interface VersionTraits {
  /** `nb`, `da`... */
  readonly name: string
  readonly format: 'big' | 'bti'
  /** STATS holds the commit-log lower bound (CASSANDRA-11828). */
  readonly commitLogLowerBound: boolean
  /** STATS holds the commit-log intervals. */
  readonly commitLogIntervals: boolean
  /** STATS holds the id of the node that wrote the file (CASSANDRA-16619). */
  readonly originatingHostId: boolean
  /** Statistics.db carries CRC32s (CASSANDRA-13321). */
  readonly metadataChecksum: boolean
  /** CompressionInfo.db holds the length from which on a chunk is stored raw (CASSANDRA-10520). */
  readonly maxCompressedLength: boolean
  /** Filter.db has every 8-byte word reversed (before CASSANDRA-9067). */
  readonly oldBloomLayout: boolean
  readonly pendingRepair: boolean
  readonly isTransient: boolean
  /** STATS holds min/max clustering values without types. */
  readonly legacyMinMax: boolean
  /** Those values are right (CASSANDRA-14861); before, they must not be used for pruning. */
  readonly accurateMinMax: boolean
  /** STATS holds the covered clustering slice with its types (CASSANDRA-18134). */
  readonly coveredSlice: boolean
  readonly partitionDeletionFlag: boolean
  readonly keyRange: boolean
  readonly tokenSpaceCoverage: boolean
  /**
   * Local deletion times are unsigned 32-bit, partition deletion times have the one-byte "live" form, and the tombstone
   * histogram is (i64, i32) (CASSANDRA-14227).
   */
  readonly unsignedDeletionTime: boolean
}

const MA: VersionTraits = {
  name: 'ma',
  format: 'big',
  commitLogLowerBound: false,
  commitLogIntervals: false,
  originatingHostId: false,
  metadataChecksum: false,
  maxCompressedLength: false,
  oldBloomLayout: true,
  pendingRepair: false,
  isTransient: false,
  legacyMinMax: true,
  accurateMinMax: false,
  coveredSlice: false,
  partitionDeletionFlag: false,
  keyRange: false,
  tokenSpaceCoverage: false,
  unsignedDeletionTime: false,
}
const MB: VersionTraits = { ...MA, name: 'mb', commitLogLowerBound: true }
const MC: VersionTraits = { ...MB, name: 'mc', commitLogIntervals: true }
const MD: VersionTraits = { ...MC, name: 'md', accurateMinMax: true }
const ME: VersionTraits = { ...MD, name: 'me', originatingHostId: true }
const NA: VersionTraits = {
  ...MD,
  name: 'na',
  metadataChecksum: true,
  maxCompressedLength: true,
  oldBloomLayout: false,
  pendingRepair: true,
  isTransient: true,
}
const NB: VersionTraits = { ...NA, name: 'nb', originatingHostId: true }
// Never released: CASSANDRA-18134 while it was on its way into 5.0. Both kinds of min/max, no token-space coverage.
const NC: VersionTraits = { ...NB, name: 'nc', coveredSlice: true, partitionDeletionFlag: true, keyRange: true }
const OA: VersionTraits = {
  ...NC,
  name: 'oa',
  legacyMinMax: false,
  tokenSpaceCoverage: true,
  unsignedDeletionTime: true,
}
const DA: VersionTraits = { ...OA, name: 'da', format: 'bti' }

const TABLE = new Map<string, VersionTraits>(
  [MA, MB, MC, MD, ME, NA, NB, NC, OA, DA].map((traits) => [`${traits.name}-${traits.format}`, traits]),
)

/** Names of all versions that are read, oldest first. */
export const READABLE_VERSIONS: readonly string[] = [...TABLE.values()].map((traits) => traits.name)

/**
 * The traits of a version, or UNSUPPORTED_VERSION naming it and what can be done.
 * `format` is `big` or `bti`, or `` in file names older than 2.2, which have none.
 */
export function versionTraits(version: string, format: string, file: string): VersionTraits {
  const traits = TABLE.get(`${version}-${format}`)
  if (traits !== undefined) return traits
  throw new SluiceError('UNSUPPORTED_VERSION', {
    version: format === '' ? version : `${version}-${format}`,
    file,
    hint: hintFor(version, format),
  })
}

function hintFor(version: string, format: string): string {
  if (format === 'bti') {
    return version < 'da'
      ? 'a BTI version of DataStax, which Apache Cassandra does not read either; rewrite the table with that server'
      : 'a later BTI version than this release reads; update Sluice'
  }
  if (format !== 'big' && format !== '') return 'not an SSTable format of Apache Cassandra'
  return version < 'ma'
    ? 'written before Cassandra 3.0; run sstableupgrade of Cassandra 3.0 or 3.11 on it'
    : 'a later version than this release reads; update Sluice'
}
