// `sluice schema`: one table as CQL with the Arrow type of each column, or as JSON.

import type { TableDescription } from '../describe-table.ts'
import { describeTable } from '../describe-table.ts'
import { formatBytes, formatCount } from '../format-numbers.ts'
import { parseTableName } from '../names.ts'
import { openSource } from '../open-source.ts'
import { tableCql } from '../table-cql.ts'
import type { DataFlags } from './options.ts'
import { sourceOptions } from './options.ts'
import { print } from './print.ts'

export interface SchemaFlags extends DataFlags {
  format: string
}

export async function showSchema(tableName: string, flags: SchemaFlags): Promise<void> {
  const { keyspace, table } = parseTableName(tableName)
  const source = await openSource(sourceOptions(flags))
  try {
    const pinned = await source.pin(keyspace, table)
    try {
      const description = await describeTable(pinned)
      const arrowTypes = new Map(description.columns.map((column) => [column.name, column.arrow_type]))
      await print(
        flags.format === 'json'
          ? `${JSON.stringify(description, undefined, 2)}\n`
          : `${tableCql(pinned.schema, (column) => arrowTypes.get(column.name) ?? undefined)}${remarks(description)}`,
      )
    } finally {
      await pinned.release()
    }
  } finally {
    await source.close()
  }
}

function remarks({ totals, sstables, partitioner, refused, warnings }: TableDescription): string {
  const versions = [...new Set(sstables.map(({ version }) => version))].sort().join(', ')
  const lines = [
    `SSTables: ${totals.sstables}${versions && ` (${versions})`}, ${formatBytes(totals.bytes)} on disk, ` +
      `${formatBytes(totals.data_bytes)} uncompressed, ${partitioner}`,
    `${formatCount(totals.partitions)} partitions and ${formatCount(totals.rows)} rows before they are merged`,
    ...(refused === undefined ? [] : [`not exported: ${refused.detail}`]),
    ...warnings.map((warning) => `warning: ${warning}`),
  ]
  return lines.map((line) => `-- ${line}\n`).join('')
}
