// The one vocabulary of requests: each entry is a query parameter of the server and, with dashes for underscores, a flag of
// the CLI. The same table validates both and describes them in openapi.json and in --help.

import { SluiceError } from '../storage/errors.ts'
import type { ScanRequest } from '../storage/scan/scan-request.ts'
import { parseInstant } from './instant.ts'

export interface Parameter {
  /** text: taken as it is; count: whole number from `minimum`; instant: see parseInstant; flag: 1 or 0, alone means 1. */
  kind: 'text' | 'count' | 'flag' | 'instant'
  /** What stands for the value in --help. */
  placeholder: string
  summary: string
  minimum?: number
  maximum?: number
}

export const PARAMETERS = {
  start: {
    kind: 'text',
    placeholder: 'TOKEN',
    summary: "Rows whose token is greater than this; the ring's minimum if not given",
  },
  end: {
    kind: 'text',
    placeholder: 'TOKEN',
    summary: "Rows whose token is at most this; the ring's maximum if not given",
  },
  columns: {
    kind: 'text',
    placeholder: 'LIST',
    summary: 'Columns to return, a comma list of CQL names; all if not given',
  },
  where: { kind: 'text', placeholder: 'CQL', summary: 'Rows to return, the body of a CQL WHERE clause' },
  distinct: { kind: 'flag', placeholder: '', summary: 'One row per partition: partition key and static columns only' },
  limit: { kind: 'count', placeholder: 'N', summary: 'Stop after this many rows', minimum: 0 },
  after: { kind: 'text', placeholder: 'POSITION', summary: 'Start right behind this position of an earlier stream' },
  now: {
    kind: 'instant',
    placeholder: 'TIME',
    summary: 'Moment at which TTLs are judged, in epoch seconds or ISO 8601; the current second if not given',
  },
  format: { kind: 'text', placeholder: 'FORMAT', summary: 'Output format: arrows, arrow, ndjson or csv' },
  batch_rows: {
    kind: 'count',
    placeholder: 'N',
    summary: 'Rows in a batch, at most; a batch also ends when its bytes are enough',
    minimum: 1,
    maximum: 1_048_576,
  },
} as const satisfies Record<string, Parameter>

export type ParameterName = keyof typeof PARAMETERS

interface ValueOf {
  text: string
  count: number
  flag: boolean
  instant: number
}

/** Values by parameter name; counts and instants (epoch seconds) are numbers. */
export type ParameterValues = { [N in ParameterName]?: ValueOf[(typeof PARAMETERS)[N]['kind']] }

/** What a request for rows may say. */
export const ROWS_PARAMETERS: readonly ParameterName[] = Object.keys(PARAMETERS) as ParameterName[]

/**
 * Checks given names and texts against the vocabulary.
 * @throws SluiceError BAD_PARAMETER for a name that is not among the allowed ones, is given twice, or has a bad value
 */
export function readParameters(
  allowed: readonly ParameterName[],
  given: Iterable<readonly [name: string, value: string]>,
): ParameterValues {
  const values: Record<string, string | number | boolean> = {}
  for (const [name, value] of given) {
    if (!isAllowed(allowed, name)) {
      throw new SluiceError('BAD_PARAMETER', { parameter: shorten(name), expected: `one of ${allowed.join(', ')}` })
    }
    if (values[name] !== undefined) throw new SluiceError('BAD_PARAMETER', { parameter: name, reason: 'given twice' })
    values[name] = parseParameter(name, value)
  }
  return values
}

/** One value of a parameter, from text. @throws SluiceError BAD_PARAMETER */
export function parseParameter(name: ParameterName, value: string): string | number | boolean {
  const parameter: Parameter = PARAMETERS[name]
  switch (parameter.kind) {
    case 'text':
      return value
    case 'count':
      return parseCount(name, parameter, value)
    case 'flag':
      return parseFlag(name, value)
    case 'instant':
      return parseInstant(name, value)
  }
}

/** The part of the values that a scan is asked with. */
export function scanRequest(values: ParameterValues, now: number, signal?: AbortSignal): ScanRequest {
  return {
    start: values.start,
    end: values.end,
    columns: values.columns,
    where: values.where,
    distinct: values.distinct,
    limit: values.limit,
    after: values.after,
    batchRows: values.batch_rows,
    now,
    signal,
  }
}

/** Text for an error's field: what a client sends may be of any length. */
export function shorten(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}...`
}

function isAllowed(allowed: readonly ParameterName[], name: string): name is ParameterName {
  return (allowed as readonly string[]).includes(name)
}

function parseCount(name: ParameterName, parameter: Parameter, value: string): number {
  const minimum = parameter.minimum ?? 0
  const maximum = parameter.maximum ?? Number.MAX_SAFE_INTEGER
  const count = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
  if (count >= minimum && count <= maximum) return count
  throw new SluiceError('BAD_PARAMETER', {
    parameter: name,
    value: shorten(value),
    expected: `a whole number from ${minimum} to ${maximum}`,
  })
}

function parseFlag(name: ParameterName, value: string): boolean {
  if (value === '' || value === '1' || value === 'true') return true
  if (value === '0' || value === 'false') return false
  throw new SluiceError('BAD_PARAMETER', { parameter: name, value: shorten(value), expected: '1 or 0' })
}
