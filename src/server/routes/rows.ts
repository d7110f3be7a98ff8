// The rows of a table as one stream, without a ticket: pins the live SSTables for as long as the request lasts.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Exporter } from '../../../exporters/exporter.ts'
import type { Scan } from '../../../storage/scan/scan-request.ts'
import type { FormatName } from '../../formats.ts'
import { chooseFormat } from '../../formats.ts'
import { currentSecond } from '../../instant.ts'
import type { ParameterValues } from '../../parameters.ts'
import { exporterOptions, ROWS_PARAMETERS, readParameters, scanRequest } from '../../parameters.ts'
import { newPumpProgress } from '../../pump.ts'
import type { ClientWatch } from '../client.ts'
import { watchClient } from '../client.ts'
import type { ServerContext } from '../create-server.ts'
import { sluiceErrorOf } from '../problem.ts'
import { queryPairs } from '../query.ts'
import { cutResponse, streamRows } from '../stream-rows.ts'
import { get } from './get.ts'
import type { TableParams } from './tables.ts'

interface RowsParams extends TableParams {
  extension?: string
}

interface RowsRequest extends TableParams {
  values: ParameterValues
  format: FormatName
  /** Epoch seconds. */
  now: number
}

export function rowsRoutes(app: FastifyInstance, context: ServerContext): void {
  const handler = async (request: FastifyRequest<{ Params: RowsParams }>, reply: FastifyReply) => {
    const asked = readRequest(request)
    const watch = watchClient(request.raw.socket)
    try {
      context.streams.add(watch)
      await answer(context, asked, request, reply, watch)
    } finally {
      watch.end()
      context.streams.delete(watch)
    }
    return reply
  }
  get(app, '/v1/keyspaces/:keyspace/tables/:table/rows', handler)
  get(app, '/v1/keyspaces/:keyspace/tables/:table/rows.:extension', handler)
}

function readRequest(request: FastifyRequest<{ Params: RowsParams }>): RowsRequest {
  const { keyspace, table, extension } = request.params
  const values = readParameters(ROWS_PARAMETERS, queryPairs(request.raw.url!))
  const format = chooseFormat({ extension, parameter: values.format, accept: request.headers.accept })
  return { keyspace, table, values, format, now: values.now ?? currentSecond() }
}

async function answer(
  context: ServerContext,
  asked: RowsRequest,
  request: FastifyRequest,
  reply: FastifyReply,
  watch: ClientWatch,
): Promise<void> {
  const exporter = context.createExporter(asked.format, exporterOptions(asked.values, asked.format))
  const headers = rowsHeaders(asked, exporter)
  const pinned = await context.source.pin(asked.keyspace, asked.table)
  try {
    const scan = await pinned.scan(scanRequest(asked.values, asked.format, asked.now, watch.signal))
    try {
      // No batch is pulled for a HEAD: it costs no more than opening the table.
      if (request.method === 'HEAD') reply.headers(headers).send()
      else await send(context, asked, scan, exporter, headers, reply, watch)
    } finally {
      await scan.close()
    }
  } finally {
    await pinned.release()
  }
}

async function send(
  context: ServerContext,
  asked: RowsRequest,
  scan: Scan,
  exporter: Exporter,
  headers: Record<string, string>,
  reply: FastifyReply,
  watch: ClientWatch,
): Promise<void> {
  const response = reply.raw
  const progress = newPumpProgress()
  const started = performance.now()
  const { keyspace, table, format } = asked
  const log = (extra: object) => ({
    keyspace,
    table,
    format,
    ...progress,
    ms: Math.round(performance.now() - started),
    ...extra,
  })
  try {
    await streamRows(scan, exporter, response, headers, watch.signal, progress)
    reply.hijack()
    context.logger.info(log({}), 'stream ended')
  } catch (thrown) {
    // A scan that was stopped says CANCELLED; why it was stopped is known here.
    const error = sluiceErrorOf(watch.signal.aborted ? watch.signal.reason : thrown)
    if (!response.headersSent && !response.socket?.destroyed) throw error
    reply.hijack()
    cutResponse(response)
    const level = error.code === 'CANCELLED' ? 'info' : 'error'
    const cause = level === 'error' ? error.cause : undefined
    context.logger[level](log({ code: error.code, fields: error.fields, err: cause }), 'stream cut')
  }
}

function rowsHeaders({ keyspace, table, now }: RowsRequest, exporter: Exporter): Record<string, string> {
  return {
    'Content-Type': exporter.mediaType,
    'Content-Disposition': `attachment; ${fileNameParameter(`${keyspace}.${table}${exporter.extension}`)}`,
    'Sluice-Now': String(now),
    'Cache-Control': 'no-store',
    Vary: 'Accept',
  }
}

/** RFC 6266: names beyond plain ASCII also in their exact form. */
function fileNameParameter(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_.-]/g, '_')
  if (plain === name) return `filename="${plain}"`
  const exact = encodeURIComponent(name).replaceAll(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  return `filename="${plain}"; filename*=UTF-8''${exact}`
}
