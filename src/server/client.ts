// Whether the client of a request is still there. The socket is watched and not the response: a response that waits its turn on a
// pipelined connection has no socket yet and is never told.

import type { Socket } from 'node:net'
import { SluiceError } from '../../storage/errors.ts'

export interface ClientWatch {
  /** Aborted, with CANCELLED or the reason given to `cut`, once nobody will read the answer. */
  readonly signal: AbortSignal
  /** Gives the request up from this side. */
  cut(reason: SluiceError): void
  /** Ends the watch; to be called however the request ended, since a connection serves many. */
  end(): void
}

/** Who is to be told when a connection closes: one listener each, however many requests it carries. */
const watchers = new WeakMap<Socket, Set<() => void>>()

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
