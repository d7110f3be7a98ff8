// What `sluice serve` may take of the machine, as flags: streams, memory, disk, exports.

import type { Command } from 'commander'
import type { Logger } from 'pino'
import { SluiceError } from '../../storage/errors.ts'
import { DEFAULT_EXPORT_LIMITS } from '../exports/export-limits.ts'
import { ExportStore } from '../exports/export-store.ts'
import { StateDirectory } from '../exports/kept-files.ts'
import { keptSigningKey } from '../exports/tickets.ts'
import { DEFAULT_ADMISSION } from '../server/admission.ts'
import type { ServerOptions } from '../server/create-server.ts'
import type { Source } from '../source.ts'
import { append } from './options.ts'
import { parseBytes, wholeNumber } from './sizes.ts'

export interface LimitFlags {
  maxScans: string
  maxQueue: string
  memory: string
  maxReadRate?: string
  state?: string
  advertise?: string[]
  maxExports: string
  maxExportAge: string
  maxPinned?: string
}

/** Less would not hold one scan. */
const LEAST_MEMORY = 16 << 20

export function addLimitFlags(command: Command): Command {
  return command
    .option('--max-scans <number>', 'streams at once; more wait for their turn', String(DEFAULT_ADMISSION.maxScans))
    .option(
      '--max-queue <number>',
      'streams that wait; more are told to come again',
      String(DEFAULT_ADMISSION.maxQueue),
    )
    .option('--memory <size>', 'memory of all streams together, beside what the process takes itself', '256MB')
    .option('--max-read-rate <mb/s>', 'megabytes a second that all streams together read from disk')
    .option('--state <dir>', 'directory for hard links and keys, so that exports outlive a restart')
    .option('--advertise <url>', 'URL that clients reach this server by, for tickets; may be repeated', append)
    .option('--max-exports <number>', 'exports at once', String(DEFAULT_EXPORT_LIMITS.exports))
    .option('--max-export-age <seconds>', 'age at which an export ends', String(DEFAULT_EXPORT_LIMITS.ageSeconds))
    .option('--max-pinned <size>', 'bytes of Data.db that exports may pin together')
}

/** Checks the flags; opens the state directory. @throws SluiceError BAD_PARAMETER, CANNOT_WRITE */
export async function serverLimits(
  flags: LimitFlags,
  source: Source,
  logger: Logger,
): Promise<Pick<ServerOptions, 'exports' | 'limits' | 'readRate' | 'locations'>> {
  const memory = parseBytes('memory', flags.memory)
  if (memory < LEAST_MEMORY) {
    throw new SluiceError('BAD_PARAMETER', { parameter: 'memory', value: flags.memory, expected: '16MiB or more' })
  }
  const limits = {
    maxScans: wholeNumber('max-scans', flags.maxScans, 1, 100_000),
    maxQueue: wholeNumber('max-queue', flags.maxQueue, 0, 100_000),
    memory,
  }
  const readRate =
    flags.maxReadRate === undefined ? undefined : wholeNumber('max-read-rate', flags.maxReadRate, 1, 1_000_000) * 1e6
  const exportLimits = {
    exports: wholeNumber('max-exports', flags.maxExports, 0, 100_000),
    ageSeconds: wholeNumber('max-export-age', flags.maxExportAge, 1, 366 * 86_400),
    ...(flags.maxPinned === undefined ? {} : { pinnedBytes: parseBytes('max-pinned', flags.maxPinned) }),
  }
  const locations = flags.advertise?.map(location)
  const { state } = flags
  const exports = new ExportStore({
    source,
    logger,
    limits: exportLimits,
    key: state === undefined ? undefined : await keptSigningKey(state),
    state: state === undefined ? undefined : await StateDirectory.open(state),
  })
  await exports.restore()
  return { exports, limits, readRate, locations }
}

function location(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return text.replace(/\/+$/, '')
  throw new SluiceError('BAD_PARAMETER', { parameter: 'advertise', value: text, expected: 'an http or https URL' })
}
