// One stream of rows as the body of a response. Up to its first byte it can fail with a problem; from then on a failure cuts the
// connection before the final chunk, so that no client can take a part for the whole (RFC 9112, 8). Behind a whole one follow
// trailers (RFC 9110, 6.5), where the protocol has them.

import type { Hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Exporter } from '../../exporters/exporter.ts'
import { isSluiceError, SluiceError } from '../../storage/errors.ts'
import type { Scan, ScanStats } from '../../storage/scan/scan-request.ts'
import type { PumpProgress, Sink } from '../pump.ts'
import { pump } from '../pump.ts'
import { StreamSink } from '../stream-sink.ts'

export interface StreamBody {
  scan: Scan
  exporter: Exporter
  headers: Record<string, string>
  signal: AbortSignal
  progress: PumpProgress
  /** Fed with the bytes as they are sent. */
  hash?: Hash
  /** Takes back parts whose bytes have left. */
  giveBack?: (part: Uint8Array) => void
  /** Called for each write with its bytes and how long the client took for it. */
  onWrite?: (bytes: number, ms: number) => void
}

/** Clients take no more than 16 KiB of headers and trailers together. */
const LONGEST_TRAILER = 4096

/**
 * Sends the whole scan. The status line waits for the first batch. Whoever calls closes the scan; if this throws and
 * `response.headersSent`, it has to be cut.
 */
export async function streamRows(response: ServerResponse, body: StreamBody): Promise<void> {
  const { scan, exporter, headers, signal, progress, hash, giveBack, onWrite } = body
  const stream = new StreamSink(response, signal)
  const begin = () => beginResponse(response, headers, hash !== undefined)
  const sink: Sink = {
    async write(parts) {
      if (!response.headersSent) begin()
      const started = performance.now()
      let bytes = 0
      for (const part of parts) {
        hash?.update(part)
        bytes += part.byteLength
      }
      await stream.write(parts).catch(left)
      if (giveBack !== undefined) for (const part of parts) giveBack(part)
      onWrite?.(bytes, performance.now() - started)
    },
  }
  try {
    await pump(scan, exporter, sink, progress)
    if (!response.headersSent) begin()
    if (response.chunkedEncoding && takesTrailers(response.req)) {
      response.addTrailers(trailers(progress, scan.stats, hash))
    }
    await stream.end().catch(left)
  } finally {
    stream.detach()
  }
}

/**
 * Only chunked bodies have them, and HTTP/1.0 has no chunks. ClickHouse takes a trailer for a malformed chunk (Poco,
 * HTTPChunkedStreamBuf: the line after the last chunk has to be empty).
 */
function takesTrailers({ httpVersionMinor, headers }: IncomingMessage): boolean {
  return httpVersionMinor > 0 && !headers['user-agent']?.startsWith('ClickHouse/')
}

function trailers(
  { rows, batches, position }: PumpProgress,
  stats: ScanStats,
  hash: Hash | undefined,
): Record<string, string> {
  const result: Record<string, string> = { 'Sluice-Rows': String(rows), 'Sluice-Batches': String(batches) }
  if (position !== undefined && position.length <= LONGEST_TRAILER) result['Sluice-Position'] = position
  result['Sluice-Stats'] = JSON.stringify(stats)
  // RFC 9530: the digest of what this URL stands for, which is this body.
  if (hash !== undefined) result['Repr-Digest'] = `sha-256=:${hash.digest('base64')}:`
  return result
}

/** Writing to a connection fails for one reason; often it is the first to tell (EPIPE, ECONNRESET). */
function left(error: unknown): never {
  throw isSluiceError(error) ? error : new SluiceError('CANCELLED', { reason: 'the client left' }, error)
}

/** Ends a response that has begun so that the client sees it fail. */
export function cutResponse(response: ServerResponse): void {
  response.on('error', () => {}) // what was still queued fails, and nobody waits for it
  // HTTP/1.0 has no final chunk to leave out: there only a reset tells a cut from an end.
  if (response.chunkedEncoding) response.destroy()
  else response.socket?.resetAndDestroy()
}

function beginResponse(response: ServerResponse, headers: Record<string, string>, hasDigest: boolean): void {
  const trailer = takesTrailers(response.req)
    ? { Trailer: `Sluice-Rows, Sluice-Batches, Sluice-Position, Sluice-Stats${hasDigest ? ', Repr-Digest' : ''}` }
    : {}
  response.writeHead(200, { ...headers, ...trailer })
  // Once the header is out, all parts that are written corked become one chunk.
  response.flushHeaders()
}
