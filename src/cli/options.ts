// Flags that several commands share: where the data is, and the request parameters of src/parameters.ts as flags.

import { type Command, Option } from 'commander'
import { SluiceError } from '../../storage/errors.ts'
import type { SourceOptions } from '../open-source.ts'
import type { ParameterName, ParameterValues } from '../parameters.ts'
import { PARAMETERS, parseParameter } from '../parameters.ts'
import type { LogFormat } from './report-error.ts'

export interface DataFlags {
  data: string[]
  schema?: string
  snapshot?: string
  backups?: boolean
}

/** @param isNeeded false: the command has another way to come by data */
export function addDataFlags(command: Command, isNeeded = true): Command {
  const description = 'Cassandra data directory, or the directory of one table; may be repeated'
  const option = new Option('--data <dir>', description).argParser(append).makeOptionMandatory(isNeeded)
  return command
    .addOption(option)
    .option('--schema <file>', 'CQL file with CREATE TABLE statements, for data without system_schema')
    .option('--snapshot <tag>', 'read this snapshot and not the live SSTables')
    .option('--backups', 'read incremental backups too')
}

export function sourceOptions(flags: DataFlags): SourceOptions {
  return { data: flags.data, schemaFile: flags.schema, snapshot: flags.snapshot, backups: flags.backups }
}

/** The flags of these parameters; `start` and `end` are one flag, --range. */
export function addParameterFlags(command: Command, names: readonly ParameterName[]): Command {
  for (const name of names) {
    if (name === 'start') command.option('--range <start,end>', 'token range (start, end]; either may be left out')
    else if (name !== 'end') {
      const { kind, placeholder, summary } = PARAMETERS[name]
      const value = kind === 'flag' ? '' : ` <${placeholder.toLowerCase()}>`
      command.option(`--${name.replaceAll('_', '-')}${value}`, uncapitalise(summary))
    }
  }
  return command
}

/** Values from the flags that `addParameterFlags` made. @throws SluiceError BAD_PARAMETER, BAD_RANGE */
export function parameterValues(names: readonly ParameterName[], flags: Record<string, unknown>): ParameterValues {
  const values: Record<string, unknown> = typeof flags.range === 'string' ? parseRange(flags.range) : {}
  for (const name of names) {
    const given = flags[name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())]
    if (given === true) values[name] = true
    else if (typeof given === 'string') values[name] = parseParameter(name, given)
  }
  return values
}

export function logFormat(flags: { logFormat?: string }): LogFormat {
  return flags.logFormat === 'json' ? 'json' : 'text'
}

function parseRange(text: string): { start?: string; end?: string } {
  const ends = text.split(',').map((end) => end.trim())
  if (ends.length !== 2) {
    throw new SluiceError('BAD_RANGE', { parameter: 'range', value: text, expected: 'START,END' })
  }
  return { start: ends[0] || undefined, end: ends[1] || undefined }
}

/** The values of a flag that may be repeated. */
export function append(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value]
}

function uncapitalise(text: string): string {
  return text[0].toLowerCase() + text.slice(1)
}
