// What an exporter writes, whole.

import type { Exporter } from '../../exporters/exporter.ts'
import type { Batch, BatchSchema } from '../../storage/rows/batch.ts'

export async function exportParts(
  exporter: Exporter,
  schema: BatchSchema,
  batches: Iterable<Batch>,
): Promise<Uint8Array[]> {
  const parts: Uint8Array[] = []
  for await (const part of exporter.head(schema)) parts.push(part)
  for (const batch of batches) for await (const part of exporter.batch(batch)) parts.push(part)
  for await (const part of exporter.tail()) parts.push(part)
  return parts
}

export async function exportBytes(exporter: Exporter, schema: BatchSchema, batches: Iterable<Batch>): Promise<Buffer> {
  return Buffer.concat(await exportParts(exporter, schema, batches))
}
