// A server over fakes on a free port of this machine, and raw connections to it.

import { connect } from 'node:net'
import { createServer, type ServerContext, type ServerOptions } from '../../../src/server/create-server.ts'
import type { FakeSource, FakeTable } from '../fakes.ts'
import { fakeExporter, fakeSource, quiet } from '../fakes.ts'

export interface Running {
  url: string
  port: number
  source: FakeSource
  context: ServerContext
  close(deadline?: number): Promise<void>
}

export async function startServer(
  tables: Record<string, FakeTable>,
  options: Partial<ServerOptions> = {},
): Promise<Running> {
  const source = fakeSource(tables)
  const server = createServer({ source, createExporter: fakeExporter, logger: quiet, ...options })
  const url = await server.listen('127.0.0.1', 0)
  const { context } = server
  return { url, port: Number(new URL(url).port), source, context, close: (deadline = 0) => server.close(deadline) }
}

/** Sends text as it stands and gives everything that comes back until the connection closes. */
export function rawExchange(port: number, text: string): Promise<{ received: string; reset: boolean }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text, 'latin1'))
    const parts: Buffer[] = []
    let reset = false
    socket.on('data', (part) => parts.push(part))
    socket.on('error', () => {
      reset = true
    })
    socket.on('close', () => resolve({ received: Buffer.concat(parts).toString('latin1'), reset }))
  })
}
