// DoGet: the rows behind a ticket as FlightData messages. Admission, memory, rate limits, pump and the cutting of batches are those
// of HTTP. A ticket is an export's, as HTTP gives it; or JSON:
//   {"ticket": "...", "after": "POSITION"}       an export's ticket, from behind a position
//   {"table": "ks.t", "where": "..."}            a table as it is now, without an export

import type { ServerWritableStream } from '@grpc/grpc-js'
import type { Compression } from '../../exporters/compression.ts'
import { SluiceError } from '../../storage/errors.ts'
import type { ScanRequest } from '../../storage/scan/scan-request.ts'
import { ticketValues } from '../exports/ticket-values.ts'
import { decodeTicket } from '../exports/tickets.ts'
import { currentSecond } from '../instant.ts'
import { type ParameterValues, readParameters, scanRequest } from '../parameters.ts'
import { newPumpProgress, pump } from '../pump.ts'
import { STREAM_BATCH_BYTES } from '../server/allowance.ts'
import type { ClientWatch } from '../server/client.ts'
import { admitted, type LimitedSource, readTable } from '../server/reader.ts'
import type { FlightContext } from './call.ts'
import { commandOf, parseObject, READ_PARAMETERS } from './command.ts'
import { flightExporter } from './flight-exporter.ts'
import { FlightSink } from './flight-sink.ts'
import { MessageBuffers } from './message-buffers.ts'
import type { Ticket } from './protocol.ts'

type Call = ServerWritableStream<Ticket, Buffer>

interface FlightJob {
  keyspace: string
  table: string
  export?: string
  split?: number
  pinned: LimitedSource
  request: ScanRequest
  compression: Compression | undefined
  /** When it was asked for, by performance.now(). */
  started: number
}

const OPENING_BRACE = 0x7b

export async function doGet(context: FlightContext, call: Call, watch: ClientWatch): Promise<void> {
  const { ticket } = call.request
  if (ticket[0] !== OPENING_BRACE) return readTicket(context, call, watch, Buffer.from(ticket).toString('utf8'))
  const fields = parseObject(ticket)
  if (fields.table !== undefined) return sendTable(context, call, watch, fields)
  const { ticket: text, after, ...rest } = fields
  if (typeof text !== 'string' || Object.keys(rest).length > 0) {
    throw new SluiceError('BAD_TICKET', {
      expected: 'a ticket, or JSON with ticket and after, or with table and parameters',
    })
  }
  const asked = after === undefined || after === null ? [] : [['after', String(after)] as const]
  return readTicket(context, call, watch, text, readParameters(['after'], asked))
}

async function sendTable(
  context: FlightContext,
  call: Call,
  watch: ClientWatch,
  fields: Record<string, unknown>,
): Promise<void> {
  const started = performance.now()
  const { name, given } = commandOf(fields, READ_PARAMETERS)
  const values = readParameters(READ_PARAMETERS, given)
  const { signal } = watch
  await readTable(context, name, { group: call.getPeer(), signal, batchBytes: values.batch_bytes }, async (pinned) => {
    const request = scanRequest(values, 'arrows', values.now ?? currentSecond(), signal)
    const compression = values.compression as Compression | undefined
    await send(context, call, watch, { ...name, pinned, request, compression, started })
  })
}

async function readTicket(
  context: FlightContext,
  call: Call,
  watch: ClientWatch,
  text: string,
  asked: ParameterValues = {},
): Promise<void> {
  const started = performance.now()
  const ticket = decodeTicket(context.exports.key, text)
  const { exportId, split } = ticket
  const ended = context.exports.use(exportId, watch.cut)
  try {
    const { keyspace, table, parameters, now, pinned } = context.exports.get(exportId)
    const { fixed, values } = ticketValues(ticket, parameters, asked)
    const job = {
      keyspace,
      table,
      export: exportId,
      split,
      request: scanRequest(values, 'arrows', now, watch.signal),
      compression: fixed.compression as Compression | undefined,
      started,
    }
    const reader = { group: `export ${exportId}`, signal: watch.signal, batchBytes: values.batch_bytes }
    await admitted(context, reader, (limit) => send(context, call, watch, { ...job, pinned: limit(pinned) }))
  } finally {
    ended()
  }
}

async function send(context: FlightContext, call: Call, { signal }: ClientWatch, job: FlightJob): Promise<void> {
  const { metrics, logger } = context
  const { pinned, request, compression, started, ...names } = job
  const progress = newPumpProgress()
  let outcome = signal.aborted ? 'left' : 'cut'
  try {
    const buffers = new MessageBuffers(request.batchBytes ?? STREAM_BATCH_BYTES, pinned.hold)
    const scan = await pinned.scan(request)
    const stream = new FlightSink(call, signal, buffers)
    const sink = {
      async write(parts: Uint8Array[]) {
        const from = performance.now()
        await stream.write(parts)
        metrics.stalled('client', performance.now() - from)
      },
    }
    try {
      await pump(
        scan,
        flightExporter(compression, (bytes) => buffers.allocate(bytes)),
        sink,
        progress,
      )
      // What waits for the client still takes memory, and its place.
      await stream.end()
      outcome = 'whole'
    } finally {
      await scan.close()
    }
  } finally {
    if (outcome !== 'whole' && signal.aborted) outcome = 'left'
    metrics.streams.inc({ outcome })
    metrics.sentBytes.inc({ format: 'flight' }, progress.bytes)
    metrics.streamSeconds.observe((performance.now() - started) / 1000)
    const ms = Math.round(performance.now() - started)
    logger.info({ ...names, format: 'flight', ...progress, ms }, outcome === 'whole' ? 'stream ended' : 'stream cut')
  }
}
