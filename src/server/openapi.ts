// The API as an OpenAPI 3.1 document. Parameters, formats and errors come from the tables that the server itself runs on.

import { ERROR_CODES } from '../../storage/errors.ts'
import { FORMATS } from '../formats.ts'
import type { Parameter, ParameterName } from '../parameters.ts'
import { COUNT_PARAMETERS, PARAMETERS, ROWS_PARAMETERS, SPLITS_PARAMETERS } from '../parameters.ts'
import { VERSION } from '../version.ts'
import { PROBLEM_MEDIA_TYPE } from './problem.ts'

type Json = Record<string, unknown>

const TABLE_PARAMETERS = ['keyspace', 'table'].map((name) => ({
  name,
  in: 'path',
  required: true,
  description: 'The name itself, without the quotes that CQL may need',
  schema: { type: 'string' },
}))

const ROWS_RESPONSE: Json = {
  description: 'The rows, chunked. A stream that fails is cut before its final chunk. HEAD gives the headers alone.',
  headers: {
    'Sluice-Now': { description: 'Epoch second at which TTLs were judged', schema: { type: 'integer' } },
    'Content-Disposition': { description: 'A file name', schema: { type: 'string' } },
  },
  content: Object.fromEntries(
    Object.values(FORMATS).map(({ accepts: [mediaType], binary, summary }) => [
      mediaType,
      {
        schema: binary
          ? { description: summary, contentMediaType: mediaType }
          : { type: 'string', description: summary },
      },
    ]),
  ),
}

export function openApi(): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version: VERSION,
      summary: 'Exports Apache Cassandra tables in bulk, from SSTables on disk',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths: {
      '/v1/keyspaces': read('Keyspaces and their tables', [], json('Keyspaces', 'Keyspaces')),
      '/v1/keyspaces/{keyspace}/tables/{table}': read(
        'Schema, SSTables and sizes of a table',
        TABLE_PARAMETERS,
        json('The table', 'Table'),
      ),
      '/v1/keyspaces/{keyspace}/tables/{table}/rows': read(
        'Rows of a table; the format by `format`, else by Accept',
        [...TABLE_PARAMETERS, ...ROWS_PARAMETERS.map(queryParameter)],
        ROWS_RESPONSE,
      ),
      '/v1/keyspaces/{keyspace}/tables/{table}/rows.{extension}': read(
        'Rows of a table in the format that the extension names',
        [
          ...TABLE_PARAMETERS,
          { name: 'extension', in: 'path', required: true, schema: { type: 'string', enum: Object.keys(FORMATS) } },
          ...ROWS_PARAMETERS.map(queryParameter),
        ],
        ROWS_RESPONSE,
      ),
      '/v1/keyspaces/{keyspace}/tables/{table}/splits': read(
        'Parts of a table of about equal bytes, from the indexes alone: together they are all of what is asked for, once',
        [...TABLE_PARAMETERS, ...SPLITS_PARAMETERS.map(queryParameter)],
        json('The splits, in ring order', 'Splits'),
      ),
      '/v1/keyspaces/{keyspace}/tables/{table}/count': read(
        'Rows, partitions and tombstones of a table, counted without reading columns',
        [...TABLE_PARAMETERS, ...COUNT_PARAMETERS.map(queryParameter)],
        json('The counts', 'Count'),
      ),
      '/healthz': read('Whether the process lives', [], json('It does', 'Status')),
      '/readyz': read('Whether the data can be read', [], json('It can', 'Status')),
      '/openapi.json': read('This document', [], json('OpenAPI 3.1', 'Any')),
      '/errors': read('All error codes', [], {
        description: 'A page with an anchor for each code',
        content: { 'text/html': { schema: { type: 'string' } } },
      }),
    },
    components: { schemas: SCHEMAS },
  }
}

function read(summary: string, parameters: Json[], ok: Json): Json {
  const responses = {
    200: ok,
    default: {
      description: 'Refused, or failed before the first byte',
      content: { [PROBLEM_MEDIA_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  }
  return { get: { summary, parameters, responses }, head: { summary: `${summary} (headers)`, parameters, responses } }
}

function json(description: string, schema: string): Json {
  return { description, content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } }
}

function queryParameter(name: ParameterName): Json {
  const { summary } = PARAMETERS[name]
  return { name, in: 'query', description: summary, schema: schemaOf(name, PARAMETERS[name]) }
}

function schemaOf(name: ParameterName, { kind, minimum, maximum, choices }: Parameter): Json {
  if (name === 'format') return { type: 'string', enum: Object.keys(FORMATS), default: Object.keys(FORMATS)[0] }
  switch (kind) {
    case 'count':
      return { type: 'integer', minimum, maximum }
    case 'flag':
      return { type: 'string', enum: ['', '1', '0', 'true', 'false'] }
    case 'choice':
      return { type: 'string', enum: choices }
    case 'decimal':
      return { type: 'string', pattern: '^(text|decimal(128|256):[0-9]+)$' }
    case 'instant':
      return { type: 'string', examples: ['1717200000', '2024-06-01T00:00:00Z'] }
    case 'microseconds':
      return { type: 'string', examples: ['1717200000000000', '2024-06-01T00:00:00Z'] }
    case 'text':
      return { type: 'string' }
  }
}

const text = { type: 'string' }
const nullableText = { type: ['string', 'null'] }
const count = { type: 'integer', minimum: 0 }
const microseconds = { type: 'string', description: 'Microseconds since 1970, decimal' }

function object(properties: Json, optional: string[] = []): Json {
  return { type: 'object', properties, required: Object.keys(properties).filter((name) => !optional.includes(name)) }
}

const SCHEMAS: Json = {
  Any: { type: 'object' },
  Status: object({ status: text }),
  Problem: object({
    type: { type: 'string', format: 'uri-reference' },
    title: text,
    status: count,
    code: { type: 'string', enum: Object.keys(ERROR_CODES) },
    detail: text,
    fields: { type: 'object', description: 'Where and what: file, offset, parameter, value, expected and so on' },
  }),
  Keyspaces: object({
    keyspaces: { type: 'array', items: object({ name: text, tables: { type: 'array', items: text } }) },
  }),
  Splits: object({
    splits: {
      type: 'array',
      items: object({
        from: nullableText,
        to: nullableText,
        start: nullableText,
        end: nullableText,
        bytes: count,
        partitions: count,
      }),
    },
  }),
  Count: object({ rows: count, partitions: count, tombstones: count, bytes: count, now: count }),
  Table: object(
    {
      keyspace: text,
      table: text,
      id: nullableText,
      origin: { type: 'string', enum: ['system_schema', 'ddl', 'header'] },
      partitioner: text,
      columns: { type: 'array', items: { $ref: '#/components/schemas/Column' } },
      totals: object({ sstables: count, bytes: count, data_bytes: count, rows: count, partitions: count }),
      sstables: { type: 'array', items: { $ref: '#/components/schemas/SSTable' } },
      refused: object({ code: text, detail: text }),
      warnings: { type: 'array', items: text },
    },
    ['refused'],
  ),
  Column: object({
    name: text,
    kind: { type: 'string', enum: ['partition_key', 'clustering', 'static', 'regular'] },
    position: { type: ['integer', 'null'] },
    order: { enum: ['asc', 'desc', null] },
    cql_type: text,
    arrow_type: nullableText,
  }),
  SSTable: object({
    id: text,
    version: text,
    file: text,
    codec: nullableText,
    bytes: count,
    data_bytes: count,
    rows: count,
    partitions: count,
    min_timestamp: microseconds,
    max_timestamp: microseconds,
    level: count,
  }),
}
