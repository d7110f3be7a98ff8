// How the server comes by an exporter: createExporter of exporters/formats.ts, or a stand-in.

import type { Exporter } from '../exporters/exporter.ts'
import type { ExporterOptions } from '../exporters/formats.ts'
import type { FormatName } from './formats.ts'

export type ExporterFactory = (format: FormatName, options?: ExporterOptions) => Exporter
