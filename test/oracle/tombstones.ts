/**
 * Deletions in force against a real compaction, over what tombstones.py has recorded:
 *
 *   npx tsx test/oracle/tombstones.ts OUT
 *
 * Of each table: the tombstones over the SSTables before the major compaction equal those over the one after it; these equal what
 * sstabledump prints of it, as far as keys print alike; and the digests of the rows are equal. The cells that compaction found
 * expired have become tombstones.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Catalog } from '../../storage/scan/catalog.ts'
import { digestTable } from '../../storage/scan/digest.ts'
import type { CqlType } from '../../storage/schema/cql-type.ts'
import type { TableSchema } from '../../storage/schema/table.ts'
import { ndjsonOf } from '../corpus/compare-table.ts'
import { type Deletion, dumpedDeletions, parseDump, toldDeletions } from '../corpus/sstabledump.ts'

interface Meta {
  readonly now: number
  readonly keyspace: string
  readonly tables: readonly string[]
}

interface Told {
  schema: TableSchema
  deletions: Deletion[]
  digest: string
  sstables: number
}

async function told(data: string, keyspace: string, table: string, now: number): Promise<Told> {
  const catalog = await Catalog.open({ data: [data] })
  const pinned = await catalog.pin(keyspace, table)
  try {
    const lines = await ndjsonOf(pinned, { now, tombstones: true, batchRows: 64 })
    const { digest } = await digestTable(pinned, { now })
    const { schema, sstables } = pinned
    return { schema, deletions: toldDeletions(lines, schema), digest, sstables: sstables.length }
  } finally {
    await pinned.release()
    await catalog.close()
  }
}

/** Compaction makes tombstones of what has expired. */
function unexpired(deletions: Deletion[]): Deletion[] {
  return deletions.map((d) => (d.kind === 'cell' ? { ...d, expired: false } : d))
}

const PLAIN = new Set(['int', 'bigint', 'smallint', 'tinyint', 'text', 'ascii', 'uuid', 'timeuuid', 'boolean'])

/**
 * Without what sstabledump writes in a way of its own: keys, clusterings and paths of other types. And without expired cells, which are
 * left where nothing was compacted: it does not print whether a cell as old as its row's expiring liveness expires too.
 */
function comparable(deletions: Deletion[], schema: TableSchema): Deletion[] {
  const isPlain = (type: CqlType) => PLAIN.has(type.kind)
  const keys = schema.partitionKey.every((c) => isPlain(c.type))
  const clusterings = schema.clustering.every((c) => isPlain(c.type))
  const paths = new Map(
    [...schema.statics, ...schema.regulars].map(({ name, type }) => [
      name,
      type.kind === 'list' ||
        type.kind === 'udt' ||
        isPlain(type.kind === 'map' ? type.key : ((type as { element?: CqlType }).element ?? type)),
    ]),
  )
  return deletions
    .filter((d) => d.kind !== 'cell' || !d.expired)
    .map((d) => ({
      ...d,
      key: keys ? d.key : '',
      ...(d.start !== undefined && !clusterings && { start: '', end: '' }),
      ...(d.path !== undefined && !paths.get(d.column!) && { path: '' }),
    }))
}

function difference(what: string, expected: Deletion[], found: Deletion[]): string | undefined {
  const at = expected.findIndex((d, i) => !isDeepStrictEqual(d, found[i]))
  if (at < 0 && expected.length === found.length) return undefined
  const i = at < 0 ? expected.length : at
  return `${what}: deletion ${i} of ${expected.length} and ${found.length}: ${JSON.stringify(expected[i])} but ${JSON.stringify(found[i])}`
}

async function compare(
  out: string,
  meta: Meta,
  table: string,
): Promise<{ why: string | undefined; count: number; sstables: number }> {
  const before = await told(join(out, 'before'), meta.keyspace, table, meta.now)
  const after = await told(join(out, 'after'), meta.keyspace, table, meta.now)
  const count = before.deletions.length
  const sstables = before.sstables
  let why = difference('after compaction', unexpired(after.deletions), unexpired(before.deletions))
  if (before.digest !== after.digest) why ??= `digests: ${before.digest} but ${after.digest}`
  const text = await readFile(join(out, 'sstabledump', `${table}.json`), 'utf8').catch(() => undefined)
  if (text === undefined) return { why: why ?? 'no dump', count, sstables }
  const dumped = dumpedDeletions(parseDump(text), after.schema, meta.now)
  why ??= difference('sstabledump', comparable(dumped, after.schema), comparable(after.deletions, after.schema))
  return { why, count, sstables }
}

const out = process.argv[2]
const meta = JSON.parse(await readFile(join(out, 'meta.json'), 'utf8')) as Meta
let failed = 0
let deletions = 0
for (const table of meta.tables) {
  const { why, count, sstables } = await compare(out, meta, table)
  deletions += count
  console.log(`${table}: ${sstables} SSTables, ${count} deletions: ${why ?? 'equal'}`)
  if (why !== undefined) failed++
}
console.log(`${meta.tables.length - failed} of ${meta.tables.length} tables equal, ${deletions} deletions`)
process.exitCode = failed === 0 ? 0 : 1
