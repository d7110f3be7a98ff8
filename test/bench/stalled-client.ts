// A client that asks for a stream, reads its beginning and then no more.

import { connect, type Socket } from 'node:net'

export interface StalledClient {
  /** Status line of the answer. */
  status: string
  close(): void
}

/** Settles when the answer has begun. */
export function stall(url: string): Promise<StalledClient> {
  const { hostname, port, pathname, search } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(Number(port), hostname)
    socket.on('error', reject)
    socket.on('end', () => reject(new Error('the connection ended')))
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`)
    socket.once('data', (part) => {
      socket.pause()
      socket.removeAllListeners('error')
      socket.removeAllListeners('end')
      socket.on('error', () => {})
      resolve({ status: part.toString('latin1').split('\r\n', 1)[0], close: () => socket.destroy() })
    })
  })
}
