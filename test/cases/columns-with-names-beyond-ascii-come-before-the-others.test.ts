// Cassandra orders the columns of a row by ColumnMetadata.comparisonOrder, whose packed name prefix has its top bit flipped and is compared
// unsigned. A column "é" is stored before `a`; read in plain byte order, its cells went to other columns.

import { expect, test } from 'vitest'
import { cellOrder } from '../../storage/rows/table-layout.ts'

test('columns with names beyond ASCII come before the others', () => {
  // As 3.11.19 lists the columns of such a table.
  const names = ['é', '_u', 'b2', 'c', 'cé', 'd']
  const columns = names.map((name) => ({ nameBytes: Buffer.from(name), type: { kind: 'int' } as const }))
  expect([...columns].reverse().sort(cellOrder)).toEqual(columns)
})
