// The two plots of a run: throughput against row size, and against streams at once.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { best, type Measurement, stageOf } from './measurement.ts'
import { svgPlot } from './plot.ts'
import { STAGE_TITLES } from './tables.ts'

/** Writes row-size-FORMAT.svg for each format and concurrency.svg into a directory. */
export function writePlots(measurements: readonly Measurement[], directory: string): void {
  for (const format of new Set(measurements.map((m) => m.format))) {
    const perRow = (m: Measurement) => m.rawBytes / m.inputRows
    const bySize = measurements.filter((m) => m.format === format).toSorted((a, b) => perRow(a) - perRow(b))
    const stages = ['roofline', 'batches', 'arrow', 'curl1', 'tickets2']
    const plot = svgPlot({
      title: `Throughput against row size, ${format}`,
      xTitle: 'dataset, by the bytes of its rows',
      yTitle: 'MB/s of uncompressed data',
      // Most datasets have rows of about the same size: on a scale they would lie on each other.
      xAxis: bySize.map((m) => `${m.name} ${perRow(m).toFixed(0)}`),
      series: stages.map((name) => ({
        name: STAGE_TITLES[name],
        points: bySize.map((m, x) => ({ x, y: m.rawBytes / best(stageOf(m, name)) / 1e6 })),
      })),
    })
    writeFileSync(join(directory, `row-size-${format}.svg`), plot)
  }
  const concurrent = measurements.filter((m) => m.concurrency.length > 0)
  if (concurrent.length === 0) return
  const series = concurrent.flatMap((m) =>
    [...new Set(m.concurrency.map(({ name }) => name.split(':')[0]))].map((workers) => ({
      name: `${m.format}, ${workers} worker${workers === '1' ? '' : 's'}`,
      points: m.concurrency
        .filter(({ name }) => name.startsWith(`${workers}:`))
        .map((stage) => ({ x: Number(stage.name.split(':')[1]), y: m.rows / best(stage) / 1e6 })),
    })),
  )
  const plot = svgPlot({
    title: 'Throughput of narrow against tickets read at once, one curl each',
    xTitle: 'tickets at once',
    yTitle: 'million rows a second, all together',
    xAxis: 2,
    series,
  })
  writeFileSync(join(directory, 'concurrency.svg'), plot)
}
