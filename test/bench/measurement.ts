// What one run over one dataset gave, as measure.ts prints it and main.ts, the tables, the plots and the history read it.

export interface Stage {
  name: string
  /** Of every round. */
  seconds: number[]
  /** Processor time that the process at work took, all its threads together: curl's is not in it. */
  cpuSeconds: number[]
  rows: number
  bytes: number
}

export interface Measurement {
  name: string
  format: string
  /** Live rows, and rows in the SSTables. */
  rows: number
  inputRows: number
  /** Uncompressed bytes and bytes of Data.db. */
  rawBytes: number
  fileBytes: number
  stages: Stage[]
  /** Stages named WORKERS:STREAMS; of narrow alone. */
  concurrency: Stage[]
  emptyRangeMs: number[]
  /** Peak resident bytes of the servers with 0, 1, 2 workers: after the stages, and after many streams at once. */
  peakBytes: number[]
  peakBytesConcurrent: number[]
}

export const best = (stage: Stage): number => Math.min(...stage.seconds)

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]
}

export function stageOf(measurement: Measurement, name: string): Stage {
  const stage = measurement.stages.find((s) => s.name === name)
  if (stage === undefined) throw new Error(`no stage ${name}`)
  return stage
}

/** Processor time against the roofline's: what a busy machine disturbs least. */
export function cpuRatio(measurement: Measurement, stage: string): number {
  const least = (name: string) => Math.min(...stageOf(measurement, name).cpuSeconds)
  return least(stage) / least('roofline')
}

/** Speed against the reference roofline, 1 being as fast; of the best rounds. */
export function ratio(measurement: Measurement, stage: string): number {
  return best(stageOf(measurement, 'roofline')) / best(stageOf(measurement, stage))
}
