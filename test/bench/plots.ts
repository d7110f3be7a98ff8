// The two plots of a run: throughput against row size, and against streams at once.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { best, type Measurement, stageOf } from './measurement.ts'
import { svgPlot } from './plot.ts'
import { STAGE_TITLES } from './tables.ts'

/** Writes row-size-FORMAT.svg for each format and concurrency.svg into a directory. */
export function writePlots(measurements: readonly Measurement[], directory: string): void {
  for (const format of new Set(measurements.map((m) => m.format))) {
    const stages = ['roofline', 'batches', 'arrow', 'curl1', 'tickets2']
    const series = stages.map((name, i) => ({
      name: STAGE_TITLES[name],
      points: measurements
        .filter((m) => m.format === format)
        .map((m) => ({
          x: m.rawBytes / m.inputRows,
          y: m.rawBytes / best(stageOf(m, name)) / 1e6,
          label: i === 0 ? m.name : undefined,
        })),
    }))
    const plot = svgPlot({
      title: `Throughput against row size, ${format}`,
      xTitle: 'bytes a row, uncompressed',
      yTitle: 'MB/s of uncompressed data',
      xBase: 10,
      series,
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
    xBase: 2,
    series,
  })
  writeFileSync(join(directory, 'concurrency.svg'), plot)
}
