// How much there is, without the columns. A client that leaves ends the counting.

import type { FastifyInstance } from 'fastify'
import { countRows } from '../../count-rows.ts'
import { DEFAULT_FORMAT } from '../../formats.ts'
import { currentSecond } from '../../instant.ts'
import { COUNT_PARAMETERS, readParameters, scanRequest } from '../../parameters.ts'
import { watchClient } from '../client.ts'
import type { ServerContext } from '../create-server.ts'
import { queryPairs } from '../query.ts'
import { get } from './get.ts'
import type { TableParams } from './tables.ts'

export function countRoute(app: FastifyInstance, { source, streams }: ServerContext): void {
  get<TableParams>(app, '/v1/keyspaces/:keyspace/tables/:table/count', async (request) => {
    const values = readParameters(COUNT_PARAMETERS, queryPairs(request.raw.url!))
    const watch = watchClient(request.raw.socket)
    try {
      streams.add(watch)
      const pinned = await source.pin(request.params.keyspace, request.params.table)
      try {
        const asked = scanRequest(values, DEFAULT_FORMAT, values.now ?? currentSecond(), watch.signal)
        return (await countRows(pinned, asked)).count
      } finally {
        await pinned.release()
      }
    } finally {
      watch.end()
      streams.delete(watch)
    }
  })
}
