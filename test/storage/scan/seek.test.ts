// Scans that begin and end anywhere: random splits, cut inside partitions too, random resume points, projections and keys. Whatever the
// cuts, the parts together are the whole, in order, and no index is asked where nothing is sought.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { comparePrefixes } from '../../../storage/ring/clustering-prefix.ts'
import { partitionerByName } from '../../../storage/ring/partitioner.ts'
import { comparePositions, decodePosition, encodePosition, type Position } from '../../../storage/ring/position.ts'
import { planSplits } from '../../../storage/ring/splits.ts'
import { WHOLE_RING } from '../../../storage/ring/token-range.ts'
import { Catalog } from '../../../storage/scan/catalog.ts'
import type { PinnedTable } from '../../../storage/scan/pinned-table.ts'
import { openScan } from '../../../storage/scan/scan.ts'
import type { ScanRequest, ScanStats } from '../../../storage/scan/scan-request.ts'
import { selectOrder } from '../../../storage/schema/table.ts'
import { newIndexCounters } from '../../../storage/sstable/index.ts'
import { openIndex } from '../../../storage/sstable/open-index.ts'
import { ndjsonOf } from '../../corpus/compare-table.ts'
import { type GoldenName, goldenMeta, goldenSet } from '../../corpus/golden.ts'
import { batchEnds } from './batches.ts'

const SETS = ['da', 'oa', 'nb', 'me'] as const satisfies readonly GoldenName[]
const TABLES = ['wide', 'static_rows', 'deletions', 'deletions_desc', 'clustering_mixed', 'many_partitions', 'ttl']

function random(seed: number): (below: number) => number {
  return (below) => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * below)
  }
}

async function open(set: GoldenName, table: string): Promise<{ pinned: PinnedTable; now: number }> {
  const catalog = await Catalog.open({ data: [join(await goldenSet(set), 'data')] })
  return { pinned: await catalog.pin('golden', table), now: (await goldenMeta(set)).now }
}

async function statsOf(pinned: PinnedTable, request: ScanRequest): Promise<{ rows: number; stats: ScanStats }> {
  const scan = await openScan(pinned, request)
  let rows = 0
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
    rows += batch.rows
    batch.release()
  }
  await scan.close()
  return { rows, stats: scan.stats }
}

describe.each(SETS)('golden set %s', (set) => {
  test.each(TABLES)('%s: cut anywhere, the parts are the whole', async (table) => {
    const { pinned, now } = await open(set, table)
    const { schema } = pinned
    const whole = await ndjsonOf(pinned, { now })
    const rng = random(table.length * 31 + set.length)
    const partitioner = partitionerByName(pinned.partitioner, schema.partitionKey[0].type)
    const scope = `${schema.keyspace}.${schema.table}`
    const text = (p: Position) => encodePosition(partitioner, scope, p)
    const position = (t: string) => decodePosition(partitioner, scope, schema.clustering.length, t)
    const compare = (a: string, b: string) =>
      comparePositions(partitioner, (x, y) => comparePrefixes(schema.clustering, x, y), position(a), position(b))

    // Places: behind rows, and where splits are cut, which is inside of wide partitions too.
    const places = (await batchEnds(pinned, { now, batchRows: Math.max(1, Math.ceil(whole.length / 23)) })).map(
      (p) => p.position,
    )
    const planned = await planSplits({
      partitioner,
      clustering: schema.clustering,
      sources: pinned.sstables.map((sstable) => ({
        index: openIndex(sstable, partitioner, newIndexCounters()),
        dataLength: sstable.dataLength,
      })),
      intervals: WHOLE_RING,
      count: 40,
    })
    places.push(...planned.flatMap(({ end }) => (end === null ? [] : [text(end)])))
    if (table === 'wide') expect(planned.some(({ end }) => end?.kind === 'key')).toBe(true)
    for (let round = 0; round < 3; round++) {
      const cuts = places.filter(() => rng(3) > 0).sort(compare)
      const parts: string[][] = []
      for (let i = 0; i <= cuts.length; i++) {
        parts.push(await ndjsonOf(pinned, { now, from: cuts[i - 1], to: cuts[i], plainDecoder: round === 2 }))
      }
      expect(parts.flat()).toEqual(whole)
    }

    // Where a partition is cut, the part that begins it tells of it, though its live rows may lie in others.
    const keys = await ndjsonOf(pinned, { now, distinct: true })
    for (let round = 0; round < 2; round++) {
      const cuts = places.filter(() => round === 0 || rng(4) === 0).sort(compare)
      const parts: string[][] = []
      for (let i = 0; i <= cuts.length; i++) {
        parts.push(await ndjsonOf(pinned, { now, distinct: true, from: cuts[i - 1], to: cuts[i] }))
      }
      expect(parts.flat()).toEqual(keys)
    }
    await pinned.release()
  })

  test.each(['wide', 'static_rows', 'deletions', 'clustering_mixed'])('%s: any columns of any part', async (table) => {
    const { pinned, now } = await open(set, table)
    const whole = (await ndjsonOf(pinned, { now })).map((line) => JSON.parse(line))
    const rng = random(7)
    const names = selectOrder(pinned.schema).map((c) => c.name)
    for (let round = 0; round < 6; round++) {
      const columns = names.filter(() => rng(2) === 0)
      if (columns.length === 0) continue
      const found = await ndjsonOf(pinned, { now, columns: columns.join(', ') })
      const expected = whole.map((row) => Object.fromEntries(columns.map((c) => [c, row[c]])))
      expect(found.map((line) => JSON.parse(line))).toEqual(expected)
    }
    await pinned.release()
  })

  test.each(['wide', 'static_rows', 'deletions', 'many_partitions', 'ttl'])(
    '%s: distinct is one row per partition, from any place on',
    async (table) => {
      const { pinned, now } = await open(set, table)
      const { schema } = pinned
      const columns = [...schema.partitionKey, ...schema.statics].map((c) => c.name)
      const whole = (await ndjsonOf(pinned, { now, columns: columns.join(', ') })).filter(
        (line, i, lines) => line !== lines[i - 1],
      )
      expect(await ndjsonOf(pinned, { now, distinct: true, columns: columns.join(', ') })).toEqual(whole)
      const request = { now, distinct: true, columns: columns.join(', '), batchRows: Math.ceil(whole.length / 5) }
      for (const { rows, position } of await batchEnds(pinned, request)) {
        expect(await ndjsonOf(pinned, { ...request, after: position })).toEqual(whole.slice(rows))
      }
      await pinned.release()
    },
  )

  test('a scan of everything asks no index; a key asks for little', async () => {
    const { pinned, now } = await open(set, 'wide')
    const whole = await statsOf(pinned, { now })
    expect(whole.stats.indexBytesRead).toBe(0)
    expect(whole.stats.indexBlocksDecoded).toBe(0)
    const part = await statsOf(pinned, { now, where: 'pk = 1 AND c = 1500' })
    expect(part.rows).toBe(1)
    expect(part.stats.chunksInflated).toBeLessThan(whole.stats.chunksInflated / 3)
    const none = await statsOf(pinned, { now, where: 'pk = 4711' })
    expect(none.rows).toBe(0)
    expect(none.stats.dataBytesRead).toBe(0)
    await pinned.release()
  })

  test('counting gives what reading gives', async () => {
    for (const table of TABLES) {
      const { pinned, now } = await open(set, table)
      const rows = await ndjsonOf(pinned, { now })
      for (const countTombstones of [false, true]) {
        const count = await statsOf(pinned, { now, countOnly: true, countTombstones })
        expect(count.rows, table).toBe(rows.length)
        const keys = await ndjsonOf(pinned, { now, distinct: true })
        expect(count.stats.partitionsEmitted, table).toBe(keys.length)
      }
      await pinned.release()
    }
  })
})
