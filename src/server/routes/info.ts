// What a server says about itself: whether it lives, whether it can answer, its API and its errors.

import type { FastifyInstance } from 'fastify'
import { VERSION } from '../../version.ts'
import type { ServerContext } from '../create-server.ts'
import { openApi } from '../openapi.ts'
import { errorsPage } from '../problem.ts'
import { get } from './get.ts'

export function infoRoutes(app: FastifyInstance, { source, streams, exports, admission }: ServerContext): void {
  const api = openApi()
  const page = errorsPage()

  get(app, '/healthz', async () => ({ status: 'ok', version: VERSION }))

  /** Ready: the data directory can be read and its schema understood. A full server is ready: it says so when asked for rows. */
  get(app, '/readyz', async () => {
    const keyspaces = await source.keyspaces()
    return {
      status: 'ready',
      keyspaces: keyspaces.length,
      streams: streams.size,
      waiting: admission.waiting,
      exports: exports.totals.exports,
    }
  })

  get(app, '/openapi.json', async () => api)
  get(app, '/errors', async (_, reply) => reply.type('text/html; charset=utf-8').send(page))
}
