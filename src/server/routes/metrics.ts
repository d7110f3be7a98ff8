// What the server counts, as Prometheus reads it.

import type { FastifyInstance } from 'fastify'
import type { ServerContext } from '../create-server.ts'
import { get } from './get.ts'

export function metricsRoute(app: FastifyInstance, { metrics }: ServerContext): void {
  get(app, '/metrics', async (_, reply) => {
    reply.type(metrics.registry.contentType)
    return reply.send(await metrics.registry.metrics())
  })
}
