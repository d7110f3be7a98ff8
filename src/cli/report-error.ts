// How the command line tells of a failure: one line on stderr, an exit code by kind of error (sysexits.h).

import { isSluiceError, SluiceError } from '../../storage/errors.ts'

export type LogFormat = 'text' | 'json'

/** Writes the line and sets the exit code; does not end the process. */
export function reportError(thrown: unknown, format: LogFormat): void {
  const error = isSluiceError(thrown) ? thrown : new SluiceError('INTERNAL', { reason: reasonOf(thrown) }, thrown)
  process.exitCode = error.exitCode
  tell('error', error.message, format, { code: error.code, fields: error.fields })
  // A fault of this program: whoever reports it needs to say where.
  if (error.code === 'INTERNAL' && error.cause instanceof Error) process.stderr.write(`${error.cause.stack}\n`)
}

export function warn(message: string, format: LogFormat): void {
  tell('warning', message, format, {})
}

function tell(
  level: 'error' | 'warning',
  message: string,
  format: LogFormat,
  extra: { code?: string; fields?: object },
) {
  if (format === 'json') process.stderr.write(`${JSON.stringify({ level, message, ...extra })}\n`)
  else
    process.stderr.write(
      `sluice: ${level === 'warning' ? 'warning: ' : ''}${extra.code ? `${extra.code}: ` : ''}${oneLine(message)}\n`,
    )
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ')
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
