// What a server counts, for Prometheus. Names begin with sluice_, units are bytes and seconds.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { ScanStats } from '../../storage/scan/scan-request.ts'
import type { ExportStore } from '../exports/export-store.ts'
import type { Admission } from './admission.ts'

/** Why a stream stood still: its scan had no batch ready, its client did not read, a rate limit, the queue. */
export type StallCause = 'scan' | 'client' | 'rate' | 'queue'

export interface StreamMetrics {
  readBytes: Counter
  rows: Counter
  batches: Counter
  stalled(cause: StallCause, ms: number): void
  /** Takes over what a scan has cost since it was last told. */
  scanned(stats: ScanStats, told: ScanStats): void
}

export interface Metrics extends StreamMetrics {
  registry: Registry
  sentBytes: Counter<'format'>
  /** By how they ended: whole, cut (failed after the first byte), left (the client went), refused. */
  streams: Counter<'outcome'>
  errors: Counter<'code'>
  firstByteSeconds: Histogram
  streamSeconds: Histogram
}

/** Counters of scans by what they are in ScanStats, each with its metric. */
const OF_SCANS = {
  chunksInflated: ['sluice_chunks_inflated_total', 'Chunks of Data.db checked and inflated'],
  indexBlocksDecoded: ['sluice_index_blocks_decoded_total', "Entries of wide partitions' indexes decoded"],
  filterChecks: ['sluice_filter_checks_total', 'Keys looked for in bloom filters'],
  filterRejections: ['sluice_filter_rejections_total', 'Keys that a bloom filter kept from being looked up'],
  sstablesRead: ['sluice_sstables_read_total', 'SSTables of which a scan read Data.db'],
  sstablesPruned: ['sluice_sstables_pruned_total', 'SSTables left out of a scan by their statistics'],
  partitionsVisited: ['sluice_partitions_visited_total', 'Partitions looked at'],
  partitionsEmitted: ['sluice_partitions_emitted_total', 'Partitions of which a row was emitted'],
  rowsVisited: ['sluice_rows_visited_total', 'Rows looked at, live or not'],
  rowsEmitted: ['sluice_rows_emitted_total', 'Rows emitted by scans'],
} as const satisfies Partial<Record<keyof ScanStats, readonly [name: string, help: string]>>

/** Bytes read by the component that they were read of, and the label that stands for it. */
const OF_COMPONENTS = {
  dataBytesRead: 'data',
  chunkIndexBytesRead: 'chunk_index',
  summaryBytesRead: 'summary',
  partitionIndexBytesRead: 'partition_index',
  rowIndexBytesRead: 'row_index',
  filterBytesRead: 'filter',
} as const satisfies Partial<Record<keyof ScanStats, string>>

const SECONDS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300, 1800, 7200]

export function createMetrics(admission: Admission, exports: ExportStore): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  gauge('sluice_scans', 'Streams under way', () => admission.running)
  gauge('sluice_scans_waiting', 'Streams that wait for a place', () => admission.waiting)
  gauge('sluice_scans_limit', 'Streams that may be under way', () => admission.limits.maxScans)
  gauge('sluice_memory_bytes', 'Memory that streams have taken of the allowance', () => admission.memory.used)
  gauge('sluice_memory_limit_bytes', 'The allowance', () => admission.memory.total)
  gauge('sluice_exports', 'Exports there are', () => exports.totals.exports)
  gauge('sluice_export_pinned_bytes', 'Bytes of Data.db that exports pin', () => exports.totals.bytes)
  gauge('sluice_export_descriptors', 'Files that exports hold open', () => exports.totals.descriptors)
  const stalls = new Counter({
    name: 'sluice_stall_seconds_total',
    help: 'Time that streams stood still, by cause',
    labelNames: ['cause'],
    registers,
  })
  const ofScans = Object.entries(OF_SCANS).map(
    ([key, [name, help]]) => [key as keyof typeof OF_SCANS, counter(name, help)] as const,
  )
  const ofComponents = new Counter({
    name: 'sluice_component_read_bytes_total',
    help: 'Bytes read from disk by scans, by component of the SSTables',
    labelNames: ['component'],
    registers,
  })
  const components = Object.entries(OF_COMPONENTS) as [keyof typeof OF_COMPONENTS, string][]
  return {
    registry,
    scanned(stats, told) {
      for (const [key, metric] of ofScans) metric.inc(stats[key] - told[key])
      for (const [key, component] of components) ofComponents.inc({ component }, stats[key] - told[key])
    },
    readBytes: counter('sluice_read_bytes_total', 'Bytes read from disk by streams'),
    rows: counter('sluice_rows_total', 'Rows read by streams'),
    batches: counter('sluice_batches_total', 'Batches read by streams'),
    stalled: (cause, ms) => stalls.inc({ cause }, ms / 1000),
    sentBytes: new Counter({
      name: 'sluice_sent_bytes_total',
      help: 'Bytes of streams that sockets took, by format',
      labelNames: ['format'],
      registers,
    }),
    streams: new Counter({
      name: 'sluice_streams_total',
      help: 'Streams by how they ended: whole, cut, left, refused',
      labelNames: ['outcome'],
      registers,
    }),
    errors: new Counter({
      name: 'sluice_errors_total',
      help: 'Errors by their code',
      labelNames: ['code'],
      registers,
    }),
    firstByteSeconds: histogram('sluice_first_byte_seconds', 'From the request of a stream to its first byte'),
    streamSeconds: histogram('sluice_stream_seconds', 'From the request of a stream to its end'),
  }

  function gauge(name: string, help: string, value: () => number): void {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value())
      },
    })
  }
  function counter(name: string, help: string): Counter {
    return new Counter({ name, help, registers })
  }
  function histogram(name: string, help: string): Histogram {
    return new Histogram({ name, help, buckets: SECONDS, registers })
  }
}
