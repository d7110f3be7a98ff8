// `sluice serve`: the server over local data directories, until a signal ends it.

import { isIP } from 'node:net'
import { destination, type Logger, pino } from 'pino'
import { createExporter } from '../../exporters/formats.ts'
import { openSource } from '../open-source.ts'
import { createServer, type SluiceServer } from '../server/create-server.ts'
import { demoText } from './demo.ts'
import type { DataFlags } from './options.ts'
import { sourceOptions } from './options.ts'
import { print } from './print.ts'
import { type LimitFlags, serverLimits } from './serve-limits.ts'
import { wholeNumber } from './sizes.ts'
import { readToken, type TokenFlags } from './token.ts'

/** A server that can be told to stop: lets streams end for up to `deadline` ms. */
interface Ending {
  close(deadline: number): Promise<void>
}

export interface ServeFlags extends DataFlags, LimitFlags, TokenFlags {
  host: string
  port: string
  logLevel: string
  shutdownTimeout: string
  workers: string
  flightPort?: string
  demo?: boolean
}

/** After the deadline streams are cut; what then still does not end is left behind. */
const GRACE_MS = 5000

export async function serve(flags: ServeFlags): Promise<void> {
  const port = wholeNumber('port', flags.port, 0, 65_535)
  const deadline = wholeNumber('shutdown-timeout', flags.shutdownTimeout, 0, 86_400) * 1000
  const logger = pino({ level: flags.logLevel, base: undefined }, destination(2))
  const workers = wholeNumber('workers', flags.workers, 0, 256)
  const flightPort =
    flags.flightPort === undefined ? undefined : wholeNumber('flight-port', flags.flightPort, 0, 65_535)
  const token = await readToken(flags)
  const source = await openSource({
    ...sourceOptions(flags),
    workers,
    onWorkerDeath: (error) => logger.error({ err: error }, 'a scan worker ended'),
  })
  const servers: Ending[] = []
  try {
    const limits = await serverLimits(flags, source, logger)
    const server = createServer({ source, createExporter, logger, token, ...limits })
    servers.push(server)
    const stopped = untilSignal(servers, deadline, logger)
    const url = await server.listen(flags.host, port)
    logger.info({ url, data: flags.data }, 'listening')
    const location = flightPort === undefined ? undefined : await serveFlight(server, flags, flightPort, servers)
    if (token === undefined && !isLoopback(flags.host)) {
      logger.warn({ host: flags.host }, 'whoever reaches this address can read every table')
    }
    await print(flags.demo ? demoText(url) : `Sluice listens on ${url}\n`)
    if (location !== undefined) await print(`Arrow Flight listens on ${location}\n`)
    await stopped
  } catch (error) {
    // One that listens would keep the process alive where the other could not begin.
    for (const server of servers) await server.close(0)
    throw error
  } finally {
    await source.close()
  }
}

/** Only who wants Flight loads gRPC. Gives the location. */
async function serveFlight(
  { context }: SluiceServer,
  { host }: ServeFlags,
  port: number,
  servers: Ending[],
): Promise<string> {
  const { createFlightServer } = await import('../flight/flight-server.ts')
  const server = createFlightServer({ context })
  servers.push(server)
  const location = await server.listen(host, port)
  context.logger.info({ location }, 'listening for Flight')
  return location
}

async function untilSignal(servers: readonly Ending[], deadline: number, logger: Logger): Promise<void> {
  const signal = await new Promise<string>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.once(name, () => resolve(name))
    }
  })
  logger.info({ signal, deadline }, 'stopping')
  const giveUp = setTimeout(() => {
    logger.error('streams did not end')
    process.exit(75)
  }, deadline + GRACE_MS)
  for (const server of servers) await server.close(deadline)
  clearTimeout(giveUp)
  logger.info('stopped')
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
