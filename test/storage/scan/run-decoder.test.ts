// The specialised run decoders against the plain decoder: the same batches, to the byte, over every golden table.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Catalog } from '../../../storage/scan/catalog.ts'
import type { ScanRequest } from '../../../storage/scan/scan-request.ts'
import { goldenMeta, goldenSet } from '../../corpus/golden.ts'
import { readBatches } from './batches.ts'

const DECADE = 10 * 365 * 86_400

test.each(['me', 'nb', 'da', 'da-codecs'] as const)(
  '%s: run decoders give the same batches as the plain decoder',
  async (set) => {
    const directory = await goldenSet(set)
    const meta = await goldenMeta(set)
    const catalog = await Catalog.open({ data: [join(directory, 'data')] })
    for (const name of Object.keys(meta.rows)) {
      const [keyspace, table] = name.split('.')
      const pinned = await catalog.pin(keyspace, table)
      for (const [batchRows, later] of [
        [7, 0],
        [256, 0],
        [256, DECADE], // TTLs are over
      ]) {
        const request: ScanRequest = { now: meta.now + later, batchRows, batchBytes: batchRows * 64 }
        const fast = await readBatches(pinned, request)
        const plain = await readBatches(pinned, { ...request, plainDecoder: true })
        expect(fast, name).toEqual(plain)
      }
      await pinned.release()
    }
  },
)
