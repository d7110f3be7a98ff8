// The tables of test/oracle/cases.py: written by a real Cassandra of each format, with what it answered over them.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Catalog } from '../../storage/scan/catalog.ts'
import type { PinnedTable } from '../../storage/scan/pinned-table.ts'
import type { ScanRequest } from '../../storage/scan/scan-request.ts'
import { type Expected, ndjsonOf, readExpected, shapeOfTable } from '../corpus/compare-table.ts'
import { goldenMeta, goldenSet } from '../corpus/golden.ts'
import { ndjsonDifference } from '../corpus/json.ts'

export type CaseFormat = 'da' | 'nb' | 'me'
export type Row = Record<string, unknown>

export interface CaseTable {
  format: CaseFormat
  pinned: PinnedTable
  /** Epoch seconds at which Cassandra was asked. */
  now: number
  answered: Expected
  /** NDJSON lines, and the rows parsed from them. */
  lines(request?: Partial<ScanRequest>): Promise<string[]>
  rows(request?: Partial<ScanRequest>): Promise<Row[]>
}

/**
 * A test over one table in every format. All rows are first held against what Cassandra answered; `check` tells what in them
 * the case is about. `ownRules`: formats whose Cassandra answers by rules that later ones changed; the later ones are followed.
 */
export function testCase(
  name: string,
  table: string,
  check: (table: CaseTable) => Promise<void>,
  ownRules: readonly CaseFormat[] = [],
): void {
  test.each(['da', 'nb', 'me'] as const)(`${name} (%s)`, async (format) => {
    const set = `cases-${format}` as const
    const directory = await goldenSet(set)
    const { now } = await goldenMeta(set)
    const catalog = await Catalog.open({ data: [join(directory, 'data')] })
    const pinned = await catalog.pin('cases', table)
    try {
      const answered = readExpected(join(directory, 'expected'), `cases.${table}`)
      const lines: CaseTable['lines'] = (request) => ndjsonOf(pinned, { now, ...request })
      const rows: CaseTable['rows'] = async (request) => (await lines(request)).map((line) => JSON.parse(line) as Row)
      if (!ownRules.includes(format)) {
        expect(ndjsonDifference(answered.ndjson, await lines(), shapeOfTable(pinned))).toBeUndefined()
      }
      await check({ format, pinned, now, answered, lines, rows })
    } finally {
      await pinned.release()
      await catalog.close()
    }
  })
}
