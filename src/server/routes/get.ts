// A resource and its methods: GET and HEAD by one handler, any other method refused by name with what is allowed.

import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { SluiceError } from '../../../storage/errors.ts'

export type Method = 'GET' | 'POST' | 'DELETE'

const ALL_METHODS: HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

export type Handler<Params> = (request: FastifyRequest<{ Params: Params }>, reply: FastifyReply) => Promise<unknown>

export function resource<Params = unknown>(
  app: FastifyInstance,
  url: string,
  handlers: Partial<Record<Method, Handler<Params>>>,
): void {
  const allowed: HTTPMethods[] = []
  for (const [name, handler] of Object.entries(handlers)) {
    const method = name === 'GET' ? ['GET', 'HEAD'] : [name]
    allowed.push(...method)
    app.route<{ Params: Params }>({ method, url, handler })
  }
  const expected = allowed.join(', ')
  app.route({
    method: ALL_METHODS.filter((method) => !allowed.includes(method)),
    url,
    // Before the body is read: its content type must not be the complaint.
    onRequest: async (request, reply) => {
      reply.header('Allow', expected)
      throw new SluiceError('METHOD_NOT_ALLOWED', { value: request.method, expected })
    },
    handler: async () => {},
  })
}

/** A resource that can only be read. */
export function get<Params = unknown>(app: FastifyInstance, url: string, handler: Handler<Params>): void {
  resource(app, url, { GET: handler })
}
