// `sluice splits`: parts of a table for many readers, as lines to loop over or as JSON.

import { parseTableName } from '../names.ts'
import { openSource } from '../open-source.ts'
import { SPLITS_PARAMETERS } from '../parameters.ts'
import type { DataFlags } from './options.ts'
import { parameterValues, sourceOptions } from './options.ts'
import { print } from './print.ts'

export interface SplitsFlags extends DataFlags {
  format: string
}

export async function showSplits(tableName: string, flags: SplitsFlags): Promise<void> {
  const { start, end, where, count, target_bytes } = parameterValues(
    SPLITS_PARAMETERS,
    flags as unknown as Record<string, unknown>,
  )
  const { keyspace, table } = parseTableName(tableName)
  const source = await openSource(sourceOptions(flags))
  try {
    const pinned = await source.pin(keyspace, table)
    try {
      const splits = await pinned.splits({ start, end, where, count, targetBytes: target_bytes })
      if (flags.format === 'json') return await print(`${JSON.stringify({ splits }, undefined, 2)}\n`)
      // `-` for an open end, so that every line has the same fields.
      const lines = splits.map((s) =>
        [s.from ?? '-', s.to ?? '-', s.bytes, s.partitions, s.start ?? '-', s.end ?? '-'].join('\t'),
      )
      await print(`# from\tto\tbytes\tpartitions\tstart\tend\n${lines.map((line) => `${line}\n`).join('')}`)
    } finally {
      await pinned.release()
    }
  } finally {
    await source.close()
  }
}
