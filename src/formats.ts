// Which output format a request means: by the extension of its path, by the `format` parameter, or by what it accepts
// (RFC 9110, 12.5.1), in this order.

import type { Format } from '../exporters/formats.ts'
import { isFormat } from '../exporters/formats.ts'
import { SluiceError } from '../storage/errors.ts'
import { shorten } from './shorten.ts'

export interface FormatTraits {
  /** Media types that ask for it; the first is its own. */
  accepts: readonly string[]
  /** Bytes that a terminal cannot show. */
  binary: boolean
  summary: string
}

/** By name, which is also the file extension. */
export const FORMATS: Readonly<Record<Format, FormatTraits>> = {
  arrows: { accepts: ['application/vnd.apache.arrow.stream'], binary: true, summary: 'Arrow IPC stream' },
  arrow: {
    accepts: ['application/vnd.apache.arrow.file'],
    binary: true,
    summary: 'Arrow IPC file, for memory mapping',
  },
  ndjson: {
    accepts: ['application/x-ndjson', 'application/ndjson', 'application/jsonl', 'application/jsonlines'],
    binary: false,
    summary: 'One JSON object a line, as SELECT JSON * prints it',
  },
  csv: { accepts: ['text/csv'], binary: false, summary: 'RFC 4180, with a header line' },
  parquet: {
    accepts: ['application/vnd.apache.parquet', 'application/x-parquet', 'application/parquet'],
    binary: true,
    summary: 'Parquet, with the Arrow schema in it',
  },
}

export type FormatName = Format

export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[]
export const DEFAULT_FORMAT: FormatName = 'arrows'

export interface FormatRequest {
  extension?: string
  parameter?: string
  /** The Accept header. */
  accept?: string
}

/** @throws SluiceError NOT_ACCEPTABLE */
export function chooseFormat(request: FormatRequest): FormatName {
  if (request.extension !== undefined) return formatNamed(request.extension)
  if (request.parameter !== undefined) return formatNamed(request.parameter)
  return acceptedFormat(request.accept)
}

/** @throws SluiceError NOT_ACCEPTABLE */
export function formatNamed(name: string): FormatName {
  if (isFormat(name)) return name
  throw new SluiceError('NOT_ACCEPTABLE', {
    parameter: 'format',
    value: shorten(name),
    expected: FORMAT_NAMES.join(', '),
  })
}

/** The format of the highest quality; of equals the one named first, where a wildcard means the default. */
function acceptedFormat(accept: string | undefined): FormatName {
  if (accept === undefined || accept.trim() === '') return DEFAULT_FORMAT
  let best: FormatName | undefined
  let bestQuality = 0
  for (const range of accept.split(',')) {
    const [media, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const quality = qualityOf(parameters)
    if (quality <= bestQuality) continue
    const format = FORMAT_NAMES.find((name) => matches(media, FORMATS[name]))
    if (format === undefined) continue
    best = format
    bestQuality = quality
  }
  if (best !== undefined) return best
  throw new SluiceError('NOT_ACCEPTABLE', {
    value: shorten(accept),
    expected: FORMAT_NAMES.map((name) => FORMATS[name].accepts[0]).join(', '),
  })
}

function matches(media: string, { accepts }: FormatTraits): boolean {
  return (
    accepts.includes(media) || media === '*/*' || (media.endsWith('/*') && accepts[0].startsWith(media.slice(0, -1)))
  )
}

function qualityOf(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='))
  if (given === undefined) return 1
  const quality = Number(given.slice(2))
  return quality >= 0 && quality <= 1 ? quality : 0
}
