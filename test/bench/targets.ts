// What the product is meant to reach, as ratios of one run where they can be: absolute rates say more about the machine.

import { median, ratio } from './measurement.ts'
import type { PeerResult } from './peers/peer-result.ts'
import type { Results } from './results.ts'

export interface Target {
  what: string
  /** Bound as text: `>= 0.40`. */
  bound: string
  unit: string
  value: number | undefined
  isMet: boolean
}

const ROOFLINE_BOUNDS: Record<string, number> = { narrow: 0.4, events: 0.3, wide: 0.3, smallcells: 0.3, bigblob: 0.6 }
/** Rows a second against a peer's, at least. */
const PEER_BOUNDS: Record<string, number> = { cassandra: 20, cqlite: 35, sstabledump: 50 }
const PEER_TITLES: Record<string, string> = {
  cassandra: "Cassandra's scan by CQL",
  cqlite: 'CQLite to Parquet',
  sstabledump: 'sstabledump',
}

function atLeast(what: string, bound: number, value: number | undefined, unit = ''): Target {
  return { what, bound: `>= ${bound}`, unit, value, isMet: value !== undefined && value >= bound }
}

function atMost(what: string, bound: number, value: number | undefined, unit = ''): Target {
  return { what, bound: `<= ${bound}`, unit, value, isMet: value !== undefined && value <= bound }
}

/** Rows a second of a peer asked in the way that suits it best; undefined where it was not measured. */
function peerRate(peers: readonly PeerResult[], name: string): number | undefined {
  const rates = peers.filter((p) => p.peer === name).map((p) => p.rows / Math.min(...p.seconds))
  return rates.length === 0 ? undefined : Math.max(...rates)
}

/** One against the other, within the latest comparison that had both. */
function timesAsFast(comparisons: readonly PeerResult[][], one: string, other: string): number | undefined {
  for (const peers of comparisons.toReversed()) {
    const [a, b] = [peerRate(peers, one), peerRate(peers, other)]
    if (a !== undefined && b !== undefined) return a / b
  }
  return undefined
}

export function targetsOf({ measurements, heap, peers }: Results): Target[] {
  const targets: Target[] = []
  for (const format of new Set(measurements.map((m) => m.format))) {
    const of = (name: string) => measurements.find((m) => m.name === name && m.format === format)
    const narrow = of('narrow')
    for (const [name, bound] of Object.entries(ROOFLINE_BOUNDS)) {
      const m = of(name)
      if (m !== undefined)
        targets.push(
          atLeast(`${name}, ${format}: file -> curl, 1 worker, against the roofline`, bound, ratio(m, 'curl1')),
        )
    }
    const overlap = of('overlap4')
    if (overlap !== undefined && narrow !== undefined) {
      const perByte = ratio(overlap, 'curl1') / ratio(narrow, 'curl1')
      targets.push(
        atLeast(`overlap4, ${format}: per input byte, against narrow (both against their rooflines)`, 0.5, perByte),
      )
    }
    const peaks = measurements
      .filter((m) => m.format === format)
      .flatMap((m) => [...m.peakBytes, ...m.peakBytesConcurrent])
    if (peaks.length > 0) {
      targets.push(
        atMost(`${format}: peak resident memory, --memory 96MB, any dataset`, 300, Math.max(...peaks) / 1e6, ' MB'),
      )
    }
    if (narrow !== undefined) {
      // The best of many, as every other figure here.
      const what = `one curl of an empty range, least (median ${median(narrow.emptyRangeMs).toFixed(1)} ms)`
      targets.push(atMost(`narrow, ${format}: ${what}`, 5, Math.min(...narrow.emptyRangeMs), ' ms'))
    }
  }
  for (const use of heap) {
    targets.push(atMost(`narrow, ${use.format}: heap allocated per row, sampled`, 4, use.bytesPerRow, ' B'))
    targets.push(
      atMost(`narrow, ${use.format}: growth of external memory over a steady scan`, 1, use.externalGrowth / 1e6, ' MB'),
    )
  }
  for (const [name, bound] of Object.entries(PEER_BOUNDS)) {
    const times = timesAsFast(peers, 'sluice', name)
    if (times !== undefined)
      targets.push(atLeast(`narrow: rows/s against ${PEER_TITLES[name]}`, bound, times, ' times'))
  }
  const slower = timesAsFast(peers, 'pyarrow', 'sluice, 1 stream')
  if (slower !== undefined) {
    targets.push(
      atMost('narrow: wall time of one stream to curl against pyarrow reading Parquet, 1 thread', 3, slower, ' times'),
    )
  }
  return targets
}
