// Whoever scans is held to the server's limits: a place among those that run, memory, rates. For streams of rows, counts and digests
// alike, over HTTP and over Flight.

import type { Hold } from '../../exporters/exporter.ts'
import { MemoryClaim } from '../../storage/bytes/allowance.ts'
import type { TableName } from '../names.ts'
import type { PinnedSource } from '../source.ts'
import { STREAM_BATCH_BYTES } from './allowance.ts'
import type { ServerContext } from './create-server.ts'
import { meteredScan } from './metered-scan.ts'
import { RateLimit } from './rate.ts'

export interface Reader {
  /** Whose turn it takes: an export, or a client. */
  group: string
  signal: AbortSignal
  /** Megabytes a second. */
  rate?: number
  /** Bytes at which its batches end; STREAM_BATCH_BYTES if not given. */
  batchBytes?: number
}

/** A pinned table as a reader may scan it, one scan at a time. */
export interface LimitedSource extends PinnedSource {
  /** Takes memory for what becomes of batches. @throws SluiceError OVERLOADED, VALUE_TOO_LARGE */
  hold: Hold
}

/** @throws SluiceError OVERLOADED, VALUE_TOO_LARGE */
export type Limit = (pinned: PinnedSource) => LimitedSource

/**
 * A table as it is when its reader's turn has come: pinned while `act` is at work. Who waits holds no files open, and who asks for what
 * there is not is told at once.
 * @throws SluiceError UNKNOWN_KEYSPACE, UNKNOWN_TABLE; OVERLOADED; the signal's reason; what `act` does
 */
export async function readTable<T>(
  context: Pick<ServerContext, 'admission' | 'metrics' | 'readRate' | 'source'>,
  { keyspace, table }: TableName,
  reader: Reader,
  act: (pinned: LimitedSource) => Promise<T>,
): Promise<T> {
  const { source } = context
  await source.check(keyspace, table)
  return admitted(context, reader, async (limit) => {
    const pinned = await source.pin(keyspace, table)
    try {
      return await act(limit(pinned))
    } finally {
      await pinned.release()
    }
  })
}

/**
 * Waits for a place and keeps it while `act` is at work.
 * @throws SluiceError OVERLOADED; the signal's reason; what `act` does
 */
export async function admitted<T>(
  { admission, metrics, readRate }: Pick<ServerContext, 'admission' | 'metrics' | 'readRate'>,
  { group, signal, rate, batchBytes = STREAM_BATCH_BYTES }: Reader,
  act: (limit: Limit) => Promise<T>,
): Promise<T> {
  const started = performance.now()
  const refused = (error: unknown) => {
    metrics.streams.inc({ outcome: signal.aborted ? 'left' : 'refused' })
    return signal.aborted ? signal.reason : error
  }
  const place = await admission.enter(group, signal).catch((error) => {
    throw refused(error)
  })
  metrics.stalled('queue', performance.now() - started)
  const limits = [rate === undefined ? undefined : new RateLimit(rate * 1_000_000), readRate]
  const rates = limits.filter((limit) => limit !== undefined)
  const claim = new MemoryClaim(admission.memory.allowance)
  try {
    return await act((pinned) => {
      try {
        const { window, allowance } = place.take(pinned.sstables, batchBytes)
        const scanned = { batchBytes, window, memory: allowance }
        return {
          ...pinned,
          hold: (bytes) => claim.raise(Math.max(0, bytes - Math.max(batchBytes, STREAM_BATCH_BYTES)), {}),
          scan: async (request) => meteredScan(await pinned.scan({ ...request, ...scanned }), rates, metrics, signal),
        }
      } catch (error) {
        throw refused(error)
      }
    })
  } catch (error) {
    // A scan that was stopped says CANCELLED; why it was stopped is known here.
    throw signal.aborted ? signal.reason : error
  } finally {
    claim.giveBack()
    place.leave()
  }
}
