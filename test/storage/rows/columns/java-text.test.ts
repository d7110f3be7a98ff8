// java-text.tsv: random decimals, varints and addresses as java.math.BigDecimal, BigInteger and java.net.InetAddress (17)
// print them: kind, value bytes in hex, text, and the bytes Java gives back for the object.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createBuilder } from '../../../../storage/rows/columns/create-builder.ts'
import { fieldOf } from '../../../../storage/rows/columns/field.ts'
import type { ScalarKind } from '../../../../storage/schema/cql-type.ts'
import { feed, wireHex } from './feed.ts'

const ROWS = readFileSync(new URL('./java-text.tsv', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => line.split('\t'))

test.each(['decimal', 'varint', 'inet'] as ScalarKind[])('%s is printed as Java prints it, and read back', (kind) => {
  const rows = ROWS.filter((row) => row[0] === kind)
  const builder = createBuilder(fieldOf('c', { kind }))
  for (const [, value] of rows) feed(builder, value)
  const { values, offsets } = builder.finish()
  const texts = rows.map((_, i) => Buffer.from(values.subarray(offsets![i], offsets![i + 1])).toString('latin1'))
  expect(texts).toEqual(rows.map((row) => row[2]))
  const vector = builder.finish()
  expect(rows.map((_, i) => wireHex(vector, i))).toEqual(rows.map((row) => row[3]))
  expect(rows.length).toBe(40)
})
