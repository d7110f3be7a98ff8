// Writes Arrow streams and files of random batches, each with a JSON file that says what is in it, for arrow_roundtrip.py.
//   node --import tsx test/clients/arrow-cases.ts OUT [SEED] [CASES]

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { arrowFileExporter, arrowStreamExporter } from '../../exporters/arrow/arrow.ts'
import { COMPRESSIONS } from '../../exporters/compression.ts'
import { exportBytes } from '../exporters/collect.ts'
import { randomCase } from './random-case.ts'

const [out, seed = '1', cases = '60'] = process.argv.slice(2)
if (out === undefined) throw new Error('usage: arrow-cases.ts OUT [SEED] [CASES]')
mkdirSync(out, { recursive: true })

for (let n = 0; n < Number(cases); n++) {
  const { schema, batches, expected } = randomCase(Number(seed), n)
  const compression = COMPRESSIONS[n % 3]
  const exporter = n % 2 === 1 ? arrowFileExporter({ compression }) : arrowStreamExporter({ compression })
  const file = `case${n}${exporter.extension}`
  writeFileSync(join(out, file), await exportBytes(exporter, schema, batches))
  writeFileSync(join(out, `case${n}.json`), JSON.stringify({ file, compression, ...expected }))
}
