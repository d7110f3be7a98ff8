// The closed list of output formats, by the names that `format` takes.

import { type ArrowOptions, arrowFileExporter, arrowStreamExporter } from './arrow/arrow.ts'
import { type CsvOptions, csvExporter } from './csv/csv.ts'
import type { Exporter } from './exporter.ts'
import { type NdjsonOptions, ndjsonExporter } from './ndjson/ndjson.ts'
import { type ParquetOptions, parquetExporter } from './parquet/parquet.ts'

export type ExporterOptions = ArrowOptions & NdjsonOptions & CsvOptions & ParquetOptions

const EXPORTERS = {
  arrows: arrowStreamExporter,
  arrow: arrowFileExporter,
  ndjson: ndjsonExporter,
  csv: csvExporter,
  parquet: parquetExporter,
} as const satisfies Record<string, (options?: ExporterOptions) => Exporter>

export type Format = keyof typeof EXPORTERS

export const FORMATS = Object.keys(EXPORTERS) as Format[]

export function isFormat(name: string): name is Format {
  return Object.hasOwn(EXPORTERS, name)
}

/** An exporter for one stream. Options that a format has no use for are ignored. BAD_PARAMETER: an option's value. */
export function createExporter(format: Format, options: ExporterOptions = {}): Exporter {
  return EXPORTERS[format](options)
}
