// Order of clustering prefixes as plain values, for planning; rows are compared where they lie (storage/rows/clustering.ts).

import { comparator } from '../schema/compare.ts'
import type { ColumnSchema } from '../schema/table.ts'

/**
 * Value by value over what both have, in the order of the clustering columns (`columns`, from the first on): negative, 0 or
 * positive. A null sorts first, also in a reversed column.
 */
export function comparePrefixes(
  columns: readonly ColumnSchema[],
  a: readonly (Uint8Array | null)[],
  b: readonly (Uint8Array | null)[],
): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const x = a[i]
    const y = b[i]
    if (x === null || y === null) {
      if (x !== y) return x === null ? -1 : 1
      continue
    }
    const order = comparator(columns[i].type)(x, viewOf(x), 0, x.length, y, viewOf(y), 0, y.length)
    if (order !== 0) return columns[i].reversed ? -order : order
  }
  return 0
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
