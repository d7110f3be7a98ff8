// DoAction: exports made, renewed and dropped by name. Bodies and results are JSON, the results those of HTTP's /v1/exports.

import { SluiceError } from '../../storage/errors.ts'
import { readParameters } from '../parameters.ts'
import { describeExport, summariseExport } from '../server/routes/exports.ts'
import { shorten } from '../shorten.ts'
import type { FlightContext } from './call.ts'
import { commandOf, PLAN_PARAMETERS, parseObject } from './command.ts'
import type { Action, ActionType } from './protocol.ts'

export const ACTIONS: readonly ActionType[] = [
  { type: 'create_export', description: '{"table": "ks.t", ...}: pins the table; gives its tickets' },
  { type: 'renew_export', description: '{"export": "ID", "ttl": SECONDS}: puts off its end' },
  { type: 'drop_export', description: '{"export": "ID"}: ends it, and the streams that read it' },
]

/** The result as JSON; undefined: none. @throws SluiceError NOT_FOUND for another action; as ExportStore does */
export async function act(context: FlightContext, { type, body }: Action): Promise<object | undefined> {
  const { exports } = context
  switch (type) {
    case 'create_export': {
      const { name, given } = commandOf(parseObject(body), PLAN_PARAMETERS)
      return describeExport(context, await exports.create(name.keyspace, name.table, given))
    }
    case 'renew_export': {
      const { export: id, ...rest } = parseObject(body)
      const asked = Object.entries(rest).map(([name, value]) => [name, String(value)] as const)
      return summariseExport(await exports.renew(exportId(id), readParameters(['ttl'], asked).ttl))
    }
    case 'drop_export':
      await exports.delete(exportId(parseObject(body).export))
      return undefined
    default:
      throw new SluiceError('NOT_FOUND', {
        value: shorten(type),
        expected: ACTIONS.map((action) => action.type).join(', '),
      })
  }
}

function exportId(value: unknown): string {
  if (typeof value === 'string') return value
  throw new SluiceError('BAD_PARAMETER', { parameter: 'export', expected: 'the id of an export' })
}
