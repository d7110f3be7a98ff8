// A table as JSON: what GET /v1/keyspaces/{ks}/tables/{t} and `sluice schema --format json` show.

import { isSluiceError } from '../storage/errors.ts'
import type { Field } from '../storage/rows/batch.ts'
import { formatCqlType } from '../storage/schema/cql-type-text.ts'
import type { ColumnSchema, TableSchema } from '../storage/schema/table.ts'
import { selectOrder } from '../storage/schema/table.ts'
import { arrowTypeName } from './arrow-type-name.ts'
import { currentSecond } from './instant.ts'
import type { PinnedSource, SSTableInfo } from './source.ts'

export interface ColumnDescription {
  name: string
  kind: ColumnSchema['kind']
  /** 0-based within partition key or clustering; null for the others. */
  position: number | null
  order: 'asc' | 'desc' | null
  cql_type: string
  /** As pyarrow prints it; null where the table cannot be exported. */
  arrow_type: string | null
}

export interface SSTableDescription {
  id: string
  version: string
  file: string
  codec: string | null
  bytes: number
  data_bytes: number
  rows: number
  partitions: number
  min_timestamp: string
  max_timestamp: string
  level: number
}

export interface TableDescription {
  keyspace: string
  table: string
  id: string | null
  /** Where the schema comes from. */
  origin: TableSchema['origin']
  partitioner: string
  columns: ColumnDescription[]
  /** Sums over the SSTables: rows and partitions that several hold count several times. */
  totals: { sstables: number; bytes: number; data_bytes: number; rows: number; partitions: number }
  sstables: SSTableDescription[]
  /** Why the table cannot be exported; absent where it can. */
  refused?: { code: string; detail: string }
  warnings: string[]
}

export async function describeTable(pinned: PinnedSource): Promise<TableDescription> {
  const { schema, partitioner } = pinned
  const { fields, refused } = await exportedFields(pinned)
  const sstables = pinned.sstables.map(describeSSTable)
  return {
    keyspace: schema.keyspace,
    table: schema.table,
    id: schema.id ?? null,
    origin: schema.origin,
    partitioner,
    columns: selectOrder(schema).map((column) => describeColumn(column, fields)),
    totals: {
      sstables: sstables.length,
      bytes: sum(sstables, 'bytes'),
      data_bytes: sum(sstables, 'data_bytes'),
      rows: sum(sstables, 'rows'),
      partitions: sum(sstables, 'partitions'),
    },
    sstables,
    ...(refused === undefined ? {} : { refused }),
    warnings: schema.warnings,
  }
}

/** The fields that a stream of the whole table has. A table that is refused still has a schema to show. */
async function exportedFields(
  pinned: PinnedSource,
): Promise<{ fields: Field[]; refused?: TableDescription['refused'] }> {
  try {
    const scan = await pinned.scan({ now: currentSecond(), limit: 0 })
    const { fields } = scan.schema
    await scan.close()
    return { fields }
  } catch (error) {
    if (!isSluiceError(error) || !error.code.startsWith('UNSUPPORTED_')) throw error
    return { fields: [], refused: { code: error.code, detail: error.message } }
  }
}

function describeColumn(column: ColumnSchema, fields: readonly Field[]): ColumnDescription {
  const field = fields.find(({ name }) => name === column.name)
  const isKey = column.kind === 'partition_key' || column.kind === 'clustering'
  return {
    name: column.name,
    kind: column.kind,
    position: isKey ? column.position : null,
    order: column.kind === 'clustering' ? (column.reversed ? 'desc' : 'asc') : null,
    cql_type: formatCqlType(column.type),
    arrow_type: field === undefined ? null : arrowTypeName(field),
  }
}

function describeSSTable(sstable: SSTableInfo): SSTableDescription {
  const { id, version, file, codec, bytes, dataBytes, rows, partitions, minTimestamp, maxTimestamp, level } = sstable
  return {
    id,
    version,
    file,
    codec,
    bytes,
    data_bytes: dataBytes,
    rows,
    partitions,
    min_timestamp: minTimestamp,
    max_timestamp: maxTimestamp,
    level,
  }
}

function sum(sstables: readonly SSTableDescription[], key: 'bytes' | 'data_bytes' | 'rows' | 'partitions'): number {
  return sstables.reduce((total, sstable) => total + sstable[key], 0)
}
