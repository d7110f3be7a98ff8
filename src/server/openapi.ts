// The API as an OpenAPI 3.1 document. Parameters, formats and errors come from the tables that the server itself runs on.

import { ERROR_CODES } from '../../storage/errors.ts'
import { FORMATS } from '../formats.ts'
import type { Parameter, ParameterName } from '../parameters.ts'
import {
  COUNT_REQUEST_PARAMETERS,
  DIGEST_REQUEST_PARAMETERS,
  EXPORT_PARAMETERS,
  PARAMETERS,
  SPLITS_PARAMETERS,
  STREAM_PARAMETERS,
  TICKET_PARAMETERS,
} from '../parameters.ts'
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

const EXPORT_ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } }

const ROWS_RESPONSE: Json = {
  description: 'The rows, chunked. A stream that fails is cut before its final chunk. HEAD gives the headers alone.',
  headers: {
    Trailer: {
      description:
        'Sluice-Rows, Sluice-Batches, Sluice-Position (of the last row), Sluice-Stats (JSON), Repr-Digest if asked for',
      schema: { type: 'string' },
    },
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
        [...TABLE_PARAMETERS, ...STREAM_PARAMETERS.map(queryParameter)],
        ROWS_RESPONSE,
      ),
      '/v1/keyspaces/{keyspace}/tables/{table}/rows.{extension}': read(
        'Rows of a table in the format that the extension names',
        [
          ...TABLE_PARAMETERS,
          { name: 'extension', in: 'path', required: true, schema: { type: 'string', enum: Object.keys(FORMATS) } },
          ...STREAM_PARAMETERS.map(queryParameter),
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
        [...TABLE_PARAMETERS, ...COUNT_REQUEST_PARAMETERS.map(queryParameter)],
        json('The counts', 'Count'),
      ),
      '/v1/keyspaces/{keyspace}/tables/{table}/digest': read(
        'What the rows of a table hash to, whatever files they come from; with `splits` one hash for each',
        [...TABLE_PARAMETERS, ...DIGEST_REQUEST_PARAMETERS.map(queryParameter)],
        json('The digest, or those of the splits', 'Digest'),
      ),
      '/v1/exports': {
        ...read('Exports there are', [], json('The exports, without their endpoints', 'Exports')),
        post: operation(
          'Pin a table and fix all about its rows, for many readers and retries to see the same',
          [],
          { 201: json('The export, with a ticket for each split', 'Export') },
          json('What to export; values as in a query string, numbers and booleans also as such', 'ExportRequest'),
        ),
      },
      '/v1/exports/{id}': {
        ...read('One export with its tickets', [EXPORT_ID], json('The export', 'Export')),
        delete: operation('End an export and the streams that read it', [EXPORT_ID], { 204: { description: 'Ended' } }),
      },
      '/v1/exports/{id}/renew': {
        post: operation('Put off the end of an export', [EXPORT_ID, queryParameter('ttl')], {
          200: json('The export, without its endpoints', 'ExportSummary'),
        }),
      },
      '/v1/tickets/{ticket}': read(
        'Rows of one split of an export; the same ticket, position, format and options give the same bytes',
        [
          { name: 'ticket', in: 'path', required: true, schema: { type: 'string' } },
          ...TICKET_PARAMETERS.map(queryParameter),
        ],
        ROWS_RESPONSE,
      ),
      '/metrics': read('What the server counts, for Prometheus', [], {
        description: 'Text exposition format',
        content: { 'text/plain': { schema: { type: 'string' } } },
      }),
      '/healthz': read('Whether the process lives', [], json('It does', 'Status')),
      '/readyz': read('Whether the data can be read', [], json('It can', 'Status')),
      '/openapi.json': read('This document', [], json('OpenAPI 3.1', 'Any')),
      '/errors': read('All error codes', [], {
        description: 'A page with an anchor for each code',
        content: { 'text/html': { schema: { type: 'string' } } },
      }),
    },
    components: { schemas: SCHEMAS, securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    // Without a token, unless the server asks for one.
    security: [{}, { token: [] }],
  }
}

function read(summary: string, parameters: Json[], ok: Json): Json {
  return {
    get: operation(summary, parameters, { 200: ok }),
    head: operation(`${summary} (headers)`, parameters, { 200: ok }),
  }
}

function operation(summary: string, parameters: Json[], ok: Json, requestBody?: Json): Json {
  const responses = {
    ...ok,
    default: {
      description: 'Refused, or failed before the first byte',
      content: { [PROBLEM_MEDIA_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  }
  return { summary, parameters, requestBody, responses }
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

const DIGEST: Json = {
  digest: { type: 'string', description: 'XXH3-128, hex' },
  rows: count,
  empty_values: { type: 'integer', minimum: 0, description: 'Values that Arrow streams do not tell from null' },
}

const EXPORT_SUMMARY: Json = {
  id: text,
  keyspace: text,
  table: text,
  now: { type: 'integer', description: 'Epoch seconds' },
  created: { type: 'string', format: 'date-time' },
  expires: { type: 'string', format: 'date-time' },
  bytes: count,
  sstables: count,
  splits: count,
  durable: { type: 'boolean', description: 'Whether it outlives a restart of the server' },
  parameters: { type: 'object', additionalProperties: text },
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
  Exports: object({ exports: { type: 'array', items: { $ref: '#/components/schemas/ExportSummary' } } }),
  ExportSummary: object(EXPORT_SUMMARY),
  Export: object({
    ...EXPORT_SUMMARY,
    schema: object({
      columns: {
        type: 'array',
        items: object({
          name: text,
          kind: text,
          cql_type: text,
          arrow_type: text,
          nullable: { type: 'boolean' },
        }),
      },
      arrow: { type: 'string', contentEncoding: 'base64', description: 'The schema message of its streams' },
    }),
    endpoints: {
      type: 'array',
      items: object({
        ticket: text,
        start: nullableText,
        end: nullableText,
        bytes: count,
        partitions: count,
        locations: { type: 'array', items: { type: 'string', format: 'uri' } },
      }),
    },
  }),
  ExportRequest: object(
    {
      keyspace: text,
      table: text,
      ...Object.fromEntries(
        EXPORT_PARAMETERS.map((name) => [
          name,
          { ...schemaOf(name, PARAMETERS[name]), description: PARAMETERS[name].summary },
        ]),
      ),
    },
    [...EXPORT_PARAMETERS],
  ),
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
  Digest: object(
    {
      ...DIGEST,
      splits: {
        type: 'array',
        items: object({ from: nullableText, to: nullableText, start: nullableText, end: nullableText, ...DIGEST }),
      },
      now: count,
    },
    ['splits', ...Object.keys(DIGEST)],
  ),
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
