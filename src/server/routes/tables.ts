// What there is to export: keyspaces, and one table with its schema and SSTables.

import type { FastifyInstance } from 'fastify'
import { describeTable } from '../../describe-table.ts'
import { readParameters } from '../../parameters.ts'
import type { ServerContext } from '../create-server.ts'
import { queryPairs } from '../query.ts'
import { get } from './get.ts'

export interface TableParams {
  keyspace: string
  table: string
}

export function tableRoutes(app: FastifyInstance, { source }: ServerContext): void {
  get(app, '/v1/keyspaces', async (request) => {
    readParameters([], queryPairs(request.raw.url!))
    return { keyspaces: await source.keyspaces() }
  })

  get<TableParams>(app, '/v1/keyspaces/:keyspace/tables/:table', async (request) => {
    readParameters([], queryPairs(request.raw.url!))
    const pinned = await source.pin(request.params.keyspace, request.params.table)
    try {
      return await describeTable(pinned)
    } finally {
      await pinned.release()
    }
  })
}
