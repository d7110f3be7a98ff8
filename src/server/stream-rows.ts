// One stream of rows as the body of a response. Up to its first byte it can fail with a problem; from then on a failure cuts the
// connection before the final chunk, so that no client can take a part for the whole (RFC 9112, 8).

import type { ServerResponse } from 'node:http'
import type { Exporter } from '../../exporters/exporter.ts'
import { isSluiceError, SluiceError } from '../../storage/errors.ts'
import type { Scan } from '../../storage/scan/scan-request.ts'
import type { PumpProgress } from '../pump.ts'
import { pump } from '../pump.ts'
import { StreamSink } from '../stream-sink.ts'

/**
 * Sends the whole scan. The status line waits for the first batch. Whoever calls closes the scan; if this throws and
 * `response.headersSent`, it has to be cut.
 */
export async function streamRows(
  scan: Scan,
  exporter: Exporter,
  response: ServerResponse,
  headers: Record<string, string>,
  signal: AbortSignal,
  progress: PumpProgress,
): Promise<void> {
  const stream = new StreamSink(response, signal)
  try {
    await pump(
      scan,
      exporter,
      {
        write(parts) {
          if (!response.headersSent) begin(response, headers)
          return stream.write(parts).catch(left)
        },
      },
      progress,
    )
    if (!response.headersSent) begin(response, headers)
    await stream.end().catch(left)
  } finally {
    stream.detach()
  }
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

function begin(response: ServerResponse, headers: Record<string, string>): void {
  response.writeHead(200, headers)
  // Once the header is out, all parts that are written corked become one chunk.
  response.flushHeaders()
}
