// Literals as they are written, read back by the parser of CQL literals, which is checked against Cassandra's own.

import { expect, test } from 'vitest'
import { createBuilder } from '../../../../storage/rows/columns/create-builder.ts'
import { fieldOf } from '../../../../storage/rows/columns/field.ts'
import { literalText } from '../../../../storage/rows/columns/literal-text.ts'
import { cqlCursor } from '../../../../storage/schema/cql-cursor.ts'
import { readLiteral } from '../../../../storage/schema/cql-literals.ts'
import type { CqlType } from '../../../../storage/schema/cql-type.ts'
import { formatCqlType } from '../../../../storage/schema/cql-type-text.ts'
import { randomElement, randomSource, randomType } from './random-values.ts'

function textOf(type: CqlType, value: Buffer): string {
  const builder = createBuilder(fieldOf('c', type, { duration: 'text' }))
  builder.append(value, new DataView(value.buffer, value.byteOffset, value.byteLength), 0, value.length)
  return literalText(builder.finish(), 0)
}

const EXAMPLES: [string, CqlType, string][] = [
  ['61276227', { kind: 'text' }, "'a''b'''"],
  ['', { kind: 'text' }, "''"],
  ['', { kind: 'int' }, "''"],
  ['cafe', { kind: 'blob' }, '0xcafe'],
  ['3dcccccd', { kind: 'float' }, '0.1'],
  ['00000001', { kind: 'float' }, '1e-45'],
  ['7f800000', { kind: 'float' }, 'Infinity'],
  ['8000000000000000', { kind: 'double' }, '-0.0'],
  ['80000000', { kind: 'date' }, "'1970-01-01'"],
  ['00000000', { kind: 'date' }, '0'],
  ['00000000000003e8', { kind: 'timestamp' }, "'1970-01-01T00:00:01.000Z'"],
  ['7fffffffffffffff', { kind: 'timestamp' }, '9223372036854775807'],
  ['00004e94914effff', { kind: 'time' }, "'23:59:59.999999999'"],
  ['00004e94914f0000', { kind: 'time' }, '86400000000000'],
  ['7f000001', { kind: 'inet' }, "'127.0.0.1'"],
  ['00000000', { kind: 'set', element: { kind: 'int' }, frozen: true }, '{}'],
]

test.each(EXAMPLES)('%s as %j is %s', (hex, type, text) => {
  expect(textOf(type, Buffer.from(hex, 'hex'))).toBe(text)
})

/** What no literal can say: nulls in collections, empty values of most types, timeuuids of another version, times beyond a day, bits of a
 * NaN, sets out of order. */
function isInexpressible(text: string, type: CqlType): boolean {
  return /\b(null|NaN)\b|''/.test(text) || /"(timeuuid|time|set|map)"/.test(JSON.stringify(type))
}

test('a literal reads back as the same bytes', () => {
  let compared = 0
  for (let seed = 1; seed <= 3000; seed++) {
    const random = randomSource(seed * 7907)
    const type = randomType(random, seed % 4)
    const value = randomElement(random, type)
    if (value === null) continue
    const text = textOf(type, value)
    if (isInexpressible(text, type)) continue
    const cursor = cqlCursor(text, { code: 'BAD_PREDICATE' })
    expect(Buffer.from(readLiteral(cursor, type)).toString('hex'), `${formatCqlType(type)} ${text}`).toBe(
      value.toString('hex'),
    )
    compared++
  }
  expect(compared).toBeGreaterThan(1000)
})
