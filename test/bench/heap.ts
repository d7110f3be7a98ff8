// What a steady scan allocates on the JavaScript heap, by V8's sampling profiler: with objects that were collected meanwhile counted, so
// that it is all that was allocated and not what is left of it. Memory outside the heap (columns, windows) must not grow at all. In a process
// of its own, started by main.ts:
//
//   heap.ts FORMAT ROWS     -> one JSON line (HeapUse) on stdout

import { Session } from 'node:inspector/promises'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createExporter } from '../../exporters/formats.ts'
import { STREAM_BATCH_BYTES } from '../../src/server/allowance.ts'
import { Catalog } from '../../storage/scan/catalog.ts'
import type { ScannedTable } from '../../storage/scan/pinned-table.ts'
import { openScan } from '../../storage/scan/scan.ts'
import { ensureDataset, NOW } from './dataset.ts'

export interface HeapUse {
  format: string
  rows: number
  bytesPerRow: number
  /** What is held outside the heap after the scan less what was before it, bytes. */
  externalGrowth: number
  /** Where the most is allocated: function and file, bytes a row. */
  places: { place: string; bytesPerRow: number }[]
}

interface ProfileNode {
  callFrame: { functionName: string; url: string }
  selfSize: number
  children: ProfileNode[]
}

/** Bytes between two samples on average: a scan that allocates 1 MB gives about 500 samples. */
const SAMPLING_INTERVAL = 2048

/** Reads all rows as Arrow bytes, as a server's stream does without its socket; gives their number. */
export async function scanToArrow(pinned: ScannedTable, now: number): Promise<number> {
  const scan = await openScan(pinned, { now, batchBytes: STREAM_BATCH_BYTES })
  const exporter = createExporter('arrows', {})
  let rows = 0
  for (let batch = await scan.next(); batch !== undefined; batch = await scan.next()) {
    rows += batch.rows
    const parts = exporter.batch(batch)
    if (Symbol.iterator in parts) for (const _ of parts);
    else for await (const _ of parts);
    batch.release()
  }
  await scan.close()
  return rows
}

/** Memory outside the heap that something still holds, bytes. */
export function externalBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  collect()
  collect()
  return process.memoryUsage().external
}

/** Runs `work` and tells what it allocated on the heap. */
export async function sampleAllocations(
  work: () => Promise<void>,
): Promise<{ bytes: number; places: Map<string, number> }> {
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.enable')
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: SAMPLING_INTERVAL,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  })
  await work()
  const { profile } = await session.post('HeapProfiler.stopSampling')
  session.disconnect()
  let bytes = 0
  const places = new Map<string, number>()
  const walk = ({ callFrame, selfSize, children }: ProfileNode, caller: string) => {
    bytes += selfSize
    const file = callFrame.url.replace(/^.*\/(node_modules|storage|exporters|src|test)\//, '$1/')
    const name = callFrame.functionName || '(anonymous)'
    // What is built into the engine has no file.
    const place = file === '' ? `${name} in ${caller}` : `${name} ${file}`
    places.set(place, (places.get(place) ?? 0) + selfSize)
    for (const child of children) walk(child, file === '' ? caller : place)
  }
  walk(profile.head, 'the engine')
  return { bytes, places }
}

async function heapUse(format: string, wanted?: number): Promise<HeapUse> {
  const files = ensureDataset('narrow', format, wanted)
  const catalog = await Catalog.open({ data: [files.data], schemaFile: files.schema })
  const pinned = await catalog.pin(files.keyspace, files.table)
  for (let warm = 0; warm < 3; warm++) await scanToArrow(pinned, NOW)
  const before = externalBytes()
  let rows = 0
  const { bytes, places } = await sampleAllocations(async () => {
    rows = await scanToArrow(pinned, NOW)
  })
  const externalGrowth = externalBytes() - before
  await pinned.release()
  await catalog.close()
  return {
    format,
    rows,
    bytesPerRow: bytes / rows,
    externalGrowth,
    places: [...places]
      .sort(([, a], [, b]) => b - a)
      .slice(0, 12)
      .map(([place, size]) => ({ place, bytesPerRow: size / rows })),
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [format, rows] = process.argv.slice(2)
  console.log(JSON.stringify(await heapUse(format, rows === undefined ? undefined : Number(rows))))
}
