// What the rows of a table, or of its splits, hash to. A client that leaves ends the hashing.

import type { FastifyInstance } from 'fastify'
import { digestRows, digestSplits } from '../../digest-rows.ts'
import { DEFAULT_FORMAT } from '../../formats.ts'
import { currentSecond } from '../../instant.ts'
import { DIGEST_PARAMETERS, readParameters, scanRequest } from '../../parameters.ts'
import { watchClient } from '../client.ts'
import type { ServerContext } from '../create-server.ts'
import { queryPairs } from '../query.ts'
import { get } from './get.ts'
import type { TableParams } from './tables.ts'

export function digestRoute(app: FastifyInstance, { source, streams }: ServerContext): void {
  get<TableParams>(app, '/v1/keyspaces/:keyspace/tables/:table/digest', async (request) => {
    const values = readParameters(DIGEST_PARAMETERS, queryPairs(request.raw.url!))
    const now = values.now ?? currentSecond()
    const watch = watchClient(request.raw.socket)
    try {
      streams.add(watch)
      const pinned = await source.pin(request.params.keyspace, request.params.table)
      try {
        const asked = scanRequest(values, DEFAULT_FORMAT, now, watch.signal)
        if (values.splits === undefined) return { ...(await digestRows(pinned, asked)), now }
        return { splits: await digestSplits(pinned, asked, values.splits), now }
      } finally {
        await pinned.release()
      }
    } finally {
      watch.end()
      streams.delete(watch)
    }
  })
}
