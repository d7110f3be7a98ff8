// Scans golden tables and writes their Arrow streams, each with its digest, for digest_check.py.
//   node --import tsx test/clients/digest-cases.ts OUT

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createExporter } from '../../exporters/formats.ts'
import { Catalog } from '../../storage/scan/catalog.ts'
import { digestTable } from '../../storage/scan/digest.ts'
import { openScan } from '../../storage/scan/scan.ts'
import { goldenMeta, goldenSet } from '../corpus/golden.ts'

const [out] = process.argv.slice(2)
if (out === undefined) throw new Error('usage: digest-cases.ts OUT')

for (const set of ['da'] as const) {
  const { rows, now } = await goldenMeta(set)
  const catalog = await Catalog.open({ data: [join(await goldenSet(set), 'data')] })
  mkdirSync(join(out, set), { recursive: true })
  for (const name of Object.keys(rows)) {
    const [keyspace, table] = name.split('.')
    const pinned = await catalog.pin(keyspace, table)
    const { digest, emptyValues, rows } = await digestTable(pinned, { now })
    const scan = await openScan(pinned, { now, batchRows: 500 })
    const exporter = createExporter('arrows')
    const parts: Uint8Array[] = []
    for await (const part of exporter.head(scan.schema)) parts.push(part)
    for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
      for await (const part of exporter.batch(batch)) parts.push(Uint8Array.from(part))
      batch.release()
    }
    for await (const part of exporter.tail()) parts.push(part)
    await scan.close()
    await pinned.release()
    writeFileSync(join(out, set, `${name}.arrows`), Buffer.concat(parts))
    writeFileSync(join(out, set, `${name}.json`), JSON.stringify({ digest, emptyValues, rows }))
  }
}
