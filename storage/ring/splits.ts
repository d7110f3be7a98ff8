// Cuts a part of the ring into splits of about equal bytes over all SSTables of a table, from their indexes alone. Every
// SSTable is sampled at about equal distances of its Data.db; the samples of all are the places to cut at, and between its
// samples an SSTable's bytes are taken to be spread evenly over tokens. A partition larger than that distance gets samples of its
// own, at index blocks, so that it can be cut by clustering.
//
// Bytes are those of the uncompressed Data.db, as numbers: exact up to 2^53 (8 PiB).

import type { ColumnSchema } from '../schema/table.ts'
import type { PartitionEntry, PartitionIndex } from '../sstable/index.ts'
import { placeBefore } from '../sstable/partition-place.ts'
import { comparePrefixes } from './clustering-prefix.ts'
import { compareWords, type Partitioner, type Token, tokenBefore } from './partitioner.ts'
import { comparePositions, isInsidePartition, keyPosition, type Position } from './position.ts'
import type { TokenInterval } from './token-range.ts'

/** All that lies behind `start` and not behind `end`. null: the ring's own beginning or end. */
export interface Split {
  start: Position | null
  end: Position | null
  /** Bytes of Data.db, uncompressed, over all SSTables; estimated. */
  bytes: number
  /** Estimated, a partition counted once in every SSTable that holds it; at least 1 where there are bytes. */
  partitions: number
}

export interface SplitSource {
  index: PartitionIndex
  /** Length of the uncompressed Data.db. */
  dataLength: number
}

export interface SplitRequest {
  partitioner: Partitioner
  /** The table's clustering columns. */
  clustering: readonly ColumnSchema[]
  sources: readonly SplitSource[]
  /** In normal form. Each gives at least one split; so splits are contiguous within an interval and never span two. */
  intervals: readonly TokenInterval[]
  /** What of them lies behind the one and not behind the other. */
  lower?: Position
  upper?: Position
  /** How many splits; else of how many bytes. Fewer come out where there are too few places to cut at. */
  count?: number
  targetBytes?: number
}

// The more samples a split, the closer splits come to the mean: with 16 the largest is 1.1 times it, with 12 less than 1.25
// times. Every sample is a binary search in an index, so many splits make do with fewer.
const SAMPLES_PER_SPLIT = [12, 16] as const
const ENOUGH_SAMPLES = 1024
const MAX_SAMPLES = 100_000
const MAX_SPLITS = 100_000

interface Sample {
  position: Position | null
  /** Bytes and partitions of the SSTable before it. */
  offset: number
  rank: number
}

/** What of an interval is split. */
interface Part {
  from: Position | null
  to: Position | null
}

/** One part of one SSTable: samples from its start to its end, ascending. */
interface Stretch {
  source: SplitSource
  start: Sample
  end: Sample
  first: PartitionEntry | null
}

export async function planSplits(request: SplitRequest): Promise<Split[]> {
  const { sources, targetBytes } = request
  const parts = partsOf(request)
  const measured = await Promise.all(parts.map((part) => measure(sources, part)))
  const total = measured.reduce((sum, stretches) => sum + bytesOf(stretches), 0)
  const wanted = request.count ?? (targetBytes === undefined ? 1 : Math.ceil(total / targetBytes))
  const count = Math.min(Math.max(1, wanted), MAX_SPLITS)
  const splits: Split[] = []
  for (const [i, stretches] of measured.entries()) {
    const own = total === 0 ? 1 : Math.max(1, Math.round((count * bytesOf(stretches)) / total))
    splits.push(...(await cut(request, parts[i], stretches, own)))
  }
  return splits
}

function bytesOf(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { start, end }) => sum + end.offset - start.offset, 0)
}

function positionOf(token: Token | null): Position | null {
  return token && { kind: 'token', token }
}

function partsOf(request: SplitRequest): Part[] {
  const { intervals, lower, upper } = request
  const compare = comparison(request)
  return intervals.flatMap(({ start, end }) => {
    let from = positionOf(start)
    let to = positionOf(end)
    if (lower !== undefined && (from === null || compare(from, lower) < 0)) from = lower
    if (upper !== undefined && (to === null || compare(to, upper) > 0)) to = upper
    return from === null || to === null || compare(from, to) < 0 ? [{ from, to }] : []
  })
}

function comparison({ partitioner, clustering }: SplitRequest): (a: Position, b: Position) => number {
  return (a, b) => comparePositions(partitioner, (x, y) => comparePrefixes(clustering, x, y), a, b)
}

function measure(sources: readonly SplitSource[], { from, to }: Part): Promise<Stretch[]> {
  return Promise.all(sources.map((source) => stretchOf(source, from, to)))
}

async function stretchOf(source: SplitSource, from: Position | null, to: Position | null): Promise<Stretch> {
  const { index, dataLength } = source
  const partitions = await index.partitionCount()
  const first = from === null ? await index.atOffset(0) : await index.seek(from)
  const start = from === null ? 0 : (first?.dataOffset ?? dataLength)
  const behind = to === null ? null : await index.seek(to)
  const end = to === null ? dataLength : await index.endOffset(to)
  return {
    source,
    first,
    start: { position: from, offset: start, rank: first?.rank ?? partitions },
    end: { position: to, offset: Math.max(start, end), rank: behind?.rank ?? partitions },
  }
}

// --- Samples -------------------------------------------------------------------------------------------------------------

async function sample(request: SplitRequest, { source, start, end, first }: Stretch, count: number): Promise<Sample[]> {
  const distance = (end.offset - start.offset) / (count + 1)
  const boundaries = await source.index.boundaries(start.offset, end.offset, count)
  const samples: Sample[] = [start]
  if (first?.key) samples.push({ ...start, position: placeBefore(request.partitioner, first.key) })
  let entry = first
  const inside = async (until: number) => {
    const { offset, rank } = samples[samples.length - 1]
    if (entry !== null && until - offset > 1.5 * distance) {
      samples.push(...(await sampleInside(request, source, entry, rank, Math.ceil((until - offset) / distance))))
    }
  }
  for (const { position, dataOffset, rank, entry: next } of boundaries) {
    await inside(dataOffset)
    samples.push({ position, offset: dataOffset, rank })
    entry = next
  }
  await inside(end.offset)
  samples.push(end)
  return samples
}

/** Places at index blocks, if the partition is large enough to have them. */
async function sampleInside(
  { partitioner }: SplitRequest,
  source: SplitSource,
  entry: PartitionEntry,
  rank: number,
  count: number,
): Promise<Sample[]> {
  if (!entry.wide || entry.key === null) return []
  const blocks = (await (await source.index.rowIndex(entry))?.cuts(count)) ?? []
  const { key } = entry
  return blocks.flatMap(({ start, place }) =>
    place === null || place.clustering.length === 0
      ? []
      : [{ position: keyPosition(partitioner, key, place.clustering, place.after), offset: start, rank }],
  )
}

// --- Cutting -------------------------------------------------------------------------------------------------------------

async function cut(request: SplitRequest, part: Part, stretches: readonly Stretch[], count: number): Promise<Split[]> {
  const total = bytesOf(stretches)
  const perSplit = Math.min(Math.max(SAMPLES_PER_SPLIT[0], ENOUGH_SAMPLES / count), SAMPLES_PER_SPLIT[1])
  const samples = await Promise.all(
    stretches.map((stretch) => {
      const share = total === 0 || count === 1 ? 0 : (perSplit * count * bytesOf([stretch])) / total
      return share === 0
        ? [stretch.start, stretch.end]
        : sample(request, stretch, Math.min(Math.ceil(share), MAX_SAMPLES))
    }),
  )
  const compare = comparison(request)
  const isWithin = (position: Position) =>
    (part.from === null || compare(position, part.from) > 0) && (part.to === null || compare(position, part.to) < 0)
  const positions = samples
    .flatMap((list) => list.slice(1, -1).map(({ position }) => position))
    .filter((position) => position !== null)
    .filter(isWithin)
    .sort(compare)
  const places = measured(request.partitioner, samples, positions, compare)
  const first: Place = { position: part.from, bytes: 0, partitions: 0 }
  const last: Place = {
    position: part.to,
    bytes: total,
    partitions: stretches.reduce((sum, { start, end }) => sum + end.rank - start.rank, 0),
  }
  const ends = [first, ...nearest(places, total, count), last]
  return ends.slice(1).map((end, i) => {
    const bytes = Math.round(end.bytes) - Math.round(ends[i].bytes)
    const partitions = Math.round(end.partitions - ends[i].partitions)
    return { start: ends[i].position, end: end.position, bytes, partitions: Math.max(bytes > 0 ? 1 : 0, partitions) }
  })
}

/** A place to cut at, with what lies between it and the interval's start in all SSTables. */
interface Place {
  position: Position | null
  bytes: number
  partitions: number
}

/** For each of count - 1 goals the place next to it; fewer where places are farther apart than goals. */
function nearest(places: readonly Place[], total: number, count: number): Place[] {
  const chosen: Place[] = []
  let at = 0
  let bytes = 0
  for (let k = 1; k < count; k++) {
    const goal = (k * total) / count
    while (at < places.length && places[at].bytes < goal) at++
    const candidates = places.slice(Math.max(0, at - 1), at + 1).filter((p) => p.bytes > bytes && p.bytes < total)
    candidates.sort((a, b) => Math.abs(a.bytes - goal) - Math.abs(b.bytes - goal))
    if (candidates.length === 0) continue
    chosen.push(candidates[0])
    bytes = candidates[0].bytes
  }
  return chosen
}

/** The positions, which ascend, each with what all SSTables have before it. */
function measured(
  partitioner: Partitioner,
  samples: readonly Sample[][],
  positions: readonly Position[],
  compare: (a: Position, b: Position) => number,
): Place[] {
  const at = samples.map(() => 0)
  return positions.map((position) => {
    let bytes = 0
    let partitions = 0
    for (const [i, list] of samples.entries()) {
      // list[at] is the last sample at or before the position; the last of all is the interval's end.
      while (at[i] + 2 < list.length && compare(list[at[i] + 1].position!, position) <= 0) at[i]++
      const from = list[at[i]]
      const to = list[at[i] + 1]
      const isSame = from.position !== null && compare(from.position, position) === 0
      const part = isSame ? 0 : fraction(partitioner, from, to, position)
      bytes += from.offset + part * (to.offset - from.offset) - list[0].offset
      partitions += from.rank + part * (to.rank - from.rank) - list[0].rank
    }
    return { position, bytes, partitions }
  })
}

/** How much of what lies between two samples of an SSTable lies before a position between them: 0 to 1. */
function fraction(partitioner: Partitioner, from: Sample, to: Sample, position: Position): number {
  // The samples enclose one partition, or a part of one.
  const single = to.rank - from.rank <= 1
  if (from.position !== null && isInside(partitioner, position, from.position)) return single ? 0.5 : 0
  if (single) return 1
  if (partitioner.words === 0) return 0.5
  const low = tokenNumber(partitioner, from.position ?? { kind: 'token', token: partitioner.minimum })
  const high = tokenNumber(
    partitioner,
    to.position ?? { kind: 'token', token: partitioner.maximum ?? partitioner.minimum },
  )
  return high > low ? Math.min(1, Math.max(0, (tokenNumber(partitioner, position) - low) / (high - low))) : 0.5
}

/** The position is inside the partition that a sample stands before or in. */
function isInside(partitioner: Partitioner, position: Position, sample: Position): boolean {
  if (!isInsidePartition(position)) return false
  if (sample.kind === 'token') {
    return compareWords(tokenBefore(partitioner, position.words).words, 0, sample.token.words, 0) === 0
  }
  return Buffer.compare(position.key, sample.key) === 0
}

/** The token as a number of the first 64 bits or more, to interpolate by. */
function tokenNumber({ words }: Partitioner, position: Position): number {
  const token = position.kind === 'token' ? position.token.words : position.words
  let number = token[0]
  for (let i = 1; i < words; i++) number = number * 2 ** 32 + (token[i] >>> 0)
  return number
}
