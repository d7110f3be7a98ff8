// A proxy between a client and a server on this machine that cuts connections in the midst of answers.

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const TICK_SECONDS = 0.05

export interface FlakyProxy {
  url: string
  /** Connections cut so far. */
  cuts: number
  /** Of each connection; may be changed while they go on. */
  bytesPerSecond: number
  close(): Promise<void>
}

/**
 * @param bytesUntilCut asked for each connection: after how many bytes of the answers it is cut; undefined: never
 * @param bytesPerSecond of each connection
 */
export async function flakyProxy(
  port: number,
  bytesUntilCut: () => number | undefined,
  bytesPerSecond = Number.POSITIVE_INFINITY,
): Promise<FlakyProxy> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    let left = bytesUntilCut() ?? Number.POSITIVE_INFINITY
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream)
    const pass = (part: Buffer) => {
      const passed = part.subarray(0, left)
      left -= passed.length
      const goesOn = client.write(passed)
      if (left > 0) return goesOn
      proxy.cuts++
      upstream.destroy()
      // What was passed arrives, then the connection is reset or ends, by turns.
      if (proxy.cuts % 2 === 0) client.end(() => client.destroy())
      else client.resetAndDestroy()
      return true
    }
    upstream.on('data', async (part: Buffer) => {
      upstream.pause()
      for (let at = 0; at < part.length && !client.destroyed; ) {
        const slice = part.subarray(at, at + Math.max(1, Math.min(part.length, proxy.bytesPerSecond * TICK_SECONDS)))
        at += slice.length
        const goesOn = pass(slice)
        if (proxy.bytesPerSecond < Number.POSITIVE_INFINITY) await sleep(1000 * TICK_SECONDS)
        else if (!goesOn) await Promise.race([once(client, 'drain'), once(client, 'close')])
      }
      upstream.resume()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address() as { port: number }
  const proxy: FlakyProxy = {
    url: `http://127.0.0.1:${address.port}`,
    cuts: 0,
    bytesPerSecond,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return proxy
}
