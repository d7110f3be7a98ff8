// The progress bar, on a terminal that is not one.

import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startProgress } from '../../../src/cli/progress.ts'
import { newPumpProgress } from '../../../src/pump.ts'
import { newScanStats } from '../../../storage/scan/scan-request.ts'

function terminal(): NodeJS.WriteStream & { shown: () => string } {
  const stream = new PassThrough()
  let text = ''
  stream.on('data', (part) => (text += part))
  return Object.assign(stream, { isTTY: true, columns: 200, shown: () => text }) as never
}

test('bytes, rows and the share done are shown while it runs, and nothing stays when it stops', async () => {
  const stream = terminal()
  const stats = { ...newScanStats(), dataBytesTotal: 2_000_000, dataBytesRead: 0 }
  const progress = newPumpProgress()
  const bar = startProgress('shop.orders', stats, progress, stream)
  stats.dataBytesRead = 500_000
  progress.rows = 12_345
  await sleep(400)
  bar.stop()
  const text = stream.shown()
  expect(text).toContain('shop.orders')
  expect(text).toMatch(/25% \| 500 kB\/2\.0 MB \| 12\.3 k rows \| [\d.]+ k\/s \| \d s left/)
  // The line is cleared: erase to its end (ECMA-48 EL) comes last but for cursor moves.
  expect(text.slice(text.lastIndexOf(' left'))).toContain('\x1b[')
})

test('a scan of nothing has a bar too', async () => {
  const stream = terminal()
  const bar = startProgress('ks.t', newScanStats(), newPumpProgress(), stream)
  await sleep(150)
  bar.stop()
  expect(stream.shown()).not.toMatch(/NaN|Infinity/)
})
