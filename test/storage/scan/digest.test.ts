// Digests: of the bytes that the wire form of every row has, and the same for equal content, whatever files it comes from.

import { join } from 'node:path'
import { xxhash128 } from 'hash-wasm'
import { expect, test } from 'vitest'
import { shortenDecimal } from '../../../storage/rows/columns/equal-decimals.ts'
import { writeWireValue } from '../../../storage/rows/columns/wire.ts'
import { createWireBuffer } from '../../../storage/rows/columns/wire-buffer.ts'
import { Catalog } from '../../../storage/scan/catalog.ts'
import { digestTable } from '../../../storage/scan/digest.ts'
import type { PinnedTable } from '../../../storage/scan/pinned-table.ts'
import { openScan } from '../../../storage/scan/scan.ts'
import type { ScanRequest } from '../../../storage/scan/scan-request.ts'
import { type GoldenName, goldenMeta, goldenSet } from '../../corpus/golden.ts'

async function eachTable(set: GoldenName, use: (pinned: PinnedTable, name: string, now: number) => Promise<void>) {
  const meta = await goldenMeta(set)
  const catalog = await Catalog.open({ data: [join(await goldenSet(set), 'data')] })
  for (const name of Object.keys(meta.rows)) {
    const [keyspace, table] = name.split('.')
    const pinned = await catalog.pin(keyspace, table)
    try {
      await use(pinned, name, meta.now)
    } finally {
      await pinned.release()
    }
  }
  await catalog.close()
}

/** Every value on its own, in one piece, hashed at once. */
async function plainDigest(pinned: PinnedTable, request: ScanRequest): Promise<string> {
  const scan = await openScan(pinned, request)
  const out = createWireBuffer()
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
    for (let row = 0; row < batch.rows; row++) {
      for (const column of batch.columns) {
        const at = out.length
        writeWireValue(column, row, out)
        const { type, column: of } = column.field
        if (type.kind === 'decimal' && of?.kind === 'clustering') shortenDecimal(out, at)
      }
    }
  }
  await scan.close()
  return xxhash128(out.bytes.subarray(0, out.length))
}

test.each(['me', 'nb-5.0', 'da', 'da-codecs'] as const)(
  '%s: the digest is the hash of all wire values, however batches are cut',
  async (set) => {
    await eachTable(set, async (pinned, name, now) => {
      const expected = await plainDigest(pinned, { now })
      for (const batchRows of [7, undefined]) {
        const { digest } = await digestTable(pinned, { now, batchRows })
        expect(digest, `${name} ${batchRows}`).toBe(expected)
      }
    })
  },
  120_000,
)

/** Content that depends on the release that wrote it (test/oracle/README.md), and columns that only 5.0 has. */
const DIFFERING = new Set(['golden.ties', 'golden.ttl_at_now', 'golden.ttl', 'golden.types_nested'])

test('sets of one content have one digest in every format', async () => {
  const digests = new Map<string, Map<string, string>>()
  for (const set of ['me', 'nb', 'nb-5.0', 'oa', 'da'] as const) {
    await eachTable(set, async (pinned, name, now) => {
      if (!name.startsWith('golden.') || DIFFERING.has(name)) return
      const { digest } = await digestTable(pinned, { now })
      digests.set(name, (digests.get(name) ?? new Map()).set(set, digest))
    })
  }
  const differing = [...digests].filter(([, of]) => new Set(of.values()).size > 1)
  expect(differing.map(([name, of]) => [name, ...of])).toEqual([])
  expect(digests.size).toBeGreaterThan(60)
}, 120_000)
