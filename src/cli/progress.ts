// A progress bar for a terminal: bytes of the scan, rows, rows a second, time left.

import { SingleBar } from 'cli-progress'
import type { ScanStats } from '../../storage/scan/scan-request.ts'
import { formatBytes, formatCount } from '../format-numbers.ts'
import type { PumpProgress } from '../pump.ts'

export interface ProgressBar {
  stop(): void
}

const UPDATE_MS = 100

export function startProgress(
  label: string,
  stats: ScanStats,
  progress: PumpProgress,
  stream: NodeJS.WriteStream,
): ProgressBar {
  const started = performance.now()
  const bar = new SingleBar({
    stream,
    format: '{label} {bar} {percentage}% | {read} of {of} | {rows} rows | {rate} rows/s | {eta_formatted} left',
    barsize: 20,
    etaBuffer: 50,
    etaAsynchronousUpdate: true,
    hideCursor: null, // a killed process would leave the terminal without one
    gracefulExit: false, // signals are the command's own to handle
    clearOnComplete: true,
    linewrap: true,
  })
  const values = () => ({
    label,
    read: formatBytes(stats.dataBytesRead),
    of: formatBytes(stats.dataBytesTotal),
    rows: formatCount(progress.rows),
    rate: formatCount(Math.round(progress.rows / Math.max(0.001, (performance.now() - started) / 1000))),
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
