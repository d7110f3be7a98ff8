// Exports: made, listed, looked at, renewed, ended. What each answer shows of one is what a client needs to read it.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { arrowStreamExporter } from '../../../exporters/arrow/arrow.ts'
import { SluiceError } from '../../../storage/errors.ts'
import type { BatchSchema } from '../../../storage/rows/batch.ts'
import { arrowTypeName } from '../../arrow-type-name.ts'
import type { TableExport } from '../../exports/export-store.ts'
import { encodeTicket } from '../../exports/tickets.ts'
import { readParameters, TICKET_OPTIONS } from '../../parameters.ts'
import { shorten } from '../../shorten.ts'
import type { ServerContext } from '../create-server.ts'
import { queryPairs } from '../query.ts'
import { resource } from './get.ts'

interface ExportParams {
  id: string
}

export interface ExportEndpoint {
  ticket: string
  /** Tokens that enclose the split; null: the ring's own end. */
  start: string | null
  end: string | null
  /** Uncompressed, estimated. */
  bytes: number
  partitions: number
  /** URLs of servers that can serve it; none: the one that gave the ticket. */
  locations: string[]
}

export interface ExportSummary {
  id: string
  keyspace: string
  table: string
  /** Epoch seconds. */
  now: number
  /** ISO 8601. */
  created: string
  expires: string
  /** Of Data.db, on disk. */
  bytes: number
  sstables: number
  splits: number
  /** Whether it outlives a restart of the server. */
  durable: boolean
  parameters: Record<string, string>
}

export interface ExportDescription extends ExportSummary {
  schema: {
    columns: { name: string; kind: string; cql_type: string; arrow_type: string; nullable: boolean }[]
    /** The Arrow schema message that its streams begin with, base64. */
    arrow: string
  }
  endpoints: ExportEndpoint[]
}

export function exportRoutes(app: FastifyInstance, context: ServerContext): void {
  const { exports } = context
  // `curl -d '{...}'` names another content type.
  app.addContentTypeParser('*', { parseAs: 'string' }, (_, body, done) => {
    try {
      done(null, JSON.parse(String(body)))
    } catch (error) {
      done(new SluiceError('BAD_REQUEST', { reason: (error as Error).message, expected: 'a JSON object' }))
    }
  })

  resource(app, '/v1/exports', {
    async GET(request) {
      noParameters(request)
      return { exports: exports.list().map(summariseExport) }
    },
    async POST(request, reply) {
      noParameters(request)
      const { keyspace, table, parameters } = readBody(request.body)
      const made = await exports.create(keyspace, table, parameters)
      reply.code(201).header('Location', `/v1/exports/${made.id}`)
      return describeExport(context, made)
    },
  })

  resource<ExportParams>(app, '/v1/exports/:id', {
    async GET(request) {
      noParameters(request)
      return describeExport(context, exports.get(request.params.id))
    },
    async DELETE(request, reply) {
      noParameters(request)
      await exports.delete(request.params.id)
      return reply.code(204).send()
    },
  })

  resource<ExportParams>(app, '/v1/exports/:id/renew', {
    async POST(request) {
      const { ttl } = readParameters(['ttl'], queryPairs(request.raw.url!))
      return summariseExport(await exports.renew(request.params.id, ttl))
    },
  })
}

function noParameters(request: FastifyRequest): void {
  readParameters([], queryPairs(request.raw.url!))
}

/** Keyspace, table, and parameters by their names; numbers and booleans as text, columns also as a list. */
function readBody(body: unknown): { keyspace: string; table: string; parameters: [string, string][] } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new SluiceError('BAD_REQUEST', { expected: 'a JSON object with keyspace and table' })
  }
  const { keyspace, table, ...rest } = body as Record<string, unknown>
  if (typeof keyspace !== 'string')
    throw new SluiceError('BAD_PARAMETER', { parameter: 'keyspace', expected: 'a text' })
  if (typeof table !== 'string') throw new SluiceError('BAD_PARAMETER', { parameter: 'table', expected: 'a text' })
  const parameters: [string, string][] = []
  for (const [name, value] of Object.entries(rest)) {
    if (value === null) continue
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      parameters.push([name, String(value)])
    } else if (name === 'columns' && Array.isArray(value) && value.every((column) => typeof column === 'string')) {
      parameters.push([name, value.join(',')])
    } else {
      throw new SluiceError('BAD_PARAMETER', { parameter: shorten(name), expected: 'a text, a number or a boolean' })
    }
  }
  return { keyspace, table, parameters }
}

export function summariseExport(made: TableExport): ExportSummary {
  const { id, keyspace, table, now, created, expires, bytes, pinned, splits, linked, parameters } = made
  return {
    id,
    keyspace,
    table,
    now,
    created: new Date(created).toISOString(),
    expires: new Date(expires).toISOString(),
    bytes,
    sstables: pinned.sstables.length,
    splits: splits.length,
    durable: linked,
    parameters: Object.fromEntries(parameters),
  }
}

export async function describeExport(
  { exports, locations }: Pick<ServerContext, 'exports' | 'locations'>,
  made: TableExport,
): Promise<ExportDescription> {
  const names: readonly string[] = TICKET_OPTIONS
  const options = made.parameters.filter(([name]) => names.includes(name))
  return {
    ...summariseExport(made),
    schema: await describeSchema(made.batchSchema),
    endpoints: made.splits.map(({ from, to, start, end, bytes, partitions }, split) => ({
      ticket: encodeTicket(exports.key, { exportId: made.id, split, from, to, options }),
      start,
      end,
      bytes,
      partitions,
      locations,
    })),
  }
}

async function describeSchema(schema: BatchSchema): Promise<ExportDescription['schema']> {
  const parts: Uint8Array[] = []
  for await (const part of arrowStreamExporter().head(schema)) parts.push(part)
  return {
    columns: schema.fields.map((field) => ({
      name: field.name,
      kind: field.column?.kind ?? 'computed',
      cql_type: field.column?.cqlType ?? '',
      arrow_type: arrowTypeName(field),
      nullable: field.nullable,
    })),
    arrow: Buffer.concat(parts).toString('base64'),
  }
}
