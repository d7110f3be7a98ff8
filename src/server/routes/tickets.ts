// One split of an export as a stream. Whoever has the ticket can read it, as often as wanted and from any position.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ticketValues } from '../../exports/ticket-values.ts'
import type { Ticket } from '../../exports/tickets.ts'
import { decodeTicket } from '../../exports/tickets.ts'
import type { FormatName } from '../../formats.ts'
import { chooseFormat } from '../../formats.ts'
import { exporterOptions, PARAMETERS, readParameters, scanRequest, TICKET_PARAMETERS } from '../../parameters.ts'
import { answerStream } from '../answer-stream.ts'
import type { ClientWatch } from '../client.ts'
import { watched } from '../client.ts'
import type { ServerContext } from '../create-server.ts'
import { queryPairs } from '../query.ts'
import { admitted } from '../reader.ts'
import { get } from './get.ts'

interface TicketParams {
  ticket: string
}

export function ticketRoutes(app: FastifyInstance, context: ServerContext): void {
  get<TicketParams>(app, '/v1/tickets/:ticket', async (request, reply) => {
    const ticket = decodeTicket(context.exports.key, request.params.ticket)
    await watched(context, request, async (watch) => {
      const ended = context.exports.use(ticket.exportId, watch.cut)
      try {
        await answer(context, ticket, request, reply, watch)
      } finally {
        ended()
      }
    })
    return reply
  })
}

async function answer(
  context: ServerContext,
  ticket: Ticket,
  request: FastifyRequest,
  reply: FastifyReply,
  watch: ClientWatch,
): Promise<void> {
  const started = performance.now()
  const { exportId, split } = ticket
  const { keyspace, table, parameters, now, pinned } = context.exports.get(exportId)
  const asked = readParameters(TICKET_PARAMETERS, queryPairs(request.raw.url!))
  const { fixed, values: common } = ticketValues(ticket, parameters, asked)
  const { accept } = request.headers
  // The ticket's own format is for who does not say which.
  const parameter = asked.format ?? (accept === undefined || accept === '*/*' ? fixed.format : undefined)
  const format = chooseFormat({ parameter, accept })
  const values = {
    ...common,
    compression: asked.compression ?? (means('compression', format) ? fixed.compression : undefined),
    null: asked.null ?? (means('null', format) ? fixed.null : undefined),
  }
  const job = {
    keyspace,
    table,
    export: exportId,
    split,
    format,
    now,
    fileName: `${keyspace}.${table}.${split}`,
    options: exporterOptions(values, format),
    request: scanRequest(values, format, now, watch.signal),
    started,
    digest: values.digest,
  }
  const { rate, batch_bytes: batchBytes } = values
  const reader = { group: `export ${exportId}`, signal: watch.signal, rate, batchBytes }
  await admitted(context, reader, (limit) =>
    answerStream(context, { ...job, pinned: limit(pinned) }, request, reply, watch),
  )
}

function means(parameter: 'compression' | 'null', format: FormatName): boolean {
  return (PARAMETERS[parameter].formats as readonly FormatName[]).includes(format)
}
