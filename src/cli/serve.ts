// `sluice serve`: the server over local data directories, until a signal ends it.

import { isIP } from 'node:net'
import { destination, type Logger, pino } from 'pino'
import { createExporter } from '../../exporters/formats.ts'
import { SluiceError } from '../../storage/errors.ts'
import { openSource } from '../open-source.ts'
import type { SluiceServer } from '../server/create-server.ts'
import { createServer } from '../server/create-server.ts'
import { demoText } from './demo.ts'
import type { DataFlags } from './options.ts'
import { sourceOptions } from './options.ts'
import { print } from './print.ts'

export interface ServeFlags extends DataFlags {
  host: string
  port: string
  logLevel: string
  shutdownTimeout: string
  workers: string
  demo?: boolean
}

/** After the deadline streams are cut; what then still does not end is left behind. */
const GRACE_MS = 5000

export async function serve(flags: ServeFlags): Promise<void> {
  const port = wholeNumber('port', flags.port, 65_535)
  const deadline = wholeNumber('shutdown-timeout', flags.shutdownTimeout, 86_400) * 1000
  const logger = pino({ level: flags.logLevel, base: undefined }, destination(2))
  const workers = wholeNumber('workers', flags.workers, 256)
  const source = await openSource({
    ...sourceOptions(flags),
    workers,
    onWorkerDeath: (error) => logger.error({ err: error }, 'a scan worker ended'),
  })
  try {
    const server = createServer({ source, createExporter, logger })
    const stopped = untilSignal(server, deadline, logger)
    const url = await server.listen(flags.host, port)
    logger.info({ url, data: flags.data }, 'listening')
    if (!isLoopback(flags.host)) {
      logger.warn({ host: flags.host }, 'whoever reaches this address can read every table')
    }
    await print(flags.demo ? demoText(url) : `Sluice listens on ${url}\n`)
    await stopped
  } finally {
    await source.close()
  }
}

async function untilSignal(server: SluiceServer, deadline: number, logger: Logger): Promise<void> {
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
  await server.close(deadline)
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
