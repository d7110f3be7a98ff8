// `sluice tables`: the names to export by, one a line.

import { formatTableName } from '../names.ts'
import { openSource } from '../open-source.ts'
import type { DataFlags } from './options.ts'
import { sourceOptions } from './options.ts'
import { print } from './print.ts'

export interface TablesFlags extends DataFlags {
  format: string
}

export async function listTables(flags: TablesFlags): Promise<void> {
  const source = await openSource(sourceOptions(flags))
  try {
    const keyspaces = await source.keyspaces()
    if (flags.format === 'json') {
      return await print(`${JSON.stringify({ keyspaces })}\n`)
    }
    const lines = keyspaces.flatMap(({ name, tables }) =>
      tables.map((table) => formatTableName({ keyspace: name, table })),
    )
    await print(lines.map((line) => `${line}\n`).join(''))
  } finally {
    await source.close()
  }
}
