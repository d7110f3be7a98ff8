// What the rows of a table, or of its splits, hash to. A client that leaves ends the hashing.

import type { FastifyInstance } from 'fastify'
import { digestRows, digestSplits } from '../../digest-rows.ts'
import { DEFAULT_FORMAT } from '../../formats.ts'
import { currentSecond } from '../../instant.ts'
import { DIGEST_REQUEST_PARAMETERS, readParameters, scanRequest } from '../../parameters.ts'
import { clientGroup, watched } from '../client.ts'
import type { ServerContext } from '../create-server.ts'
import { queryPairs } from '../query.ts'
import { readTable } from '../reader.ts'
import { get } from './get.ts'
import type { TableParams } from './tables.ts'

export function digestRoute(app: FastifyInstance, context: ServerContext): void {
  get<TableParams>(app, '/v1/keyspaces/:keyspace/tables/:table/digest', async (request) => {
    const values = readParameters(DIGEST_REQUEST_PARAMETERS, queryPairs(request.raw.url!))
    const now = values.now ?? currentSecond()
    return watched(context, request, async ({ signal }) => {
      const asked = scanRequest(values, DEFAULT_FORMAT, now, signal)
      const reader = { group: clientGroup(request), signal, rate: values.rate }
      return readTable(context, request.params, reader, async (pinned) => {
        if (values.splits === undefined) return { ...(await digestRows(pinned, asked)), now }
        return { splits: await digestSplits(pinned, asked, values.splits), now }
      })
    })
  })
}
