// `sluice verify`: reads every SSTable of a table whole, with every check there is, and tells of each what is wrong with it.

import { isSluiceError, SluiceError } from '../../storage/errors.ts'
import { Catalog } from '../../storage/scan/catalog.ts'
import { type SSTableReport, verifyTable } from '../../storage/scan/verify.ts'
import { formatBytes, formatCount } from '../format-numbers.ts'
import { parseTableName } from '../names.ts'
import { type DataFlags, sourceOptions } from './options.ts'
import { print } from './print.ts'

export interface VerifyFlags extends DataFlags {
  format: string
}

/** @throws SluiceError CORRUPT_SSTABLE, behind the report, when an SSTable has a fault; its exit code says so */
export async function verify(tableName: string, flags: VerifyFlags): Promise<void> {
  const { keyspace, table } = parseTableName(tableName)
  const catalog = await Catalog.open(sourceOptions(flags))
  try {
    const schema = await catalog.table(keyspace, table)
    const reports = await verifyTable(schema, await catalog.directories(keyspace, table))
    await print(
      flags.format === 'json' ? `${JSON.stringify(reports.map(plain), null, 1)}\n` : reports.map(text).join(''),
    )
    const damaged = reports.filter((report) => report.faults.length > 0)
    if (damaged.length > 0) {
      const reason = `${damaged.length} of ${reports.length} SSTables`
      throw new SluiceError('CORRUPT_SSTABLE', { keyspace, table, reason })
    }
  } finally {
    await catalog.close()
  }
}

function text({ id, dataFileLength, partitions, rows, cells, checked, faults }: SSTableReport): string {
  const contents = `${formatCount(partitions)} partitions, ${formatCount(rows)} rows, ${formatCount(cells)} cells`
  const lines = [`${id}: ${formatBytes(dataFileLength)}, ${contents}; checked ${checked.join(', ')}`]
  for (const { check, error } of faults) lines.push(`  ${check}: ${error.code} ${error.message}`)
  return `${lines.join('\n')}\n`
}

function plain(report: SSTableReport): object {
  const faults = report.faults.map(({ check, error }) => ({
    check,
    code: isSluiceError(error) ? error.code : 'INTERNAL',
    fields: error.fields,
  }))
  return { ...report, faults }
}
