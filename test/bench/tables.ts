// Markdown of measurements: a table per dataset, all datasets side by side, and the ratios against the targets.

import { DATASETS } from './dataset.ts'
import type { HeapUse } from './heap.ts'
import { best, cpuRatio, type Measurement, median, ratio, stageOf } from './measurement.ts'
import type { PeerResult } from './peers/peer-result.ts'
import type { Target } from './targets.ts'

export const STAGE_TITLES: Record<string, string> = {
  roofline: 'roofline (read, CRC, lz4-napi)',
  visited: 'file -> rows visited',
  batches: 'file -> batches',
  arrow: 'file -> Arrow bytes',
  curl0: 'file -> curl, no worker',
  curl1: 'file -> curl, 1 worker',
  tickets2: 'file -> 2 curls, 2 tickets, 2 workers',
}

const mega = (n: number, digits = 0) => (n / 1e6).toFixed(digits)

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Every stage of one dataset. */
export function datasetTable(m: Measurement): string {
  const roofline = stageOf(m, 'roofline')
  const head = [
    'stage',
    'M rows/s',
    'MB/s of raw data',
    'against the roofline (best)',
    '(median)',
    'processor time / roofline',
  ]
  const rows = m.stages.map((stage) => [
    STAGE_TITLES[stage.name],
    (m.rows / best(stage) / 1e6).toFixed(best(stage) > m.rows / 1e5 ? 5 : 2),
    mega(m.rawBytes / best(stage)),
    (best(roofline) / best(stage)).toFixed(2),
    (median(roofline.seconds) / median(stage.seconds)).toFixed(2),
    cpuRatio(m, stage.name).toFixed(2),
  ])
  const perRow = (m.rawBytes / m.inputRows).toFixed(0)
  const input = m.inputRows === m.rows ? '' : ` of ${m.inputRows} in the SSTables`
  return [
    `### ${m.name}, ${m.format}`,
    `${m.rows} rows${input}, ${perRow} bytes each, ${mega(m.rawBytes)} MB, ${mega(m.fileBytes)} MB of Data.db, ${roofline.seconds.length} rounds`,
    table(head, rows),
    `Peak resident memory of the server with 0, 1, 2 workers: ${m.peakBytes.map((b) => mega(b)).join(', ')} MB.`,
  ].join('\n\n')
}

/** All datasets, a row each: ratios to the roofline, best and, in brackets, median. */
export function overviewTable(measurements: readonly Measurement[]): string {
  const stages = Object.keys(STAGE_TITLES).filter((name) => name !== 'roofline')
  const head = [
    'dataset',
    'format',
    'bytes a row',
    'roofline MB/s',
    ...stages.map((s) => STAGE_TITLES[s]),
    'M rows/s, 1 worker',
    'peak MB',
  ]
  const rows = measurements.map((m) => {
    const roofline = stageOf(m, 'roofline')
    const curl = stageOf(m, 'curl1')
    const ratios = stages.map((name) => {
      const middle = median(roofline.seconds) / median(stageOf(m, name).seconds)
      return `${ratio(m, name).toFixed(2)} (${middle.toFixed(2)})`
    })
    const rate = m.rows / best(curl) / 1e6
    return [
      m.name,
      m.format,
      (m.rawBytes / m.inputRows).toFixed(0),
      mega(m.rawBytes / best(roofline)),
      ...ratios,
      rate < 0.01 ? rate.toFixed(4) : rate.toFixed(2),
      mega(Math.max(...m.peakBytes, ...m.peakBytesConcurrent)),
    ]
  })
  return table(head, rows)
}

export function datasetsTable(measurements: readonly Measurement[]): string {
  const names = [...new Set(measurements.map(({ name }) => name))]
  return table(
    ['dataset', 'what'],
    names.map((name) => [name, DATASETS[name].what]),
  )
}

/** Streams at once: M rows/s of all together, per number of workers. */
export function concurrencyTable(m: Measurement): string {
  const streams = [...new Set(m.concurrency.map(({ name }) => name.split(':')[1]))]
  const workers = [...new Set(m.concurrency.map(({ name }) => name.split(':')[0]))]
  const rate = (w: string, s: string) => m.rows / best(m.concurrency.find(({ name }) => name === `${w}:${s}`)!) / 1e6
  return table(
    ['tickets at once', ...workers.map((w) => `M rows/s, ${w} worker${w === '1' ? '' : 's'}`)],
    streams.map((s) => [s, ...workers.map((w) => rate(w, s).toFixed(2))]),
  )
}

/** What a scan of narrow allocates, and where most of it. */
export function heapTable({ format, bytesPerRow, externalGrowth, places }: HeapUse): string {
  const rows = places.map((p) => [p.bytesPerRow.toFixed(2), p.place])
  return `Heap allocated by a scan to Arrow bytes, ${format}: ${bytesPerRow.toFixed(2)} bytes a row; outside the heap ${externalGrowth} bytes more are held after it.\n\n${table(['bytes a row', 'by'], rows)}`
}

/** Each way a peer was asked, and how many times as many rows a second the product moved by both cores and by one stream. */
export function peersTable(peers: readonly PeerResult[]): string {
  const rate = ({ rows, seconds }: PeerResult) => rows / Math.min(...seconds)
  const named = (name: string) => rate(peers.find((p) => p.peer === name)!)
  const head = ['', 'version', 'how', 'rows', 'M rows/s, best', 'median', 'sluice, 2 streams', 'sluice, 1 stream']
  return table(
    head,
    peers.map((p) => [
      p.peer,
      p.version,
      p.how,
      String(p.rows),
      mega(rate(p), 3),
      mega(p.rows / median(p.seconds), 3),
      `${(named('sluice') / rate(p)).toPrecision(3)} x`,
      `${(named('sluice, 1 stream') / rate(p)).toPrecision(3)} x`,
    ]),
  )
}

export function targetsTable(targets: readonly Target[]): string {
  return table(
    ['measure', 'target', 'measured', ''],
    targets.map(({ what, bound, value, unit, isMet }) => {
      const shown = value === undefined ? 'not measured' : `${value.toPrecision(3)}${unit}`
      return [what, `${bound}${unit}`, shown, value === undefined ? '' : isMet ? 'met' : '**missed**']
    }),
  )
}
