// A progress bar for a terminal: bytes of the scan, rows, rows a second, time left.

import { SingleBar } from 'cli-progress'
import type { ScanStats } from '../../storage/scan/scan-request.ts'
import { formatBytes, formatShort } from '../format-numbers.ts'
import type { PumpProgress } from '../pump.ts'

export interface ProgressBar {
  stop(): void
}

/** How far a scan has come, and how far it will go. */
export type ScannedBytes = Pick<ScanStats, 'dataBytesRead' | 'dataBytesTotal'>

const UPDATE_MS = 100

export function startProgress(
  label: string,
  stats: ScannedBytes,
  progress: Pick<PumpProgress, 'rows'>,
  stream: NodeJS.WriteStream,
): ProgressBar {
  const started = performance.now()
  const seconds = () => (performance.now() - started) / 1000
  const bar = new SingleBar({
    stream,
    // To fit 80 columns with a table name of 20 characters.
    format: '{label} {bar} {percentage}% | {read}/{of} | {rows} rows | {rate}/s | {left} left',
    barsize: 10,
    hideCursor: null, // a killed process would leave the terminal without one
    gracefulExit: false, // signals are the command's own to handle
    clearOnComplete: true,
    linewrap: true,
  })
  const values = () => ({
    label,
    read: formatBytes(stats.dataBytesRead),
    of: formatBytes(stats.dataBytesTotal),
    rows: formatShort(progress.rows),
    rate: formatShort(progress.rows / Math.max(0.001, seconds())),
    left: timeLeft(stats, seconds()),
  })
  bar.start(Math.max(1, stats.dataBytesTotal), 0, values())
  const timer = setInterval(() => {
    bar.setTotal(Math.max(1, stats.dataBytesTotal, stats.dataBytesRead))
    bar.update(stats.dataBytesRead, values())
  }, UPDATE_MS)
  return {
    stop() {
      clearInterval(timer)
      bar.stop()
    },
  }
}

/** By the bytes read so far; a scan's rows may be spread unevenly, its bytes are what takes the time. */
function timeLeft({ dataBytesRead, dataBytesTotal }: ScannedBytes, seconds: number): string {
  if (dataBytesRead < dataBytesTotal / 100 || dataBytesRead === 0) return '?'
  const left = Math.ceil((seconds * Math.max(0, dataBytesTotal - dataBytesRead)) / dataBytesRead)
  if (left < 120) return `${left} s`
  return left < 7200 ? `${Math.round(left / 60)} min` : `${Math.round(left / 3600)} h`
}
