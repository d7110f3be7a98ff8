// A resource that can only be read: GET and HEAD by one handler, any other method refused by name with what is allowed.

import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { SluiceError } from '../../../storage/errors.ts'

const OTHER_METHODS: HTTPMethods[] = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

export type Handler<Params> = (request: FastifyRequest<{ Params: Params }>, reply: FastifyReply) => Promise<unknown>

export function get<Params = unknown>(app: FastifyInstance, url: string, handler: Handler<Params>): void {
  app.route<{ Params: Params }>({ method: ['GET', 'HEAD'], url, handler })
  app.route({
    method: OTHER_METHODS,
    url,
    // Before the body is read: its content type must not be the complaint.
    onRequest: async (request, reply) => {
      reply.header('Allow', 'GET, HEAD')
      throw new SluiceError('METHOD_NOT_ALLOWED', { value: request.method, expected: 'GET, HEAD' })
    },
    handler: async () => {},
  })
}
