// The HTTP server: fastify for routing, one shape of errors, an orderly end. What a route does is in routes/.

import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fastify } from 'fastify'
import type { Logger } from 'pino'
import { SluiceError } from '../../storage/errors.ts'
import type { ExporterFactory } from '../exporter-factory.ts'
import { ExportStore } from '../exports/export-store.ts'
import { shorten } from '../shorten.ts'
import type { Source } from '../source.ts'
import { Admission, type AdmissionLimits, DEFAULT_ADMISSION } from './admission.ts'
import { bearsToken } from './bearer.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { PROBLEM_MEDIA_TYPE, problemHeaders, problemOf, sluiceErrorOf } from './problem.ts'
import { RateLimit } from './rate.ts'
import { countRoute } from './routes/count.ts'
import { digestRoute } from './routes/digest.ts'
import { exportRoutes } from './routes/exports.ts'
import { infoRoutes } from './routes/info.ts'
import { metricsRoute } from './routes/metrics.ts'
import { rowsRoutes } from './routes/rows.ts'
import { splitsRoute } from './routes/splits.ts'
import { tableRoutes } from './routes/tables.ts'
import { ticketRoutes } from './routes/tickets.ts'
import { StreamRegistry } from './streams.ts'

export interface ServerOptions {
  source: Source
  createExporter: ExporterFactory
  logger: Logger
  /** Closed with the server. If not given, exports end with the process. */
  exports?: ExportStore
  limits?: Partial<AdmissionLimits>
  /** Bytes a second that all streams together may read from disk; all they can if not given. */
  readRate?: number
  /** URLs that clients reach this server's tickets by. */
  locations?: string[]
  /** What clients have to bear, of every protocol; nothing if not given. */
  token?: string
}

/** What the routes share. */
export interface ServerContext extends Omit<ServerOptions, 'readRate'> {
  streams: StreamRegistry
  exports: ExportStore
  admission: Admission
  metrics: Metrics
  readRate: RateLimit | undefined
  locations: string[]
}

export interface SluiceServer {
  /** Routes and hooks, for tests and for more routes. */
  readonly app: FastifyInstance
  /** For a second protocol over the same exports, limits and streams. */
  readonly context: ServerContext
  /** Starts to listen and gives the URL. Port 0 takes a free one. @throws SluiceError CANNOT_LISTEN */
  listen(host: string, port: number): Promise<string>
  /** Refuses new requests, lets streams end for up to `deadline` ms, cuts the rest. Does not close the source. */
  close(deadline: number): Promise<void>
}

/** For orchestrators, which bear no token. */
const FREE_ROUTES = new Set<string | undefined>(['/healthz', '/readyz'])

/** To receive a whole request, headers and body: a client that drips one in holds a connection, nothing else. */
const REQUEST_TIMEOUT_MS = 30_000

export function createServer(options: ServerOptions): SluiceServer {
  const exports = options.exports ?? new ExportStore({ source: options.source, logger: options.logger })
  const admission = new Admission({ ...DEFAULT_ADMISSION, ...options.limits })
  const context: ServerContext = {
    ...options,
    streams: new StreamRegistry(),
    exports,
    admission,
    metrics: createMetrics(admission, exports),
    readRate: options.readRate === undefined ? undefined : new RateLimit(options.readRate),
    locations: options.locations ?? [],
  }
  const app = fastify({
    logger: false, // requests are logged with what became of them, by the routes
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: false, // `close` says so in this product's own form
    exposeHeadRoutes: false,
    frameworkErrors: (error, request, reply) => sendProblem(context, error, request, reply),
    clientErrorHandler: (error, socket) => answerMalformed(error, socket as Socket),
    routerOptions: { maxParamLength: 8192 },
  })
  app.setErrorHandler((error, request, reply) => sendProblem(context, error, request, reply))
  app.setNotFoundHandler((request) => {
    throw new SluiceError('NOT_FOUND', { value: shorten(request.raw.url ?? ''), hint: 'see /openapi.json' })
  })
  const { token } = options
  app.addHook('onRequest', async ({ headers, routeOptions }) => {
    if (token !== undefined && !FREE_ROUTES.has(routeOptions.url) && !bearsToken(headers.authorization, token)) {
      throw new SluiceError('UNAUTHORIZED')
    }
    if (context.streams.closing) throw new SluiceError('SHUTTING_DOWN')
  })
  app.setReplySerializer((payload) => `${JSON.stringify(payload)}\n`) // ends in a line feed, for curl on a terminal
  infoRoutes(app, context)
  tableRoutes(app, context)
  rowsRoutes(app, context)
  exportRoutes(app, context)
  ticketRoutes(app, context)
  metricsRoute(app, context)
  splitsRoute(app, context)
  countRoute(app, context)
  digestRoute(app, context)
  return {
    app,
    context,
    async listen(host, port) {
      try {
        return await app.listen({ host, port })
      } catch (error) {
        throw new SluiceError('CANNOT_LISTEN', { value: `${host}:${port}`, reason: (error as Error).message }, error)
      }
    },
    async close(deadline) {
      await context.streams.close(deadline)
      await app.close()
      await exports.close()
    },
  }
}

function sendProblem(context: ServerContext, thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const error = sluiceErrorOf(thrown)
  context.metrics.errors.inc({ code: error.code })
  const level = error.status === 499 ? 'info' : error.status >= 500 && error.status !== 503 ? 'error' : 'debug'
  context.logger[level](
    {
      code: error.code,
      fields: error.fields,
      method: request.method,
      url: shorten(request.raw.url ?? ''),
      err: error.cause,
    },
    'request refused',
  )
  reply
    .code(error.status)
    .headers(problemHeaders(error))
    .header('Content-Type', PROBLEM_MEDIA_TYPE)
    .send(Buffer.from(`${JSON.stringify(problemOf(error))}\n`)) // to text fastify would add a charset
}

/** A request that node's parser gave up on has no response object: the answer is written to the socket. */
function answerMalformed(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const problem = problemOf(new SluiceError('BAD_REQUEST', { reason: error.code ?? error.message }))
  const body = `${JSON.stringify(problem)}\n`
  socket.end(
    `HTTP/1.1 ${problem.status} Bad Request\r\nContent-Type: ${PROBLEM_MEDIA_TYPE}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
