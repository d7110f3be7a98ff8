// Scans the golden tables and writes them for golden_values.py: Arrow of every table whose wire bytes are known, Parquet of some.
//   node --import tsx test/clients/golden-export.ts OUT

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createExporter, type Format } from '../../exporters/formats.ts'
import type { Batch } from '../../storage/rows/batch.ts'
import { Catalog } from '../../storage/scan/catalog.ts'
import type { PinnedTable } from '../../storage/scan/pinned-table.ts'
import { openScan } from '../../storage/scan/scan.ts'
import type { Scan, ScanRequest } from '../../storage/scan/scan-request.ts'
import { selectOrder } from '../../storage/schema/table.ts'
import { GOLDEN_NAMES, goldenMeta, goldenSet } from '../corpus/golden.ts'

/** 3.11 breaks ties of equal timestamps by another rule than 4.0 and later, and ours. */
const NOT_COMPARED = new Set(['me golden.ties'])

const PARQUET = new Set([
  'golden.types_scalar',
  'golden.types_nested',
  'golden.types_empty',
  'golden.static_rows',
  'golden.counters',
  'golden.wide',
])

const [out] = process.argv.slice(2)
if (out === undefined) throw new Error('usage: golden-export.ts OUT')

for (const set of GOLDEN_NAMES) {
  const directory = await goldenSet(set)
  const { rows, now } = await goldenMeta(set)
  const catalog = await Catalog.open({ data: [join(directory, 'data')] })
  mkdirSync(join(out, set), { recursive: true })
  for (const name of Object.keys(rows)) {
    const raw = join(directory, 'expected', `${name}.raw.ndjson`)
    if (!existsSync(raw) || NOT_COMPARED.has(`${set} ${name}`)) continue
    const [keyspace, table] = name.split('.')
    const pinned = await catalog.pin(keyspace, table)
    const base = join(out, set, name)
    await write(pinned, 'arrows', { now, batchRows: 50 }, `${base}.arrows`)
    if (set === 'da' && PARQUET.has(name))
      await write(pinned, 'parquet', { now, duration: 'struct' }, `${base}.parquet`)
    const columns = selectOrder(pinned.schema).map((column) => ({ name: column.name, type: column.type }))
    writeFileSync(`${base}.json`, JSON.stringify({ raw, columns }))
    await pinned.release()
  }
}

async function write(pinned: PinnedTable, format: Format, request: ScanRequest, file: string): Promise<void> {
  const scan = await openScan(pinned, request)
  const exporter = createExporter(format)
  const parts: Uint8Array[] = []
  for await (const part of exporter.head(scan.schema)) parts.push(part)
  for await (const batch of batches(scan)) {
    // Copied, because the scan fills the same buffers again.
    for await (const part of exporter.batch(batch)) parts.push(Uint8Array.from(part))
    batch.release()
  }
  for await (const part of exporter.tail()) parts.push(part)
  await scan.close()
  writeFileSync(file, Buffer.concat(parts))
}

async function* batches(scan: Scan): AsyncGenerator<Batch> {
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) yield batch
}
