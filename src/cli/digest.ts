// `sluice digest`: what the rows of a table hash to, to tell whether two copies of it hold the same.

import { digestRows, digestSplits } from '../digest-rows.ts'
import { formatCount } from '../format-numbers.ts'
import { DEFAULT_FORMAT } from '../formats.ts'
import { currentSecond } from '../instant.ts'
import { parseTableName } from '../names.ts'
import { openSource } from '../open-source.ts'
import { DIGEST_PARAMETERS, scanRequest } from '../parameters.ts'
import type { DataFlags } from './options.ts'
import { parameterValues, sourceOptions } from './options.ts'
import { print } from './print.ts'

export interface DigestFlags extends DataFlags {
  format: string
}

export async function showDigest(tableName: string, flags: DigestFlags): Promise<void> {
  const values = parameterValues(DIGEST_PARAMETERS, flags as unknown as Record<string, unknown>)
  const { keyspace, table } = parseTableName(tableName)
  const now = values.now ?? currentSecond()
  const source = await openSource(sourceOptions(flags))
  try {
    const pinned = await source.pin(keyspace, table)
    try {
      const asked = scanRequest(values, DEFAULT_FORMAT, now)
      if (values.splits === undefined) {
        const answer = await digestRows(pinned, asked)
        if (flags.format === 'json') return await print(`${JSON.stringify({ ...answer, now })}\n`)
        return await print(`${answer.digest}  ${formatCount(answer.rows)} rows\n`)
      }
      const splits = await digestSplits(pinned, asked, values.splits)
      if (flags.format === 'json') return await print(`${JSON.stringify({ splits, now })}\n`)
      const lines = splits.map(({ digest, rows, from, to }) => `${digest} ${from ?? '-'} ${to ?? '-'} ${rows}\n`)
      await print(lines.join(''))
    } finally {
      await pinned.release()
    }
  } finally {
    await source.close()
  }
}
