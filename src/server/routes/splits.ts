// Parts of a table that many readers can share, each a pair of positions for `from` and `to`.

import type { FastifyInstance } from 'fastify'
import { readParameters, SPLITS_PARAMETERS } from '../../parameters.ts'
import type { ServerContext } from '../create-server.ts'
import { queryPairs } from '../query.ts'
import { get } from './get.ts'
import type { TableParams } from './tables.ts'

export function splitsRoute(app: FastifyInstance, { source }: ServerContext): void {
  get<TableParams>(app, '/v1/keyspaces/:keyspace/tables/:table/splits', async (request) => {
    const { start, end, where, count, target_bytes } = readParameters(SPLITS_PARAMETERS, queryPairs(request.raw.url!))
    const pinned = await source.pin(request.params.keyspace, request.params.table)
    try {
      return { splits: await pinned.splits({ start, end, where, count, targetBytes: target_bytes }) }
    } finally {
      await pinned.release()
    }
  })
}
