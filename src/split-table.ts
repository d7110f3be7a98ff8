// The splits of a pinned table as text: what each begins and ends at, as `from` and `to` take it, and as tokens for people to read.

import { comparePrefixes } from '../storage/ring/clustering-prefix.ts'
import type { Partitioner } from '../storage/ring/partitioner.ts'
import { partitionerByName } from '../storage/ring/partitioner.ts'
import type { Position } from '../storage/ring/position.ts'
import { comparePositions, decodePosition, encodePosition } from '../storage/ring/position.ts'
import { planSplits } from '../storage/ring/splits.ts'
import { intersect, parseTokenRange } from '../storage/ring/token-range.ts'
import type { PinnedTable } from '../storage/scan/pinned-table.ts'
import { planPredicate } from '../storage/scan/predicate/plan.ts'
import type { TableSchema } from '../storage/schema/table.ts'
import { newIndexCounters } from '../storage/sstable/index.ts'
import { openIndex } from '../storage/sstable/open-index.ts'

export interface SplitsRequest {
  start?: string
  end?: string
  /** Parts of the ring that it leaves nothing of are not split. */
  where?: string
  /** Positions: what of it lies behind `from` and `after`, and not behind `to`. */
  from?: string
  after?: string
  to?: string
  /** How many splits, about; else of how many bytes each; else one. */
  count?: number
  targetBytes?: number
}

/** All that lies behind `from` and not behind `to`. */
export interface TableSplit {
  /** Positions as text; null: the beginning or end of what was asked for. */
  from: string | null
  to: string | null
  /** Tokens that enclose it, as text; of a split cut inside a partition the partition's. null: the ring's own end. */
  start: string | null
  end: string | null
  /** Uncompressed, over all SSTables; estimated. */
  bytes: number
  partitions: number
}

/** @throws SluiceError BAD_RANGE, BAD_PREDICATE, UNKNOWN_COLUMN, or what reading the indexes finds */
export async function splitTable(pinned: PinnedTable, request: SplitsRequest): Promise<TableSplit[]> {
  const { schema } = pinned
  const scope = `${schema.keyspace}.${schema.table}`
  const partitioner = partitionerByName(pinned.partitioner, schema.partitionKey[0].type)
  const range = parseTokenRange(partitioner, request.start, request.end)
  const plan = request.where === undefined ? undefined : planPredicate(request.where, schema, partitioner)
  const intervals = plan === undefined ? range : intersect(partitioner, range, plan.tokens)
  const position = (given: string | undefined) =>
    given === undefined ? undefined : decodePosition(partitioner, scope, schema.clustering.length, given)
  const [from, after] = [position(request.from), position(request.after)]
  const isAfterLower =
    after !== undefined && (from === undefined || comparePlaces(partitioner, schema, after, from) > 0)
  const splits = await planSplits({
    partitioner,
    clustering: schema.clustering,
    sources: pinned.sstables.map((sstable) => ({
      index: openIndex(sstable, partitioner, newIndexCounters()),
      dataLength: sstable.dataLength,
    })),
    intervals,
    lower: isAfterLower ? after : from,
    upper: position(request.to),
    // Single partitions are found by their keys; to cut the ring between them would gain nothing.
    count: plan?.keys === undefined ? request.count : 1,
    targetBytes: plan?.keys === undefined ? request.targetBytes : undefined,
  })
  const text = (position: Position | null) => position && encodePosition(partitioner, scope, position)
  return splits.map(({ start, end, bytes, partitions }) => ({
    from: text(start),
    to: text(end),
    start: start && tokenText(partitioner, start),
    end: end && tokenText(partitioner, end),
    bytes,
    partitions,
  }))
}

function comparePlaces(partitioner: Partitioner, { clustering }: TableSchema, a: Position, b: Position): number {
  return comparePositions(partitioner, (x, y) => comparePrefixes(clustering, x, y), a, b)
}

function tokenText(partitioner: Partitioner, position: Position): string | null {
  if (position.kind === 'token') return partitioner.formatToken(position.token.words, 0, position.token.bytes)
  return partitioner.formatToken(position.words, 0, position.key)
}
