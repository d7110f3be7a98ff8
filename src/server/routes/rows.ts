// The rows of a table as one stream, without a ticket: pins the live SSTables when its turn has come, for as long as it lasts.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { chooseFormat } from '../../formats.ts'
import { currentSecond } from '../../instant.ts'
import { exporterOptions, readParameters, STREAM_PARAMETERS, scanRequest } from '../../parameters.ts'
import { answerStream } from '../answer-stream.ts'
import type { ClientWatch } from '../client.ts'
import { clientGroup, watched } from '../client.ts'
import type { ServerContext } from '../create-server.ts'
import { queryPairs } from '../query.ts'
import { readTable } from '../reader.ts'
import { get } from './get.ts'
import type { TableParams } from './tables.ts'

interface RowsParams extends TableParams {
  extension?: string
}

export function rowsRoutes(app: FastifyInstance, context: ServerContext): void {
  const handler = async (request: FastifyRequest<{ Params: RowsParams }>, reply: FastifyReply) => {
    await watched(context, request, (watch) => answer(context, request, reply, watch))
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
  const started = performance.now()
  const { keyspace, table, extension } = request.params
  const values = readParameters(STREAM_PARAMETERS, queryPairs(request.raw.url!))
  const format = chooseFormat({ extension, parameter: values.format, accept: request.headers.accept })
  const options = exporterOptions(values, format)
  const now = values.now ?? currentSecond()
  const { rate, batch_bytes: batchBytes } = values
  const reader = { group: clientGroup(request), signal: watch.signal, rate, batchBytes }
  await readTable(context, request.params, reader, (pinned) => {
    const job = {
      keyspace,
      table,
      format,
      now,
      fileName: `${keyspace}.${table}`,
      options,
      pinned,
      request: scanRequest(values, format, now, watch.signal),
      started,
      digest: values.digest,
    }
    return answerStream(context, job, request, reply, watch)
  })
}
