// The one vocabulary of requests: each entry is a query parameter of the server and, with dashes for underscores, a flag of
// the CLI. The same table validates both and describes them in openapi.json and in --help.

import type { Compression } from '../exporters/compression.ts'
import { COMPRESSIONS } from '../exporters/compression.ts'
import type { ExporterOptions } from '../exporters/formats.ts'
import { SluiceError } from '../storage/errors.ts'
import type { ScanRequest } from '../storage/scan/scan-request.ts'
import type { FormatName } from './formats.ts'
import { FORMAT_NAMES } from './formats.ts'
import { parseInstant, parseMicroseconds } from './instant.ts'
import { shorten } from './shorten.ts'

export interface Parameter {
  /**
   * text: taken as it is; count: a whole number from `minimum` to `maximum`; flag: 1 or 0, alone it means 1; choice: one of `choices`; instant, microseconds: see
   * instant.ts; decimal: see parseDecimal.
   */
  kind: 'text' | 'count' | 'flag' | 'choice' | 'instant' | 'microseconds' | 'decimal'
  /** What stands for the value in --help. */
  placeholder: string
  summary: string
  minimum?: number
  maximum?: number
  choices?: readonly string[]
  /** Formats that it means something for; all if not given. */
  formats?: readonly FormatName[]
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
    summary: 'Columns to return, a comma list of CQL selectors; all if not given',
  },
  where: { kind: 'text', placeholder: 'CQL', summary: 'Rows to return, the body of a CQL WHERE clause' },
  distinct: { kind: 'flag', placeholder: '', summary: 'One row per partition: partition key and static columns only' },
  limit: { kind: 'count', placeholder: 'N', summary: 'Stop after this many rows', minimum: 0 },
  after: { kind: 'text', placeholder: 'POSITION', summary: 'Start right behind this position of an earlier stream' },
  from: { kind: 'text', placeholder: 'POSITION', summary: 'Rows behind this position, at which a split begins' },
  to: { kind: 'text', placeholder: 'POSITION', summary: 'Rows up to this position, at which a split ends' },
  now: {
    kind: 'instant',
    placeholder: 'TIME',
    summary: 'Moment at which TTLs are judged, in epoch seconds or ISO 8601; the current second if not given',
  },
  since: {
    kind: 'microseconds',
    placeholder: 'TIME',
    summary: 'Rows whose newest write or deletion is not older, in epoch microseconds or ISO 8601',
  },
  until: {
    kind: 'microseconds',
    placeholder: 'TIME',
    summary: 'Rows whose newest write or deletion is older than this',
  },
  tombstones: {
    kind: 'flag',
    placeholder: '',
    summary: 'The deletions in force instead of the live rows; columns then names those whose deletions are told',
  },
  // Checked by chooseFormat, which has an error of its own for what is no format.
  format: { kind: 'text', placeholder: 'FORMAT', summary: `Output format: ${FORMAT_NAMES.join(', ')}` },
  batch_rows: {
    kind: 'count',
    placeholder: 'N',
    summary: 'Rows in a batch, at most; a batch also ends when its bytes are enough',
    minimum: 1,
    maximum: 1_048_576,
  },
  batch_bytes: {
    kind: 'count',
    placeholder: 'N',
    summary: 'Bytes at which a batch ends, in memory; one row more is in it (default 1 MiB of a server, else 4 MiB)',
    minimum: 1,
    maximum: 256 << 20,
  },
  decimal: {
    kind: 'decimal',
    placeholder: 'TYPE',
    summary:
      'Type of decimal and varint columns: text (exact, the default), decimal128:SCALE or decimal256:SCALE; never rounded',
  },
  duration: {
    kind: 'choice',
    placeholder: 'TYPE',
    summary: 'Type of duration columns: interval (the default), struct (the default in Parquet) or text',
    choices: ['interval', 'struct', 'text'],
  },
  compression: {
    kind: 'choice',
    placeholder: 'CODEC',
    summary: 'Compression inside Arrow batches (default none) or Parquet pages (default zstd): none, lz4 or zstd',
    choices: COMPRESSIONS,
    formats: ['arrows', 'arrow', 'parquet'],
  },
  null: {
    kind: 'text',
    placeholder: 'TEXT',
    summary: 'What stands for null in CSV; nothing if not given',
    formats: ['csv'],
  },
  count: {
    kind: 'count',
    placeholder: 'N',
    summary: 'Number of splits, about; fewer where there are too few places to cut at',
    minimum: 1,
    maximum: 100_000,
  },
  target_bytes: {
    kind: 'count',
    placeholder: 'N',
    summary: 'Uncompressed bytes of a split, about, over all SSTables',
    minimum: 1,
  },
  rate: {
    kind: 'count',
    placeholder: 'MB/S',
    summary: 'Read from disk at most this many megabytes a second',
    minimum: 1,
    maximum: 1_000_000,
  },
  digest: { kind: 'flag', placeholder: '', summary: 'Send a SHA-256 of the bytes behind them (Repr-Digest trailer)' },
  splits: { kind: 'count', placeholder: 'N', summary: 'Cut into about this many splits', minimum: 1, maximum: 10_000 },
  ttl: {
    kind: 'count',
    placeholder: 'SECONDS',
    summary: 'How long an export lasts that nobody renews or reads',
    minimum: 1,
    maximum: 7 * 86_400,
  },
} as const satisfies Record<string, Parameter>

export type ParameterName = keyof typeof PARAMETERS

type Decimal = NonNullable<ScanRequest['decimal']>

interface ValueOf {
  text: string
  count: number
  flag: boolean
  choice: string
  instant: number
  microseconds: bigint
  decimal: Decimal
}

/** Values by parameter name; counts and instants (epoch seconds) are numbers. */
export type ParameterValues = { [N in ParameterName]?: ValueOf[(typeof PARAMETERS)[N]['kind']] }

/** What a request for splits may say. */
export const SPLITS_PARAMETERS = ['start', 'end', 'where', 'count', 'target_bytes'] as const

/** What a request to count may say. */
export const COUNT_PARAMETERS = ['start', 'end', 'where', 'after', 'from', 'to', 'now', 'since', 'until'] as const

/** What a request for a digest may say. */
export const DIGEST_PARAMETERS = [
  'start',
  'end',
  'columns',
  'where',
  'distinct',
  'after',
  'from',
  'to',
  'now',
  'since',
  'until',
  'splits',
] as const satisfies readonly ParameterName[]

/** What both may say over HTTP, about the reading itself. */
export const COUNT_REQUEST_PARAMETERS = [...COUNT_PARAMETERS, 'rate'] as const satisfies readonly ParameterName[]
export const DIGEST_REQUEST_PARAMETERS = [...DIGEST_PARAMETERS, 'rate'] as const satisfies readonly ParameterName[]

/** What a request for rows may say. */
export const ROWS_PARAMETERS = [
  'start',
  'end',
  'columns',
  'where',
  'distinct',
  'limit',
  'after',
  'from',
  'to',
  'now',
  'since',
  'until',
  'tombstones',
  'format',
  'batch_rows',
  'batch_bytes',
  'decimal',
  'duration',
  'compression',
  'null',
] as const satisfies readonly ParameterName[]

/** What it may say over HTTP, about the stream itself. */
export const STREAM_PARAMETERS = [...ROWS_PARAMETERS, 'rate', 'digest'] as const satisfies readonly ParameterName[]

/** What a ticket fixes, so that it always gives the same batches; of these the last three are a default for who reads it. */
export const TICKET_OPTIONS = [
  'batch_rows',
  'batch_bytes',
  'decimal',
  'duration',
  'format',
  'compression',
  'null',
] as const satisfies readonly ParameterName[]

/** What an export is made of, beside keyspace and table. */
export const EXPORT_PARAMETERS = [
  'start',
  'end',
  'columns',
  'where',
  'distinct',
  'from',
  'to',
  'now',
  'since',
  'until',
  'tombstones',
  ...TICKET_OPTIONS,
  'splits',
  'target_bytes',
  'ttl',
] as const satisfies readonly ParameterName[]

/** What may be said when a ticket is read. */
export const TICKET_PARAMETERS = [
  'after',
  'limit',
  'format',
  'compression',
  'null',
  'rate',
  'digest',
] as const satisfies readonly ParameterName[]

/**
 * Checks given names and texts against the vocabulary.
 * @throws SluiceError BAD_PARAMETER for a name that is not among the allowed ones, is given twice, or has a bad value
 */
export function readParameters(
  allowed: readonly ParameterName[],
  given: Iterable<readonly [name: string, value: string]>,
): ParameterValues {
  const values: Record<string, unknown> = {}
  for (const [name, value] of given) {
    if (!isAllowed(allowed, name)) {
      const expected = allowed.length === 0 ? 'no parameters' : `one of ${allowed.join(', ')}`
      throw new SluiceError('BAD_PARAMETER', { parameter: shorten(name), expected })
    }
    if (values[name] !== undefined) throw new SluiceError('BAD_PARAMETER', { parameter: name, reason: 'given twice' })
    values[name] = parseParameter(name, value)
  }
  return values
}

/** One value of a parameter, from text. @throws SluiceError BAD_PARAMETER */
export function parseParameter(name: ParameterName, value: string): string | number | boolean | bigint | Decimal {
  const parameter: Parameter = PARAMETERS[name]
  switch (parameter.kind) {
    case 'text':
      return value
    case 'count':
      return parseCount(name, parameter, value)
    case 'flag':
      return parseFlag(name, value)
    case 'choice':
      if (parameter.choices?.includes(value)) return value
      throw bad(name, value, `one of ${parameter.choices?.join(', ')}`)
    case 'instant':
      return parseInstant(name, value)
    case 'microseconds':
      return parseMicroseconds(name, value)
    case 'decimal':
      return parseDecimal(name, value)
  }
}

/** The part of the values that a scan is asked with. */
export function scanRequest(
  values: ParameterValues,
  format: FormatName,
  now: number,
  signal?: AbortSignal,
): ScanRequest {
  return {
    start: values.start,
    end: values.end,
    columns: values.columns,
    where: values.where,
    distinct: values.distinct,
    limit: values.limit,
    after: values.after,
    from: values.from,
    to: values.to,
    batchRows: values.batch_rows,
    batchBytes: values.batch_bytes,
    decimal: values.decimal,
    // Parquet has no type for an interval of months, days and nanoseconds.
    duration: (values.duration ?? (format === 'parquet' ? 'struct' : undefined)) as ScanRequest['duration'],
    since: values.since,
    until: values.until,
    tombstones: values.tombstones,
    now,
    signal,
  }
}

/** The part that an exporter is made with. @throws SluiceError BAD_PARAMETER for one that the format has no use for */
export function exporterOptions(values: ParameterValues, format: FormatName): ExporterOptions {
  for (const name of ROWS_PARAMETERS) {
    const { formats }: Parameter = PARAMETERS[name]
    if (values[name] !== undefined && formats !== undefined && !formats.includes(format)) {
      throw new SluiceError('BAD_PARAMETER', { parameter: name, reason: `means nothing in ${format}` })
    }
  }
  return { compression: values.compression as Compression | undefined, nullMarker: values.null }
}

function isAllowed(allowed: readonly ParameterName[], name: string): name is ParameterName {
  return (allowed as readonly string[]).includes(name)
}

function parseCount(name: ParameterName, parameter: Parameter, value: string): number {
  const minimum = parameter.minimum ?? 0
  const maximum = parameter.maximum ?? Number.MAX_SAFE_INTEGER
  const count = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
  if (count >= minimum && count <= maximum) return count
  throw bad(name, value, `a whole number from ${minimum} to ${maximum}`)
}

function parseFlag(name: ParameterName, value: string): boolean {
  if (value === '' || value === '1' || value === 'true') return true
  if (value === '0' || value === 'false') return false
  throw bad(name, value, '1 or 0')
}

/** `text`, `decimal128:SCALE`, `decimal256:SCALE`; whether the scale fits the type is the scan's to say. */
function parseDecimal(name: ParameterName, value: string): Decimal {
  if (value === 'text') return { kind: 'text' }
  const match = /^(decimal128|decimal256):(\d{1,3})$/.exec(value)
  if (match === null) throw bad(name, value, 'text, decimal128:SCALE or decimal256:SCALE')
  return { kind: match[1] as 'decimal128' | 'decimal256', scale: Number(match[2]) }
}

function bad(parameter: ParameterName, value: string, expected: string): SluiceError {
  return new SluiceError('BAD_PARAMETER', { parameter, value: shorten(value), expected })
}
