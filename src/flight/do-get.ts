// DoGet: the rows behind a ticket as FlightData messages, by the same pump and at the client's pace as over HTTP.

import type { ServerWritableStream } from '@grpc/grpc-js'
import type { Compression } from '../../exporters/compression.ts'
import { currentSecond } from '../instant.ts'
import { scanRequest } from '../parameters.ts'
import { newPumpProgress, pump } from '../pump.ts'
import type { ClientWatch } from '../server/client.ts'
import { StreamSink } from '../stream-sink.ts'
import type { FlightContext } from './call.ts'
import { parseCommand } from './command.ts'
import { flightExporter } from './flight-exporter.ts'
import type { Ticket } from './protocol.ts'

/**
 * Many gRPC clients take messages up to 4 MiB and no more. A batch ends with the row that reaches this; what a message holds
 * beyond it is its last row, its header and the padding of its buffers.
 */
const BATCH_BYTES = 2 << 20

export async function doGet(
  { source, logger }: FlightContext,
  call: ServerWritableStream<Ticket, Buffer>,
  watch: ClientWatch,
): Promise<void> {
  const { name, values } = parseCommand(call.request.ticket)
  const request = scanRequest(values, 'arrows', values.now ?? currentSecond(), watch.signal)
  request.batchBytes ??= BATCH_BYTES
  const progress = newPumpProgress()
  const started = performance.now()
  const pinned = await source.pin(name.keyspace, name.table)
  try {
    const scan = await pinned.scan(request)
    const sink = new StreamSink(call, watch.signal)
    try {
      await pump(scan, flightExporter(values.compression as Compression | undefined), sink, progress)
    } finally {
      sink.detach()
      await scan.close()
      logger.info(
        { ...name, format: 'flight', ...progress, ms: Math.round(performance.now() - started) },
        'stream ended',
      )
    }
  } finally {
    await pinned.release()
  }
}
