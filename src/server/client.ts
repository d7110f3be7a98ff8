// Whether the client of a request is still there. The socket is watched and not the response: a response that waits its turn on a
// pipelined connection has no socket yet and is never told.

import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { SluiceError } from '../../storage/errors.ts'
import type { StreamRegistry } from './streams.ts'

export interface ClientWatch {
  /** Aborted, with CANCELLED or the reason given to `cut`, once nobody will read the answer. */
  readonly signal: AbortSignal
  /** Gives the request up from this side. */
  cut(reason: SluiceError): void
  /** Ends the watch; to be called however the request ended, since a connection serves many. */
  end(): void
}

/** Whose turn a request takes that belongs to no export. */
export function clientGroup({ raw }: Pick<FastifyRequest, 'raw'>): string {
  return `client ${raw.socket.remoteAddress}`
}

/** Who is to be told when a connection closes: one listener each, however many requests it carries. */
const watchers = new WeakMap<Socket, Set<() => void>>()

/** Does what a client waits for, counted among the streams under way. @throws SluiceError SHUTTING_DOWN; what `act` does */
export async function watched<T>(
  { streams }: { streams: StreamRegistry },
  { raw }: Pick<FastifyRequest, 'raw'>,
  act: (watch: ClientWatch) => Promise<T>,
): Promise<T> {
  const watch = watchClient(raw.socket)
  try {
    streams.add(watch)
    return await act(watch)
  } finally {
    watch.end()
    streams.delete(watch)
  }
}

export function watchClient(socket: Socket): ClientWatch {
  const controller = new AbortController()
  const left = () => controller.abort(new SluiceError('CANCELLED', { reason: 'the client left' }))
  const all = watchersOf(socket)
  if (socket.destroyed) left()
  else all.add(left)
  return {
    signal: controller.signal,
    cut: (reason) => controller.abort(reason),
    end: () => all.delete(left),
  }
}

function watchersOf(socket: Socket): Set<() => void> {
  let all = watchers.get(socket)
  if (all === undefined) {
    const created = new Set<() => void>()
    watchers.set(socket, created)
    socket.once('close', () => {
      for (const left of created) left()
    })
    all = created
  }
  return all
}
