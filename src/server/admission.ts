// Which readers may run: so many at once, so many waiting for their turn, and none whose memory does not fit. Who comes beyond that
// is told to come again. A reader is whoever scans: a stream of rows, a count, a digest.

import PQueue from 'p-queue'
import { SluiceError } from '../../storage/errors.ts'
import type { SSTableInfo } from '../source.ts'
import { MemoryAllowance, type MemoryGrant } from './allowance.ts'
import { type FairOptions, FairQueue } from './fair-queue.ts'

export interface AdmissionLimits {
  /** Readers under way. */
  maxScans: number
  /** Readers that wait for a place. */
  maxQueue: number
  /** How long one may wait. */
  maxWaitMs: number
  /** Bytes of all readers. */
  memory: number
}

export const DEFAULT_ADMISSION: AdmissionLimits = {
  maxScans: 64,
  maxQueue: 256,
  maxWaitMs: 60_000,
  memory: 256 << 20,
}

export interface Place {
  /**
   * Takes the memory for a scan over these SSTables; it goes back with the place.
   * @throws SluiceError OVERLOADED, VALUE_TOO_LARGE
   */
  take(sstables: readonly SSTableInfo[], batchBytes?: number): MemoryGrant
  /** To be called when the reader has ended, whatever its end. */
  leave(): void
}

export class Admission {
  readonly limits: AdmissionLimits
  readonly memory: MemoryAllowance
  readonly #queue: PQueue<FairQueue, FairOptions>

  constructor(limits: AdmissionLimits) {
    this.limits = limits
    this.memory = new MemoryAllowance(limits.memory, limits.maxScans)
    this.#queue = new PQueue({ concurrency: limits.maxScans, queueClass: FairQueue })
  }

  get running(): number {
    return this.#queue.pending
  }

  get waiting(): number {
    return this.#queue.size
  }

  /**
   * Waits for a place. What is to be read is pinned after that: who waits holds no files open.
   * @param group whose turn it is: an export, or a client
   * @throws SluiceError OVERLOADED; the signal's reason
   */
  async enter(group: string, signal: AbortSignal): Promise<Place> {
    const { limits } = this
    if (this.running >= limits.maxScans && this.waiting >= limits.maxQueue) {
      throw new SluiceError('OVERLOADED', { reason: 'streams', limit: limits.maxScans })
    }
    const leave = await this.#turn(group, signal)
    const grants: MemoryGrant[] = []
    return {
      take: (sstables, batchBytes) => {
        const grant = this.memory.take(sstables, batchBytes)
        grants.push(grant)
        return grant
      },
      leave() {
        for (const grant of grants) grant.giveBack()
        leave()
      },
    }
  }

  #turn(group: string, signal: AbortSignal): Promise<() => void> {
    const late = new AbortController()
    const given = AbortSignal.any([signal, late.signal])
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () =>
          late.abort(new SluiceError('OVERLOADED', { reason: 'no place became free', limit: this.limits.maxScans })),
        this.limits.maxWaitMs,
      )
      const giveUp = () => {
        clearTimeout(timer)
        reject(given.reason)
      }
      if (given.aborted) return giveUp()
      given.addEventListener('abort', giveUp, { once: true })
      const run = () => {
        clearTimeout(timer)
        given.removeEventListener('abort', giveUp)
        return new Promise<void>((leave) => resolve(leave))
      }
      // What was aborted while it waited has left the queue. With the options' own signal p-queue would take one that runs for ended.
      void this.#queue.add(run, { group, given } as FairOptions)
    })
  }
}
