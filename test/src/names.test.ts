// Table names on the command line.

import { expect, test } from 'vitest'
import { formatTableName, parseTableName } from '../../src/names.ts'

test.each([
  ['ks.t', 'ks', 't'],
  ['KS.T', 'ks', 't'],
  ['"CaseKs"."MixedCase"', 'CaseKs', 'MixedCase'],
  ['ks."a ""b"" c"', 'ks', 'a "b" c'],
  ['ks."a.b"', 'ks', 'a.b'],
  ['system_schema.tables', 'system_schema', 'tables'],
])('%s', (text, keyspace, table) => {
  expect(parseTableName(text)).toEqual({ keyspace, table })
})

test.each(['', 'ks', 'ks.', '.t', 'a.b.c', 'ks t', 'ks."t', "ks.'t'", 'ks.1', 'ks.t;', 'ks..t'])(
  '%j is refused',
  (text) => {
    expect(() => parseTableName(text)).toThrow(expect.objectContaining({ code: 'BAD_PARAMETER' }))
  },
)

test('a name that is printed is read back', () => {
  for (const table of ['t', 'T', 'select', 'a "quoted" one', '1', 'ünï']) {
    const name = { keyspace: 'Ks', table }
    expect(parseTableName(formatTableName(name))).toEqual(name)
  }
})
