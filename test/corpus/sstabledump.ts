/**
 * The deletions in what `sstabledump -t` prints (raw microseconds), and those that Sluice tells of, in one form, to be compared.
 * sstabledump prints one SSTable; of the one that a major compaction leaves, all that is dead is in force.
 */
import { quoteName } from '../../storage/schema/cql-names.ts'
import type { TableSchema } from '../../storage/schema/table.ts'

/** One deletion; values as JSON text, the keys of elements as text. */
export interface Deletion {
  key: string
  kind: string
  start?: string
  end?: string
  startInclusive?: boolean
  endInclusive?: boolean
  column?: string
  path?: string
  timestamp: string
  localDeletionTime: number
  /** Not deleted but expired. */
  expired: boolean
}

interface DumpedTime {
  marked_deleted?: string
  local_delete_time: string
}

interface DumpedCell {
  name: string
  path?: string[]
  deletion_info?: DumpedTime
  tstamp?: string
  ttl?: number
  expires_at?: string
}

interface DumpedBound {
  type: 'inclusive' | 'exclusive'
  clustering?: unknown[]
  deletion_info: DumpedTime
}

interface DumpedRow {
  type: 'row' | 'static_block' | 'range_tombstone_bound' | 'range_tombstone_boundary'
  clustering?: unknown[]
  deletion_info?: DumpedTime
  liveness_info?: { tstamp: string; ttl?: number; expires_at?: string }
  cells?: DumpedCell[]
  start?: DumpedBound
  end?: DumpedBound
}

interface DumpedPartition {
  partition: { key: string[]; deletion_info?: DumpedTime }
  rows: DumpedRow[]
}

/**
 * Those that are in force. Cassandra keeps a narrower deletion beside a wider one of the same timestamp if its local deletion time
 * is later, and 3.11 keeps a range beside a later deletion of its partition: these delete nothing more.
 * @param now epoch seconds at which TTLs are judged
 */
export function dumpedDeletions(dump: readonly DumpedPartition[], table: TableSchema, now: number): Deletion[] {
  const columns = new Map([...table.statics, ...table.regulars].map((c) => [quoteName(c.name), c.name]))
  return dump.flatMap(({ partition, rows }) => {
    const key = JSON.stringify(partition.key)
    const found: Omit<Deletion, 'key'>[] = []
    if (partition.deletion_info) found.push({ kind: 'partition', ...timesOf(partition.deletion_info) })
    const ofPartition = timestampOf(partition.deletion_info)
    let open: DumpedBound | undefined
    for (const row of rows) {
      if (row.end !== undefined && open !== undefined && timestampOf(open.deletion_info) > ofPartition) {
        found.push(rangeOf(open, row.end, table))
      }
      if (row.start !== undefined) open = row.start
      else if (row.end !== undefined) open = undefined
      if (row.type !== 'row' && row.type !== 'static_block') continue
      const wider = later(ofPartition, row.type === 'row' ? timestampOf(open?.deletion_info) : MIN)
      found.push(...rowDeletions(row, columns, now, wider))
    }
    return found.map((deletion) => ({ key, ...deletion }))
  })
}

const MIN = -(2n ** 63n)

function timestampOf(time: DumpedTime | undefined): bigint {
  return time?.marked_deleted === undefined ? MIN : BigInt(time.marked_deleted)
}

function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function timesOf(time: DumpedTime, timestamp?: string) {
  return {
    timestamp: (time.marked_deleted ?? timestamp)!,
    localDeletionTime: Number(time.local_delete_time),
    expired: false,
  }
}

function rangeOf(start: DumpedBound, end: DumpedBound, table: TableSchema): Omit<Deletion, 'key'> {
  const values = ({ clustering }: DumpedBound) =>
    textOf(table.clustering.map((_, i) => (clustering?.[i] === '*' ? null : (clustering?.[i] ?? null))))
  return {
    kind: 'range',
    start: values(start),
    end: values(end),
    startInclusive: start.type === 'inclusive',
    endInclusive: end.type === 'inclusive',
    ...timesOf(start.deletion_info),
  }
}

function rowDeletions(
  row: DumpedRow,
  columns: ReadonlyMap<string, string>,
  now: number,
  wider: bigint,
): Omit<Deletion, 'key'>[] {
  const { clustering, deletion_info, liveness_info: live } = row
  const values = textOf(clustering ?? [])
  const place =
    row.type === 'row' ? { start: values, end: values, startInclusive: true, endInclusive: true } : ({} as object)
  const found: Omit<Deletion, 'key'>[] = []
  const ofRow = timestampOf(deletion_info)
  if (deletion_info && ofRow > wider) found.push({ kind: 'row', ...place, ...timesOf(deletion_info) })
  if (live?.ttl !== undefined && Number(live.expires_at) <= now) {
    found.push({ kind: 'liveness', ...place, timestamp: live.tstamp, ...expiredAt(live.expires_at!, live.ttl) })
  }
  const inherited = live?.ttl === VIEW_ROW_DELETED ? undefined : live
  for (const { name, path, deletion_info: deleted, ...cell } of row.cells ?? []) {
    const column = columns.get(name)
    if (column === undefined) continue
    const timestamp = cell.tstamp ?? live?.tstamp ?? ''
    const element = path === undefined ? {} : { path: path[0] }
    if (deleted?.marked_deleted !== undefined) {
      if (timestampOf(deleted) <= later(ofRow, wider)) continue
      found.push({ kind: 'collection', ...place, column, ...timesOf(deleted) })
    } else if (deleted !== undefined) {
      found.push({ kind: 'cell', ...place, column, ...element, ...timesOf(deleted, timestamp) })
    } else {
      // What a cell has from its row's liveness is not printed again.
      const expiring = cell.ttl !== undefined ? cell : cell.tstamp === undefined ? inherited : undefined
      if (expiring?.ttl === undefined || Number(expiring.expires_at) > now) continue
      const expired = expiredAt(expiring.expires_at!, expiring.ttl)
      found.push({ kind: 'cell', ...place, column, ...element, timestamp, ...expired })
    }
  }
  return found
}

/** LivenessInfo.EXPIRED_LIVENESS_TTL: what ends a view's row; its cells have no TTL. */
const VIEW_ROW_DELETED = 2 ** 31 - 1

/** As compaction makes tombstones of expired cells: deleted when they were written. */
function expiredAt(expires: string, ttl: number) {
  if (ttl === VIEW_ROW_DELETED) return { localDeletionTime: Number(expires), expired: false }
  return { localDeletionTime: Number(expires) - ttl, expired: true }
}

/** What sstabledump prints. */
export function parseDump(text: string): DumpedPartition[] {
  return parseExactly(text) as DumpedPartition[]
}

/** JSON with integers beyond 15 digits as texts. */
function parseExactly(text: string): unknown {
  const quoted = text.replace(/"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?=\s*[\],}])/g, (found) =>
    found.startsWith('"') ? found : `"${found}"`,
  )
  return JSON.parse(quoted)
}

/** Lines of NDJSON of a scan for tombstones. */
export function toldDeletions(lines: readonly string[], table: TableSchema): Deletion[] {
  return lines.map((line) => {
    const row = parseExactly(line) as Record<string, unknown>
    const isPlaced = row.start_inclusive !== null
    const values = (prefix: string) => textOf(table.clustering.map((c) => jsonField(row, `${prefix}_${c.name}`)))
    return {
      key: JSON.stringify(table.partitionKey.map((c) => plain(jsonField(row, c.name)))),
      kind: row.kind as string,
      ...(isPlaced && { start: values('start'), end: values('end') }),
      ...(isPlaced && {
        startInclusive: row.start_inclusive as boolean,
        endInclusive: row.end_inclusive as boolean,
      }),
      ...(row.column !== null && { column: row.column as string }),
      ...(row.path !== null && { path: plain(row.path) }),
      timestamp: String(row.timestamp),
      localDeletionTime: row.local_deletion_time as number,
      expired: row.expired_ttl !== null,
    }
  })
}

/** 3.11 prints dates beyond year 9999 without a plus, and those before 1583 by the Julian calendar. */
function textOf(values: readonly unknown[]): string {
  return JSON.stringify(values).replaceAll('"+', '"').replaceAll('"0001-01-03 00', '"0001-01-01 00')
}

/** Names that are not lower case stand in quotes, as in SELECT JSON. */
function jsonField(row: Record<string, unknown>, name: string): unknown {
  return name in row ? row[name] : row[`"${name}"`]
}

/** A literal without its quotes, a blob without 0x. */
function plain(value: unknown): string {
  const text = String(value)
  if (text.startsWith("'")) return text.slice(1, -1).replaceAll("''", "'")
  return text.replace(/^0x/, '')
}
