// How server and CLI come by an exporter: one entry, so that tests can stand in for a format.

import type { Exporter } from '../exporters/exporter.ts'
import type { FormatName } from './formats.ts'

export type ExporterFactory = (format: FormatName) => Exporter
