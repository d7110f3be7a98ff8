// How much there is, without the columns. A client that leaves ends the counting.

import type { FastifyInstance } from 'fastify'
import { countRows } from '../../count-rows.ts'
import { DEFAULT_FORMAT } from '../../formats.ts'
import { currentSecond } from '../../instant.ts'
import { COUNT_REQUEST_PARAMETERS, readParameters, scanRequest } from '../../parameters.ts'
import { clientGroup, watched } from '../client.ts'
import type { ServerContext } from '../create-server.ts'
import { queryPairs } from '../query.ts'
import { readTable } from '../reader.ts'
import { get } from './get.ts'
import type { TableParams } from './tables.ts'

export function countRoute(app: FastifyInstance, context: ServerContext): void {
  get<TableParams>(app, '/v1/keyspaces/:keyspace/tables/:table/count', async (request) => {
    const values = readParameters(COUNT_REQUEST_PARAMETERS, queryPairs(request.raw.url!))
    return watched(context, request, async ({ signal }) => {
      const asked = scanRequest(values, DEFAULT_FORMAT, values.now ?? currentSecond(), signal)
      const reader = { group: clientGroup(request), signal, rate: values.rate }
      return readTable(context, request.params, reader, async (pinned) => (await countRows(pinned, asked)).count)
    })
  })
}
