// since and until: rows by their newest write or deletion, which is found here from the write times and tombstones of each.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Catalog } from '../../../storage/scan/catalog.ts'
import type { PinnedTable } from '../../../storage/scan/pinned-table.ts'
import { type RowObject, type RowValue, readRowObjects } from '../../../storage/scan/row-objects.ts'
import { openScan } from '../../../storage/scan/scan.ts'
import type { ScanRequest } from '../../../storage/scan/scan-request.ts'
import { quoteName } from '../../../storage/schema/cql-names.ts'
import { goldenMeta, goldenSet } from '../../corpus/golden.ts'

const MIN = -(2n ** 63n)

async function rowsOf(pinned: PinnedTable, request: ScanRequest): Promise<RowObject[]> {
  return readRowObjects(await openScan(pinned, request))
}

const text = (values: RowValue[]) =>
  JSON.stringify(values, (_, v) => (typeof v === 'bigint' ? `${v}n` : v instanceof Map ? [...v] : v))

/** Newest of what makes up each row, in the order of the rows. */
async function newestOf(pinned: PinnedTable, columns: string, now: number): Promise<bigint[]> {
  const { partitionKey, clustering, statics } = pinned.schema
  const isStatic = new Set(statics.map((c) => c.name))
  const newest = new Map<string, bigint>()
  const note = (place: string, time: RowValue) => {
    if (Array.isArray(time)) for (const each of time) note(place, each)
    else if (typeof time === 'bigint' && time > (newest.get(place) ?? MIN)) newest.set(place, time)
  }
  const keyOf = (row: RowObject) => text(partitionKey.map((c) => row[c.name]))
  const placeOf = (row: RowObject, prefix = '') =>
    text([keyOf(row), ...clustering.map((c) => row[`${prefix}${c.name}`])])
  for (const row of await rowsOf(pinned, { now, tombstones: true })) {
    const ofStatics = row.column !== null && isStatic.has(row.column as string)
    if (row.kind === 'partition' || row.kind === 'range') continue
    note(ofStatics ? keyOf(row) : placeOf(row, 'start_'), row.timestamp)
  }
  const rows = await rowsOf(pinned, { now, columns })
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      const column = /^writetime\((.*)\)$/.exec(name)?.[1]
      if (column !== undefined) note(isStatic.has(column) ? keyOf(row) : placeOf(row), value)
      else if (name === 'row_writetime()') note(placeOf(row), value)
    }
  }
  return rows.map((row) => {
    const own = newest.get(placeOf(row)) ?? MIN
    const ofStatics = newest.get(keyOf(row)) ?? MIN
    return own > ofStatics ? own : ofStatics
  })
}

/** Keys and all write times, those of static columns where asked for. */
function selection({ schema }: PinnedTable, withStatics: boolean): string {
  const { partitionKey, clustering, statics, regulars, isCounter } = schema
  const keys = [...partitionKey, ...clustering].map((c) => quoteName(c.name))
  const others = [...(withStatics ? statics : []), ...regulars]
  const times = isCounter ? [] : others.map((c) => `writetime(${quoteName(c.name)})`)
  return [...keys, ...times, 'row_writetime()'].join(', ')
}

test.each(['me', 'nb', 'da'] as const)('%s: windows hold the rows whose newest write lies in them', async (set) => {
  const { now } = await goldenMeta(set)
  const catalog = await Catalog.open({ data: [join(await goldenSet(set), 'data')] })
  let compared = 0
  for (const table of ['deletions', 'deletions_desc', 'ttl', 'ties', 'types_nested', 'static_rows', 'update_only']) {
    const pinned = await catalog.pin('golden', table)
    const columns = selection(pinned, true)
    const newest = await newestOf(pinned, columns, now)
    const rows = await rowsOf(pinned, { now, columns })
    const sorted = [...newest].sort((a, b) => (a < b ? -1 : 1))
    const cuts = [undefined, ...[0.2, 0.5, 0.8].map((part) => sorted[Math.floor(part * sorted.length)]), undefined]
    for (const [i, since] of cuts.slice(0, -1).entries()) {
      const until = cuts[i + 1]
      if (since !== undefined && since === until) continue
      const within = (time: bigint) => (since === undefined || time >= since) && (until === undefined || time < until)
      const expected = rows.filter((_, row) => within(newest[row]))
      expect(await rowsOf(pinned, { now, columns, since, until }), `${table} ${since} ${until}`).toEqual(expected)
      compared += expected.length
    }
    await pinned.release()
  }
  expect(compared).toBeGreaterThan(400)
})

test('static content makes rows new only where it is shown', async () => {
  const { now } = await goldenMeta('da')
  const catalog = await Catalog.open({ data: [join(await goldenSet('da'), 'data')] })
  const pinned = await catalog.pin('golden', 'static_rows')
  const ofStatics = await rowsOf(pinned, { now, tombstones: true, columns: 's2' })
  let more = 0
  for (const { timestamp } of ofStatics) {
    const window = { now, since: timestamp as bigint, until: (timestamp as bigint) + 1000n }
    const shown = await rowsOf(pinned, { ...window, columns: 'pk, c, s2' })
    const hidden = await rowsOf(pinned, { ...window, columns: 'pk, c' })
    more += shown.length - hidden.length
    expect(shown.length).toBeGreaterThanOrEqual(hidden.length)
  }
  expect(more).toBeGreaterThan(0)
  await pinned.release()
})

test('what cannot be a window is refused', async () => {
  const catalog = await Catalog.open({ data: [join(await goldenSet('da'), 'data')] })
  const pinned = await catalog.pin('golden', 'ttl')
  for (const [since, until] of [
    [5n, 5n],
    [6n, 5n],
    [2n ** 63n, undefined],
  ]) {
    await expect(openScan(pinned, { now: 0, since, until })).rejects.toMatchObject({ code: 'BAD_PARAMETER' })
  }
  await pinned.release()
})
