// Which output format a request means: by the extension of its path, by the `format` parameter, or by what it accepts
// (RFC 9110, 12.5.1), in this order.

import { SluiceError } from '../storage/errors.ts'
import { shorten } from './parameters.ts'

export interface Format {
  mediaType: string
  /** Other media types that ask for it. */
  aliases: readonly string[]
  /** Bytes that a terminal cannot show. */
  binary: boolean
  summary: string
}

/** By name, which is also the file extension. The first is the default. */
export const FORMATS = {
  arrows: {
    mediaType: 'application/vnd.apache.arrow.stream',
    aliases: [],
    binary: true,
    summary: 'Arrow IPC stream',
  },
  arrow: {
    mediaType: 'application/vnd.apache.arrow.file',
    aliases: [],
    binary: true,
    summary: 'Arrow IPC file, for memory mapping',
  },
  ndjson: {
    mediaType: 'application/x-ndjson',
    aliases: ['application/ndjson', 'application/jsonl', 'application/jsonlines'],
    binary: false,
    summary: 'One JSON object a line, as SELECT JSON * prints it',
  },
  csv: { mediaType: 'text/csv', aliases: [], binary: false, summary: 'RFC 4180, with a header line' },
} as const satisfies Record<string, Format>

export type FormatName = keyof typeof FORMATS

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
  if (isFormatName(name)) return name
  throw new SluiceError('NOT_ACCEPTABLE', {
    parameter: 'format',
    value: shorten(name),
    expected: FORMAT_NAMES.join(', '),
  })
}

export function isFormatName(name: string): name is FormatName {
  return Object.hasOwn(FORMATS, name)
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
    expected: FORMAT_NAMES.map((name) => FORMATS[name].mediaType).join(', '),
  })
}

function matches(media: string, format: Format): boolean {
  if (media === format.mediaType || format.aliases.includes(media)) return true
  return media === '*/*' || (media.endsWith('/*') && format.mediaType.startsWith(media.slice(0, -1)))
}

function qualityOf(parameters: readonly string[]): number {
  const given = parameters.find((parameter) => parameter.startsWith('q='))
  if (given === undefined) return 1
  const quality = Number(given.slice(2))
  return quality >= 0 && quality <= 1 ? quality : 0
}
