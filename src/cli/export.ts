// `sluice export`: the rows of one table into a file or a pipe.

import { extname } from 'node:path'
import type { Exporter } from '../../exporters/exporter.ts'
import { createExporter, isFormat } from '../../exporters/formats.ts'
import { SluiceError } from '../../storage/errors.ts'
import type { Scan } from '../../storage/scan/scan-request.ts'
import { formatBytes, formatCount } from '../format-numbers.ts'
import type { FormatName } from '../formats.ts'
import { chooseFormat, FORMATS } from '../formats.ts'
import { currentSecond } from '../instant.ts'
import type { TableName } from '../names.ts'
import { formatTableName, parseTableName } from '../names.ts'
import { openSource } from '../open-source.ts'
import type { ParameterValues } from '../parameters.ts'
import { exporterOptions, ROWS_PARAMETERS, scanRequest } from '../parameters.ts'
import type { PumpProgress } from '../pump.ts'
import { newPumpProgress, pump } from '../pump.ts'
import type { PinnedSource } from '../source.ts'
import type { DataFlags } from './options.ts'
import { logFormat, parameterValues, sourceOptions } from './options.ts'
import { openOutput, ReaderLeft } from './output.ts'
import { startProgress } from './progress.ts'
import { type RemoteFlags, refuseRemoteFlags } from './remote-flags.ts'
import type { LogFormat } from './report-error.ts'
import { warn } from './report-error.ts'

export interface ExportFlags extends DataFlags {
  output?: string
  stats?: boolean
  quiet?: boolean
  logFormat?: string
  format?: string
}

/** An export whose request is understood; nothing is opened yet. */
interface Job {
  name: TableName
  values: ParameterValues
  format: FormatName
  exporter: Exporter
  now: number
  flags: ExportFlags
  log: LogFormat
  signal: AbortSignal
}

export async function exportTable(tableName: string, given: RemoteFlags & Partial<ExportFlags>): Promise<void> {
  if (given.url !== undefined) {
    await (await import('./remote-export.ts')).exportFromServer(tableName, given)
    return
  }
  const flags = localFlags(given)
  const values = parameterValues(ROWS_PARAMETERS, flags as unknown as Record<string, unknown>)
  const format = outputFormat(values.format, flags.output)
  const job: Job = {
    name: parseTableName(tableName),
    values,
    format,
    exporter: createExporter(format, exporterOptions(values, format)),
    now: values.now ?? currentSecond(),
    flags,
    log: logFormat(flags),
    signal: interruption(),
  }
  const source = await openSource(sourceOptions(flags))
  try {
    const pinned = await source.pin(job.name.keyspace, job.name.table)
    try {
      if (!flags.quiet) warnBefore(pinned, job)
      await exportPinned(pinned, job)
    } finally {
      await pinned.release()
    }
  } finally {
    await source.close()
  }
}

async function exportPinned(pinned: PinnedSource, job: Job): Promise<void> {
  const { values, format, now, exporter, signal, flags, name } = job
  const scan = await pinned.scan(scanRequest(values, format, now, signal))
  try {
    const progress = newPumpProgress()
    const output = await openOutput(flags.output, signal)
    const started = performance.now()
    // Beside rows on the same terminal a bar would only be in the way.
    const shown = process.stderr.isTTY && !flags.quiet && !(toStandardOutput(flags) && process.stdout.isTTY)
    const bar = shown ? startProgress(formatTableName(name), scan.stats, progress, process.stderr) : undefined
    try {
      await pump(scan, exporter, output, progress)
      await output.commit()
    } catch (error) {
      await output.discard()
      if (!(error instanceof ReaderLeft)) throw signal.aborted ? signal.reason : error
    } finally {
      bar?.stop()
    }
    tellAfter(scan, progress, performance.now() - started, job)
  } finally {
    await scan.close()
  }
}

/** @throws SluiceError BAD_PARAMETER */
function localFlags({ data, ...others }: RemoteFlags & Partial<ExportFlags>): ExportFlags {
  refuseRemoteFlags(others)
  if (data === undefined) {
    throw new SluiceError('BAD_PARAMETER', { parameter: 'data', expected: '--data DIR, or --url URL of a server' })
  }
  return { ...others, data }
}

export function toStandardOutput({ output }: { output?: string }): boolean {
  return output === undefined || output === '-'
}

/** The extension of the output file names the format where --format does not. */
export function outputFormat(given: string | undefined, output: string | undefined, isToFiles = false): FormatName {
  const extension = output === undefined ? '' : extname(output).slice(1)
  const format = chooseFormat({ parameter: given ?? (isFormat(extension) ? extension : undefined) })
  if (!isToFiles && FORMATS[format].binary && process.stdout.isTTY && toStandardOutput({ output })) {
    throw new SluiceError('BAD_PARAMETER', {
      parameter: 'format',
      value: format,
      reason: 'a terminal cannot show it',
      hint: 'write to a file with -o, or take --format ndjson',
    })
  }
  return format
}

function warnBefore(pinned: PinnedSource, { flags, log }: Job): void {
  for (const warning of pinned.schema.warnings) warn(warning, log)
  if (flags.snapshot === undefined && pinned.schema.origin === 'system_schema') {
    warn('unflushed writes are not exported: flush the table or read a snapshot', log)
  }
}

function tellAfter({ stats }: Scan, progress: PumpProgress, ms: number, { flags, log, now, name }: Job): void {
  if (!flags.quiet && stats.overflowedDeletionTimes > 0) {
    warn(`${formatCount(stats.overflowedDeletionTimes)} cells expire later than their SSTable version can say`, log)
  }
  if (flags.stats) {
    process.stderr.write(`${JSON.stringify({ ...progress, now, ms: Math.round(ms), ...stats })}\n`)
  } else if (process.stderr.isTTY && !flags.quiet) {
    const size = formatBytes(progress.bytes)
    process.stderr.write(
      `${formatTableName(name)}: ${formatCount(progress.rows)} rows, ${size} in ${(ms / 1000).toFixed(1)} s\n`,
    )
  }
}

/** Aborted by the first SIGINT or SIGTERM; the second ends the process at once, as ever. */
export function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => controller.abort(new SluiceError('CANCELLED', { reason: name })))
  }
  return controller.signal
}
