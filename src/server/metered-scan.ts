// A scan as a stream pulls it: held to the rate limits, its bytes, rows and waiting counted while it goes on.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Batch } from '../../storage/rows/batch.ts'
import { newScanStats, type Scan } from '../../storage/scan/scan-request.ts'
import type { StreamMetrics } from './metrics.ts'
import type { RateLimit } from './rate.ts'

/** A wait is taken in steps, since others that pay their debts make it longer or shorter. */
const LONGEST_WAIT_MS = 250

export function meteredScan(
  scan: Scan,
  limits: readonly RateLimit[],
  metrics: StreamMetrics,
  signal: AbortSignal,
): Scan {
  let charged = 0
  let told = newScanStats()
  const settle = () => {
    const { stats } = scan
    // What indexes cost is on the disk too.
    const read = stats.dataBytesRead + stats.chunkIndexBytesRead + stats.indexBytesRead
    for (const limit of limits) limit.charge(read - charged)
    metrics.readBytes.inc(read - charged)
    charged = read
    metrics.scanned(stats, told)
    told = { ...stats }
  }
  const count = (batch: Batch | undefined) => {
    if (batch === undefined) return
    metrics.rows.inc(batch.rows)
    metrics.batches.inc()
  }
  return {
    schema: scan.schema,
    stats: scan.stats,
    async next() {
      const asked = performance.now()
      for (;;) {
        const debt = Math.max(0, ...limits.map(({ debtMs }) => debtMs))
        if (debt < 1 || signal.aborted) break
        await sleep(Math.min(debt, LONGEST_WAIT_MS), undefined, { signal }).catch(() => {})
      }
      const allowed = performance.now()
      const batch = await scan.next().finally(settle)
      count(batch)
      if (limits.length > 0) metrics.stalled('rate', allowed - asked)
      metrics.stalled('scan', performance.now() - allowed)
      return batch
    },
    close: () => scan.close(),
  }
}
