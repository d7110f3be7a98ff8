// Where the golden sets lie, and the columns and expected rows of some of their tables, for Python tests against a server over them.
//   node --import tsx test/clients/golden-types.ts SET TABLE...    ->  JSON: {data, now, tables: {TABLE: {raw?, rows, columns: [{name, type}]}}}

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Catalog } from '../../storage/scan/catalog.ts'
import { selectOrder } from '../../storage/schema/table.ts'
import { type GoldenName, goldenMeta, goldenSet } from '../corpus/golden.ts'

const [set, ...tables] = process.argv.slice(2)
if (tables.length === 0) throw new Error('usage: golden-types.ts SET TABLE...')

const directory = await goldenSet(set as GoldenName)
const { now } = await goldenMeta(set as GoldenName)
const data = join(directory, 'data')
const catalog = await Catalog.open({ data: [data] })
const described: Record<string, object> = {}
for (const name of tables) {
  const [keyspace, table] = name.split('.')
  const schema = await catalog.table(keyspace, table)
  const expected = (suffix: string) => join(directory, 'expected', `${name}.${suffix}`)
  described[name] = {
    // Wire bytes; where there are none the node's own JSON.
    raw: existsSync(expected('raw.ndjson')) ? expected('raw.ndjson') : undefined,
    rows: expected('ndjson'),
    columns: selectOrder(schema).map((column) => ({ name: column.name, type: column.type })),
  }
}
await catalog.close()
console.log(JSON.stringify({ data, now, tables: described }))
