import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Catalog } from '../../../storage/scan/catalog.ts'
import { type SSTableReport, verifyTable } from '../../../storage/scan/verify.ts'
import type { TableSchema } from '../../../storage/schema/table.ts'
import { GOLDEN_NAMES, type GoldenName, goldenSet } from '../../corpus/golden.ts'

async function catalogOf(set: GoldenName): Promise<Catalog> {
  return Catalog.open({ data: [join(await goldenSet(set), 'data')] })
}

// Strict equality with all totals of Statistics.db, over SSTables that a node wrote, its own tables among them.
test.each(GOLDEN_NAMES)('every SSTable of golden set %s is whole', async (set) => {
  const catalog = await catalogOf(set)
  let sstables = 0
  const faults: string[] = []
  for (const { name, tables } of await catalog.keyspaces()) {
    for (const table of tables) {
      // Tables of the node that CQL cannot describe have no schema.
      const schema = await catalog.table(name, table).catch(() => undefined)
      if (schema === undefined) continue
      for (const report of await verifyTable(schema, await catalog.directories(name, table))) {
        sstables++
        expect(report.checked).toEqual(['open', 'digest', 'data', 'totals', 'index'])
        for (const { check, error } of report.faults) faults.push(`${name}.${table} ${report.id}: ${check} ${error}`)
      }
    }
  }
  expect(faults).toEqual([])
  expect(sstables).toBeGreaterThan(20)
})

describe('damage', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-verify-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  async function copy(set: GoldenName, table: string): Promise<TableSchema> {
    const catalog = await catalogOf(set)
    const [directory] = await catalog.directories('golden', table)
    const entries = await readdir(directory, { withFileTypes: true })
    for (const { name } of entries.filter((e) => e.isFile())) await copyFile(join(directory, name), join(folder, name))
    return catalog.table('golden', table)
  }

  async function nameOf(component: string, which = 0): Promise<string> {
    return (await readdir(folder)).filter((name) => name.endsWith(`-${component}`)).sort()[which]
  }

  async function edit(component: string, change: (bytes: Buffer) => void): Promise<string> {
    const name = await nameOf(component)
    const bytes = await readFile(join(folder, name))
    change(bytes)
    await writeFile(join(folder, name), bytes)
    return name.slice(0, -component.length - 1)
  }

  function faultsOf(reports: SSTableReport[], id: string): string[] {
    for (const report of reports) if (report.id !== id) expect(report.faults).toEqual([])
    return reports.find((report) => report.id === id)!.faults.map(({ check, error }) => `${check} ${error.code}`)
  }

  test.each(['me', 'nb', 'oa', 'da'] as const)('of Data.db is found by digest and chunk (%s)', async (set) => {
    const schema = await copy(set, 'deletions')
    const id = await edit('Data.db', (bytes) => {
      bytes[bytes.length >> 1] ^= 1
    })
    expect(faultsOf(await verifyTable(schema, [folder]), id)).toEqual([
      'digest CHECKSUM_MISMATCH',
      'data CHECKSUM_MISMATCH',
    ])
  })

  test('of Digest.crc32 is found', async () => {
    const schema = await copy('da', 'deletions')
    const id = await edit('Digest.crc32', (bytes) => {
      bytes[0] = bytes[0] === 0x31 ? 0x32 : 0x31
    })
    expect(faultsOf(await verifyTable(schema, [folder]), id)).toEqual(['digest CHECKSUM_MISMATCH'])
  })

  test('of Statistics.db is found where it has a checksum', async () => {
    const schema = await copy('nb', 'deletions')
    const id = await edit('Statistics.db', (bytes) => {
      bytes[bytes.length - 20] ^= 1
    })
    expect(faultsOf(await verifyTable(schema, [folder]), id)).toEqual(['open CHECKSUM_MISMATCH'])
  })

  test('Statistics.db of another SSTable is found by its totals or timestamps', async () => {
    const schema = await copy('nb', 'deletions')
    const [first, second] = [await nameOf('Statistics.db', 0), await nameOf('Statistics.db', 1)]
    await copyFile(join(folder, second), join(folder, first))
    const faults = faultsOf(await verifyTable(schema, [folder]), first.replace('-Statistics.db', ''))
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatch(/^(data|totals) CORRUPT_SSTABLE$/)
  })

  test.each(['me', 'nb', 'oa'] as const)('of Index.db is found (%s)', async (set) => {
    const schema = await copy(set, 'wide')
    const id = await edit('Index.db', (bytes) => {
      bytes[2] ^= 1
    })
    expect(faultsOf(await verifyTable(schema, [folder]), id)).toEqual(['index CORRUPT_SSTABLE'])
  })

  test('of a row index is found', async () => {
    const schema = await copy('da', 'wide')
    const id = await edit('Rows.db', (bytes) => {
      bytes.fill(0, 100, 400)
    })
    expect(faultsOf(await verifyTable(schema, [folder]), id)).toEqual(['index CORRUPT_SSTABLE'])
  })

  test('of the filter is found', async () => {
    const schema = await copy('da', 'deletions')
    const id = await edit('Filter.db', (bytes) => {
      bytes.fill(0, 8)
    })
    expect(faultsOf(await verifyTable(schema, [folder]), id)).toEqual(['index CORRUPT_SSTABLE'])
  })

  test('a missing component is found', async () => {
    const schema = await copy('da', 'deletions')
    const name = await nameOf('Statistics.db')
    await rm(join(folder, name))
    expect(faultsOf(await verifyTable(schema, [folder]), name.replace('-Statistics.db', ''))).toEqual([
      'open MISSING_COMPONENT',
    ])
  })

  test('progress is told, and an abort ends it', async () => {
    const schema = await copy('nb', 'wide')
    const sizes = await Promise.all(
      (await readdir(folder)).filter((name) => name.endsWith('-Data.db')).map((name) => readFile(join(folder, name))),
    )
    let told = 0
    await verifyTable(schema, [folder], { onBytes: (bytes) => (told += bytes) })
    expect(told).toBe(2 * sizes.reduce((total, bytes) => total + bytes.length, 0))
    const aborted = verifyTable(schema, [folder], { signal: AbortSignal.abort() })
    await expect(aborted).rejects.toMatchObject({ code: 'CANCELLED' })
  })
})
