// `sluice serve`: the server over local data directories, until a signal ends it.

import { isIP } from 'node:net'
import { destination, type Logger, pino } from 'pino'
import { createExporter } from '../../exporters/formats.ts'
import { SluiceError } from '../../storage/errors.ts'
import { openSource } from '../open-source.ts'
import { createServer } from '../server/create-server.ts'
import type { Source } from '../source.ts'
import { demoText } from './demo.ts'
import type { DataFlags } from './options.ts'
import { sourceOptions } from './options.ts'
import { print } from './print.ts'

/** A server that can be told to stop: lets streams end for up to `deadline` ms. */
interface Ending {
  close(deadline: number): Promise<void>
}

export interface ServeFlags extends DataFlags {
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
  const port = wholeNumber('port', flags.port, 65_535)
  const deadline = wholeNumber('shutdown-timeout', flags.shutdownTimeout, 86_400) * 1000
  const logger = pino({ level: flags.logLevel, base: undefined }, destination(2))
  const workers = wholeNumber('workers', flags.workers, 256)
  const flightPort = flags.flightPort === undefined ? undefined : wholeNumber('flight-port', flags.flightPort, 65_535)
  const source = await openSource({
    ...sourceOptions(flags),
    workers,
    onWorkerDeath: (error) => logger.error({ err: error }, 'a scan worker ended'),
  })
  const servers: Ending[] = []
  try {
    const server = createServer({ source, createExporter, logger })
    servers.push(server)
    const stopped = untilSignal(servers, deadline, logger)
    const url = await server.listen(flags.host, port)
    logger.info({ url, data: flags.data }, 'listening')
    const location =
      flightPort === undefined ? undefined : await serveFlight(source, logger, flags.host, flightPort, servers)
    if (!isLoopback(flags.host)) {
      logger.warn({ host: flags.host }, 'whoever reaches this address can read every table')
    }
    await print(flags.demo ? demoText(url) : `Sluice listens on ${url}\n`)
    if (location !== undefined) await print(`Arrow Flight listens on ${location}\n`)
    await stopped
  } catch (error) {
    // One that listens would keep the process alive where the other could not begin.
    await Promise.all(servers.map((server) => server.close(0)))
    throw error
  } finally {
    await source.close()
  }
}

/** Only who wants Flight loads gRPC. Gives the location. */
async function serveFlight(
  source: Source,
  logger: Logger,
  host: string,
  port: number,
  servers: Ending[],
): Promise<string> {
  const { createFlightServer } = await import('../flight/flight-server.ts')
  const server = createFlightServer({ source, logger })
  const location = await server.listen(host, port)
  servers.push(server)
  logger.info({ location }, 'listening for Flight')
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
  await Promise.all(servers.map((server) => server.close(deadline)))
  clearTimeout(giveUp)
  logger.info('stopped')
}

function wholeNumber(flag: string, text: string, maximum: number): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
  if (value <= maximum) return value
  throw new SluiceError('BAD_PARAMETER', { parameter: flag, value: text, expected: `a whole number up to ${maximum}` })
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
