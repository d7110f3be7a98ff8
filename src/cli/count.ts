// `sluice count`: rows, partitions, tombstones and bytes of a table, or of a part of it.

import { countRows } from '../count-rows.ts'
import { formatBytes, formatCount } from '../format-numbers.ts'
import { DEFAULT_FORMAT } from '../formats.ts'
import { currentSecond } from '../instant.ts'
import { parseTableName } from '../names.ts'
import { openSource } from '../open-source.ts'
import { COUNT_PARAMETERS, scanRequest } from '../parameters.ts'
import type { DataFlags } from './options.ts'
import { parameterValues, sourceOptions } from './options.ts'
import { print } from './print.ts'

export interface CountFlags extends DataFlags {
  format: string
  stats?: boolean
}

export async function showCount(tableName: string, flags: CountFlags): Promise<void> {
  const values = parameterValues(COUNT_PARAMETERS, flags as unknown as Record<string, unknown>)
  const { keyspace, table } = parseTableName(tableName)
  const source = await openSource(sourceOptions(flags))
  try {
    const pinned = await source.pin(keyspace, table)
    try {
      const asked = scanRequest(values, DEFAULT_FORMAT, values.now ?? currentSecond())
      const { count, stats } = await countRows(pinned, asked)
      if (flags.stats) process.stderr.write(`${JSON.stringify(stats)}\n`)
      if (flags.format === 'json') return await print(`${JSON.stringify(count)}\n`)
      await print(
        `rows ${formatCount(count.rows)}\npartitions ${formatCount(count.partitions)}\n` +
          `tombstones ${formatCount(count.tombstones)}\nbytes ${formatBytes(count.bytes)}\n`,
      )
    } finally {
      await pinned.release()
    }
  } finally {
    await source.close()
  }
}
