// A pool of warm worker threads that scans are dealt out to, the least busy first. A worker that dies takes its own scans with it, by
// name, and is replaced.

import { Worker } from 'node:worker_threads'
import { dropped } from '../../storage/bytes/garbage.ts'
import { SluiceError } from '../../storage/errors.ts'
import type { ScannedTable } from '../../storage/scan/pinned-table.ts'
import type { Scan, ScanRequest } from '../../storage/scan/scan-request.ts'
import { KeptTables } from './kept-tables.ts'
import type { FromWorker, ToWorker } from './protocol.ts'
import { RemoteScan } from './remote-scan.ts'

interface Member {
  worker: Worker
  scans: Map<number, RemoteScan>
  tables: KeptTables<true>
}

export class WorkerPool {
  #members: Member[] = []
  #nextScan = 1
  #nextTable = 1
  readonly #numbers = new WeakMap<ScannedTable, number>()
  #closing = false
  #onDeath: (error: Error) => void

  /** @param onDeath told of a worker that ended by itself */
  constructor(size: number, onDeath: (error: Error) => void) {
    this.#onDeath = onDeath
    for (let i = 0; i < size; i++) this.#members.push(this.#start())
  }

  get size(): number {
    return this.#members.length
  }

  /** Opens a scan in a worker. The table stays retained until the worker holds nothing of it any more. */
  async openScan(table: ScannedTable, request: ScanRequest): Promise<Scan> {
    if (this.#closing) throw new SluiceError('SHUTTING_DOWN')
    const { signal, ...plain } = request
    if (signal?.aborted) throw new SluiceError('CANCELLED')
    const member = this.#leastBusy()
    const scan = new RemoteScan(this.#nextScan++, (message) => member.worker.postMessage(message), signal)
    member.scans.set(scan.id, scan)
    table.retain()
    scan.closed.then(() => {
      member.scans.delete(scan.id)
      return table.release()
    })
    const number = this.#numberOf(table)
    const { schema, partitioner, sstables } = table
    const isKnown = member.tables.use(number) === true
    if (!isKnown) member.tables.add(number, true)
    const open: ToWorker = {
      kind: 'open',
      scan: scan.id,
      table: number,
      // Instances of a class: what a message carries of them is their plain data.
      data: isKnown ? undefined : { schema, partitioner, sstables: [...sstables] },
      request: { ...plain, sharedColumns: true },
    }
    member.worker.postMessage(open)
    try {
      await scan.open()
      return scan
    } catch (error) {
      await scan.close()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#closing = true
    await Promise.all(this.#members.map(({ worker }) => worker.terminate()))
  }

  #numberOf(table: ScannedTable): number {
    const number = this.#numbers.get(table) ?? this.#nextTable++
    this.#numbers.set(table, number)
    return number
  }

  #leastBusy(): Member {
    return this.#members.reduce((least, member) => (member.scans.size < least.scans.size ? member : least))
  }

  #start(): Member {
    const worker = new Worker(
      new URL(import.meta.url.endsWith('.ts') ? './scan-worker.ts' : './scan-worker.js', import.meta.url),
    )
    const member: Member = { worker, scans: new Map(), tables: new KeptTables() }
    let cause: Error | undefined
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'dropped') dropped(message.bytes)
      else member.scans.get(message.scan)?.receive(message)
    })
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', (code) => {
      if (this.#closing) return
      const death = cause ?? new Error(`a scan worker ended with code ${code}`)
      this.#members[this.#members.indexOf(member)] = this.#start()
      for (const scan of member.scans.values())
        scan.abandon(new SluiceError('INTERNAL', { reason: 'the scan worker ended' }, death))
      this.#onDeath(death)
    })
    return member
  }
}
