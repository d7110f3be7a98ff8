// Writes Parquet files of random batches, each with a JSON file that says what is in it, for parquet_roundtrip.py.
//   node --import tsx test/clients/parquet-cases.ts OUT [SEED] [CASES]

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMPRESSIONS } from '../../exporters/compression.ts'
import { parquetExporter } from '../../exporters/parquet/parquet.ts'
import { exportBytes } from '../exporters/collect.ts'
import { randomCase } from './random-case.ts'

const [out, seed = '1', cases = '40'] = process.argv.slice(2)
if (out === undefined) throw new Error('usage: parquet-cases.ts OUT [SEED] [CASES]')
mkdirSync(out, { recursive: true })

for (let n = 0; n < Number(cases); n++) {
  const { schema, batches, expected } = randomCase(Number(seed), n, new Set(['interval']))
  const compression = COMPRESSIONS[n % 3]
  const file = `case${n}.parquet`
  writeFileSync(join(out, file), await exportBytes(parquetExporter({ compression }), schema, batches))
  writeFileSync(join(out, `case${n}.json`), JSON.stringify({ file, compression, ...expected }))
}
