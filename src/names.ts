// Names of tables as CQL writes them: a plain lower-case name stands for itself, any other is quoted.

import { SluiceError } from '../storage/errors.ts'
import { tokenize } from '../storage/schema/cql-lexer.ts'
import { quoteName } from '../storage/schema/cql-names.ts'

export interface TableName {
  keyspace: string
  table: string
}

/** `ks.t`, `"Ks"."T"`. Unquoted names are lower-cased, as in CQL. @throws SluiceError BAD_PARAMETER */
export function parseTableName(text: string): TableName {
  const tokens = tokenize(text, { code: 'BAD_PARAMETER', fields: { parameter: 'table', value: text } })
  const [keyspace, dot, table, end] = tokens
  const named = keyspace?.kind === 'identifier' && table?.kind === 'identifier'
  if (!named || dot?.value !== '.' || end?.kind !== 'end') {
    throw new SluiceError('BAD_PARAMETER', {
      parameter: 'table',
      value: text,
      expected: 'KEYSPACE.TABLE, with "quotes" around a name that is not all lower case',
    })
  }
  return { keyspace: keyspace.value, table: table.value }
}

export function formatTableName(name: TableName): string {
  return `${quoteName(name.keyspace)}.${quoteName(name.table)}`
}
