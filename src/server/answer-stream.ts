// What all routes that stream rows do alike: open the scan, send it, tell of its end in the log and in the metrics.

import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Exporter } from '../../exporters/exporter.ts'
import type { ExporterOptions } from '../../exporters/formats.ts'
import type { ScanRequest } from '../../storage/scan/scan-request.ts'
import type { FormatName } from '../formats.ts'
import { newPumpProgress } from '../pump.ts'
import type { ClientWatch } from './client.ts'
import type { ServerContext } from './create-server.ts'
import { PartBuffers } from './part-buffers.ts'
import { sluiceErrorOf } from './problem.ts'
import type { LimitedSource } from './reader.ts'
import { cutResponse, streamRows } from './stream-rows.ts'

export interface StreamJob {
  keyspace: string
  table: string
  /** Of a ticket. */
  export?: string
  split?: number
  format: FormatName
  /** Epoch seconds. */
  now: number
  /** Without the extension, which the format gives. */
  fileName: string
  options: ExporterOptions
  pinned: LimitedSource
  request: ScanRequest
  /** When it was asked for, by performance.now(). */
  started: number
  /** Send a digest of the bytes behind them. */
  digest?: boolean
}

export async function answerStream(
  context: ServerContext,
  job: StreamJob,
  request: FastifyRequest,
  reply: FastifyReply,
  watch: ClientWatch,
): Promise<void> {
  const { hold } = job.pinned
  const buffers = new PartBuffers(hold)
  const memory: ExporterOptions = { hold, allocate: buffers.allocate, discard: buffers.giveBack }
  const exporter = context.createExporter(job.format, { ...job.options, ...memory })
  const headers = streamHeaders(job, exporter)
  if (request.method === 'HEAD') {
    // No batch is pulled: it costs no more than opening the scan.
    await (await job.pinned.scan(job.request)).close()
    reply.headers(headers).send()
    return
  }
  try {
    await send(context, job, exporter, buffers, headers, request, reply, watch)
  } catch (thrown) {
    context.metrics.streams.inc({ outcome: watch.signal.aborted ? 'left' : 'refused' })
    throw watch.signal.aborted ? watch.signal.reason : thrown
  } finally {
    buffers.close()
  }
}

async function send(
  context: ServerContext,
  job: StreamJob,
  exporter: Exporter,
  buffers: PartBuffers,
  headers: Record<string, string>,
  request: FastifyRequest,
  reply: FastifyReply,
  watch: ClientWatch,
): Promise<void> {
  const { metrics, logger } = context
  const { format, started } = job
  const { signal } = watch
  const response = reply.raw
  const progress = newPumpProgress()
  const scan = await job.pinned.scan(job.request)
  const ms = () => performance.now() - started
  const log = (extra: object) => ({
    keyspace: job.keyspace,
    table: job.table,
    export: job.export,
    split: job.split,
    format,
    ...progress,
    ms: Math.round(ms()),
    ...extra,
  })
  const hash = job.digest || wantsDigest(request.headers['want-repr-digest']) ? createHash('sha256') : undefined
  const onWrite = (bytes: number, waited: number) => {
    if (progress.bytes === 0) metrics.firstByteSeconds.observe((ms() - waited) / 1000)
    metrics.sentBytes.inc({ format }, bytes)
    metrics.stalled('client', waited)
  }
  try {
    await streamRows(response, { scan, exporter, headers, signal, progress, hash, giveBack: buffers.giveBack, onWrite })
    reply.hijack()
    metrics.streams.inc({ outcome: 'whole' })
    logger.info(log({}), 'stream ended')
  } catch (thrown) {
    // A scan that was stopped says CANCELLED; why it was stopped is known here.
    const error = sluiceErrorOf(signal.aborted ? signal.reason : thrown)
    if (!response.headersSent && !response.socket?.destroyed) throw error
    reply.hijack()
    cutResponse(response)
    const isLeft = error.code === 'CANCELLED'
    metrics.streams.inc({ outcome: isLeft ? 'left' : 'cut' })
    if (!isLeft) metrics.errors.inc({ code: error.code })
    const cause = isLeft ? undefined : error.cause
    logger[isLeft ? 'info' : 'error'](log({ code: error.code, fields: error.fields, err: cause }), 'stream cut')
  } finally {
    metrics.streamSeconds.observe(ms() / 1000)
    await scan.close()
  }
}

/** RFC 9530: a dictionary of algorithms with preferences, where 0 means not acceptable. */
function wantsDigest(header: string | string[] | undefined): boolean {
  const preference = /(?:^|,)\s*sha-256\s*=\s*(\d+)/.exec(String(header ?? ''))
  return preference !== null && Number(preference[1]) > 0
}

function streamHeaders({ now, fileName }: StreamJob, exporter: Exporter): Record<string, string> {
  return {
    'Content-Type': exporter.mediaType,
    'Content-Disposition': `attachment; ${fileNameParameter(`${fileName}${exporter.extension}`)}`,
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
