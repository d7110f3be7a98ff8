/**
 * SSTables that others published, held against what their origins say of them (public-sets.ts). Read from the folder that
 * SLUICE_PUBLIC_SSTABLES names; prints `SKIPPED n` where it is not set.
 */
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isSluiceError, type SluiceError } from '../../storage/errors.ts'
import { PinnedTable } from '../../storage/scan/pinned-table.ts'
import { openScan } from '../../storage/scan/scan.ts'
import { parseDdl } from '../../storage/schema/ddl-parser.ts'
import { headerSchema } from '../../storage/schema/header-schema.ts'
import { groupSSTables } from '../../storage/sstable/descriptor.ts'
import { openSSTable, type SSTable } from '../../storage/sstable/sstable.ts'
import { ndjsonOf, shapeOfTable } from './compare-table.ts'
import { ndjsonDifference } from './json.ts'
import { PUBLIC_SETS, REFUSED_VERSIONS, type ReadableSet } from './public-sets.ts'

const NOW = 1704067200 // 2024-01-01
const root = process.env.SLUICE_PUBLIC_SSTABLES ?? ''
const present = root !== '' && existsSync(root)
if (!present)
  console.log(`SKIPPED ${PUBLIC_SETS.length + Object.keys(REFUSED_VERSIONS).length} public sets of SSTables`)

async function pin(folder: string, cql: string | undefined, only?: string[]): Promise<PinnedTable> {
  const opened: SSTable[] = []
  try {
    for (const files of groupSSTables(folder, await readdir(folder))) {
      if (only === undefined || only.includes(files.descriptor.prefix)) opened.push(await openSSTable(files))
    }
    const schema =
      cql === undefined
        ? headerSchema(
            'public',
            'unknown',
            opened.map((sstable) => sstable.statistics.header),
          )
        : parseDdl(cql, undefined, 'public').tables[0]
    return new PinnedTable(schema, opened)
  } catch (error) {
    for (const sstable of opened) sstable.release()
    throw error
  }
}

async function foldersWithSSTables(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const own = entries.some((entry) => entry.name.endsWith('-Data.db')) ? [folder] : []
  const below = await Promise.all(
    entries.filter((entry) => entry.isDirectory()).map((entry) => foldersWithSSTables(join(folder, entry.name))),
  )
  return [...own, ...below.flat()]
}

async function readAll(set: ReadableSet, plainDecoder: boolean): Promise<string[]> {
  const pinned = await pin(join(root, set.folder), set.cql, set.only)
  try {
    if (set.partitioner !== undefined) expect(pinned.partitioner).toBe(set.partitioner)
    const now = set.now ?? NOW
    const scan = await openScan(pinned, { now, plainDecoder })
    let rows = 0
    for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
      rows += batch.rows
      batch.release()
    }
    await scan.close()
    expect(rows).toBe(set.rows)
    if (set.overflowed !== undefined) expect(scan.stats.overflowedDeletionTimes).toBe(set.overflowed)
    const lines = await ndjsonOf(pinned, { now, plainDecoder })
    if (set.json !== undefined) {
      expect(ndjsonDifference([...set.json].sort(), [...lines].sort(), shapeOfTable(pinned))).toBeUndefined()
    }
    expect(set.check?.(lines.map((line) => JSON.parse(line)))).toBeUndefined()
    return lines
  } finally {
    await pinned.release()
  }
}

async function refusalOf(work: () => Promise<unknown>): Promise<SluiceError> {
  const error = await work().then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!isSluiceError(error)) throw new Error(`no SluiceError but ${error}`)
  return error
}

describe.skipIf(!present)('public SSTables', () => {
  for (const set of PUBLIC_SETS) {
    const name = `${set.folder}${'only' in set && set.only !== undefined ? ` ${set.only.join(' ')}` : ''}`
    if ('refused' in set) {
      test(`${name} is refused`, async () => {
        const error = await refusalOf(async () => {
          const pinned = await pin(join(root, set.folder), set.cql)
          try {
            await ndjsonOf(pinned, { now: NOW })
          } finally {
            await pinned.release()
          }
        })
        expect(error.code).toBe(set.refused)
        expect(error.fields).toMatchObject(set.fields)
        for (const field of set.names) expect(error.fields, field).toHaveProperty(field)
      })
    } else {
      test(`${name} gives what it holds`, async () => {
        expect(await readAll(set, false)).toEqual(await readAll(set, true))
      })
    }
  }

  test.each(Object.entries(REFUSED_VERSIONS))('%s is refused as version %s', async (below, version) => {
    const folders = await foldersWithSSTables(join(root, below))
    expect(folders.length).toBeGreaterThan(0)
    for (const folder of folders) {
      const error = await refusalOf(() => pin(folder, undefined))
      expect(error.code).toBe('UNSUPPORTED_VERSION')
      expect(error.fields).toMatchObject({ version })
      expect(error.fields.hint).toMatch(/./)
    }
  })

  test('no folder is left out', async () => {
    const known = PUBLIC_SETS.map((set) => join(root, set.folder))
    const roots = Object.keys(REFUSED_VERSIONS).map((folder) => join(root, folder))
    const others = (await foldersWithSSTables(root)).filter((folder) => {
      return !known.includes(folder) && !roots.some((start) => folder === start || folder.startsWith(`${start}/`))
    })
    expect(others).toEqual([])
  })
})
