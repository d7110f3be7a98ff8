// A worker thread: any number of scans, each at the pace of its reader's `next`. Between two fills of a window a scan has the thread
// for itself; while it waits for the disk, others run. An error ends its own scan and nothing else.

import { parentPort } from 'node:worker_threads'
import { onDroppedShared } from '../../storage/bytes/garbage.ts'
import type { Batch } from '../../storage/rows/batch.ts'
import { openScan } from '../../storage/scan/scan.ts'
import type { Scan } from '../../storage/scan/scan-request.ts'
import { KeptTables } from './kept-tables.ts'
import { errorData, type FromWorker, type TableData, type ToWorker, vectorData } from './protocol.ts'

interface Running {
  scan: Scan
  /** Batches handed out and not given back yet. */
  out: Map<number, Batch>
  batches: number
  /** The batch under way; never rejects. */
  busy: Promise<unknown>
}

const port = parentPort!
const scans = new Map<number, Running>()
const tables = new KeptTables<TableData>()
const opening = new Set<number>()
/** Scans that were closed while they were being opened. */
const closedEarly = new Set<number>()

function say(message: FromWorker): void {
  port.postMessage(message)
}

onDroppedShared((bytes) => say({ kind: 'dropped', bytes }))

port.on('message', (message: ToWorker) => {
  handle(message).catch((error) => say({ kind: 'failed', scan: message.scan, error: errorData(error) }))
})

async function handle(message: ToWorker): Promise<void> {
  if (message.kind === 'open') {
    await open(message)
    return
  }
  const running = scans.get(message.scan)
  if (running === undefined) {
    if (message.kind === 'close') {
      // One that is being opened reads until it is open.
      if (opening.has(message.scan)) closedEarly.add(message.scan)
      else say({ kind: 'closed', scan: message.scan })
    }
    return
  }
  if (message.kind !== 'close') {
    for (const batch of message.released) {
      running.out.get(batch)?.release()
      running.out.delete(batch)
    }
    if (message.kind === 'next') await goOn(message.scan, running)
  } else {
    scans.delete(message.scan)
    await running.scan.close()
    // It reads until it has noticed.
    await running.busy
    say({ kind: 'closed', scan: message.scan })
  }
}

async function open({ scan: id, table, data, request }: ToWorker & { kind: 'open' }): Promise<void> {
  if (data !== undefined) tables.add(table, data)
  const { schema, partitioner, sstables } = tables.use(table)!
  // The descriptors are the main thread's, which keeps them open until the scan has said `closed`.
  opening.add(id)
  let scan: Scan
  try {
    scan = await openScan({ schema, partitioner, sstables, retain() {}, async release() {} }, request)
  } catch (error) {
    if (closedEarly.delete(id)) say({ kind: 'closed', scan: id })
    throw error
  } finally {
    opening.delete(id)
  }
  if (closedEarly.delete(id)) {
    await scan.close()
    say({ kind: 'closed', scan: id })
    return
  }
  const running: Running = { scan, out: new Map(), batches: 0, busy: Promise.resolve() }
  scans.set(id, running)
  say({ kind: 'opened', scan: id, schema: scan.schema })
  // The first batch is asked for in any case.
  await goOn(id, running)
}

async function goOn(id: number, running: Running): Promise<void> {
  const work = next(id, running)
  running.busy = work.catch(() => {})
  await work
}

async function next(id: number, running: Running): Promise<void> {
  const batch = await running.scan.next()
  const stats = { ...running.scan.stats }
  if (batch === undefined) {
    say({ kind: 'end', scan: id, stats })
    return
  }
  const batchId = running.batches++
  running.out.set(batchId, batch)
  const { rows, position, bytes } = batch
  say({
    kind: 'batch',
    scan: id,
    batch: { id: batchId, rows, position, bytes, columns: batch.columns.map(vectorData) },
    stats,
  })
}
