// What runs gave, kept as JSON lines: one per dataset, per heap measurement, per comparison with peers. Runs may be made in pieces and put
// together again.

import { appendFileSync, readFileSync } from 'node:fs'
import type { HeapUse } from './heap.ts'
import { cpuRatio, type Measurement, ratio } from './measurement.ts'
import type { PeerResult } from './peers/peer-result.ts'

export interface Results {
  measurements: Measurement[]
  heap: HeapUse[]
  /** Each with the product in its own rounds. */
  peers: PeerResult[][]
}

export type Line = { measurement: Measurement } | { heap: HeapUse } | { peers: PeerResult[] }

export function addLine(results: Results, line: Line): void {
  if ('measurement' in line) {
    const { name, format } = line.measurement
    results.measurements = results.measurements.filter((m) => m.name !== name || m.format !== format)
    results.measurements.push(line.measurement)
  } else if ('heap' in line) {
    results.heap = results.heap.filter(({ format }) => format !== line.heap.format)
    results.heap.push(line.heap)
  } else {
    results.peers.push(line.peers)
  }
}

export function appendLine(file: string, line: Line): void {
  appendFileSync(file, `${JSON.stringify(line)}\n`)
}

/** Later lines about the same dataset and format take the place of earlier ones. */
export function readResults(files: readonly string[]): Results {
  const results: Results = { measurements: [], heap: [], peers: [] }
  for (const file of files) {
    for (const line of readFileSync(file, 'utf8').split('\n')) if (line !== '') addLine(results, JSON.parse(line))
  }
  return results
}

const round = (n: number) => Number(n.toPrecision(3))

/** The ratios of a release: small and comparable. */
export function historyLine({ measurements, heap }: Results): Record<string, unknown> {
  const byStage = (value: (m: Measurement, stage: string) => number) =>
    Object.fromEntries(
      measurements.map((m) => {
        const stages = m.stages.map(({ name }) => name).filter((name) => name !== 'roofline')
        return [`${m.name} ${m.format}`, Object.fromEntries(stages.map((name) => [name, round(value(m, name))]))]
      }),
    )
  return {
    speedOfRoofline: byStage(ratio),
    processorTimeOfRoofline: byStage(cpuRatio),
    peakMb: Math.round(Math.max(...measurements.flatMap((m) => [...m.peakBytes, ...m.peakBytesConcurrent])) / 1e6),
    heapBytesPerRow: Object.fromEntries(heap.map((use) => [use.format, round(use.bytesPerRow)])),
  }
}
