// The rows of a table as one stream, without a ticket: pins the live SSTables for as long as the request lasts.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { chooseFormat } from '../../formats.ts'
import { currentSecond } from '../../instant.ts'
import { exporterOptions, readParameters, STREAM_PARAMETERS, scanRequest } from '../../parameters.ts'
import { answerStream } from '../answer-stream.ts'
import type { ClientWatch } from '../client.ts'
import { watchClient } from '../client.ts'
import type { ServerContext } from '../create-server.ts'
import { queryPairs } from '../query.ts'
import { get } from './get.ts'
import type { TableParams } from './tables.ts'

interface RowsParams extends TableParams {
  extension?: string
}

export function rowsRoutes(app: FastifyInstance, context: ServerContext): void {
  const handler = async (request: FastifyRequest<{ Params: RowsParams }>, reply: FastifyReply) => {
    const watch = watchClient(request.raw.socket)
    try {
      context.streams.add(watch)
      await answer(context, request, reply, watch)
    } finally {
      watch.end()
      context.streams.delete(watch)
    }
    return reply
  }
  get(app, '/v1/keyspaces/:keyspace/tables/:table/rows', handler)
  get(app, '/v1/keyspaces/:keyspace/tables/:table/rows.:extension', handler)
}

async function answer(
  context: ServerContext,
  request: FastifyRequest<{ Params: RowsParams }>,
  reply: FastifyReply,
  watch: ClientWatch,
): Promise<void> {
  const { keyspace, table, extension } = request.params
  const values = readParameters(STREAM_PARAMETERS, queryPairs(request.raw.url!))
  const format = chooseFormat({ extension, parameter: values.format, accept: request.headers.accept })
  const exporter = context.createExporter(format, exporterOptions(values, format))
  const now = values.now ?? currentSecond()
  const pinned = await context.source.pin(keyspace, table)
  try {
    const job = {
      keyspace,
      table,
      format,
      now,
      fileName: `${keyspace}.${table}`,
      exporter,
      pinned,
      request: scanRequest(values, format, now, watch.signal),
      group: `client ${request.raw.socket.remoteAddress}`,
      rate: values.rate,
      digest: values.digest,
    }
    await answerStream(context, job, request, reply, watch)
  } finally {
    await pinned.release()
  }
}
