// `sluice inspect`: what SSTables say of themselves, by the files of any of their components. Needs no schema.

import { readdir } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { SluiceError } from '../../storage/errors.ts'
import { groupSSTables, parseComponentName } from '../../storage/sstable/descriptor.ts'
import { type Inspection, inspectSSTable } from '../../storage/sstable/inspection.ts'
import { openSSTable, type SSTable } from '../../storage/sstable/sstable.ts'
import { formatBytes, formatCount } from '../format-numbers.ts'
import { print } from './print.ts'

export interface InspectFlags {
  format: string
  largest: string
}

export async function inspect(files: readonly string[], flags: InspectFlags): Promise<void> {
  const largest = /^\d{1,4}$/.test(flags.largest) ? Number(flags.largest) : Number.NaN
  if (!(largest <= 1000)) {
    throw new SluiceError('BAD_PARAMETER', { parameter: 'largest', value: flags.largest, expected: '0 to 1000' })
  }
  const inspections: Inspection[] = []
  for (const file of files) {
    const sstable = await openByFile(file)
    try {
      const inspection = await inspectSSTable(sstable, largest)
      if (flags.format === 'json') inspections.push(inspection)
      else await print(text(inspection))
    } finally {
      sstable.close()
    }
  }
  if (flags.format === 'json') await print(`${JSON.stringify({ sstables: inspections }, undefined, 2)}\n`)
}

async function openByFile(file: string): Promise<SSTable> {
  const parsed = parseComponentName(basename(file))
  if (parsed === null) {
    throw new SluiceError('BAD_PARAMETER', {
      parameter: 'file',
      value: file,
      expected: 'a component of an SSTable, such as nb-1-big-Data.db',
    })
  }
  const directory = dirname(file)
  const names = await readdir(directory).catch((error: Error) => {
    throw new SluiceError('DATA_DIRECTORY', { file: directory, reason: error.message }, error)
  })
  const files = groupSSTables(directory, names).find(({ descriptor }) => descriptor.prefix === parsed.prefix)
  if (files === undefined) throw new SluiceError('MISSING_COMPONENT', { file })
  return openSSTable(files)
}

function text(i: Inspection): string {
  const lines: string[] = [i.file]
  const line = (name: string, value: unknown) => lines.push(`  ${`${name}:`.padEnd(32)}${value ?? '-'}`)
  const keyed = (key: { key: string; token: string | null } | null) =>
    key && `${key.key} (token ${key.token ?? 'none'})`
  line('version', `${i.version} (${i.format})`)
  line('partitioner', i.partitioner)
  line('size', `${formatBytes(i.bytes)}, ${formatBytes(i.data_bytes)} uncompressed`)
  const { compression } = i
  line(
    'compression',
    compression && `${compression.codec}, chunks of ${compression.chunk_length} bytes, ratio ${compression.ratio}`,
  )
  line('bloom filter fp chance', i.bloom_filter_fp_chance)
  line('write times', `${micros(i.min_timestamp)} to ${micros(i.max_timestamp)}`)
  line('local deletion times', `${seconds(i.min_local_deletion_time)} to ${seconds(i.max_local_deletion_time)}`)
  line('TTLs', `${i.min_ttl} to ${i.max_ttl}`)
  line('level', i.level)
  line('repaired at', i.repaired_at)
  line('pending repair', i.pending_repair)
  line('transient', i.transient)
  line('originating host', i.originating_host_id)
  line('first key', keyed(i.first_key))
  line('last key', keyed(i.last_key))
  line('token space coverage', i.token_space_coverage)
  line('covered clusterings', i.covered_clusterings && JSON.stringify(i.covered_clusterings))
  line('partition deletions', i.has_partition_level_deletions)
  line('legacy counter shards', i.has_legacy_counter_shards)
  line('partitions', formatCount(i.partitions))
  line('rows, cells', `${i.rows}, ${i.cells}`)
  line('partition bytes', percentiles(i.partition_bytes))
  line('cells per partition', percentiles(i.partition_cells))
  line(
    'tombstone drop times',
    i.tombstone_drop_times.map(({ time, count }) => `${seconds(time)}: ${count}`).join(', ') || null,
  )
  line('partition key', i.header.key_type)
  line('clustering', i.header.clustering_types.join(', ') || null)
  for (const [name, columns] of [
    ['static columns', i.header.static_columns],
    ['columns', i.header.regular_columns],
  ] as const) {
    line(name, columns.map((c) => `${c.name} ${c.cql_type}`).join(', ') || null)
  }
  line('components', i.components.join(' '))
  for (const partition of i.largest_partitions) line('large partition', `${partition.bytes} bytes, ${keyed(partition)}`)
  return `${lines.join('\n')}\n`
}

function percentiles({ percentiles: p }: Inspection['partition_bytes']): string | null {
  return p && `50% up to ${p.p50}, 75% ${p.p75}, 95% ${p.p95}, 98% ${p.p98}, 99% ${p.p99}, all ${p.max}`
}

function micros(value: string): string {
  const ms = Number(BigInt(value) / 1000n)
  return Math.abs(ms) <= 8.64e15 ? `${value} (${new Date(ms).toISOString()})` : value
}

function seconds(value: number | null): string {
  if (value === null) return 'none'
  return Math.abs(value) <= 8.64e12 ? `${value} (${new Date(value * 1000).toISOString()})` : String(value)
}
