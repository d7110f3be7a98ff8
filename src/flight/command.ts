// What a Flight client asks for, as a descriptor or inside a ticket: a table and request parameters, by the names that they have in
// HTTP. A path is [keyspace, table]; a command is JSON: {"table": "ks.t", "columns": "a,b", "where": "a > 1"}.

import { SluiceError } from '../../storage/errors.ts'
import { formatTableName, parseTableName, type TableName } from '../names.ts'
import { EXPORT_PARAMETERS, type ParameterName, ROWS_PARAMETERS, readParameters } from '../parameters.ts'
import { shorten } from '../shorten.ts'
import { DESCRIPTOR_CMD, DESCRIPTOR_PATH, type FlightDescriptor } from './protocol.ts'

export interface FlightCommand {
  name: TableName
  /** The parameters as they were given, checked. */
  given: [name: ParameterName, value: string][]
}

/** What may be said of a stream of rows, and of an export: all of HTTP's that mean something in an Arrow stream. */
export const READ_PARAMETERS = inFlight(ROWS_PARAMETERS)
export const PLAN_PARAMETERS = inFlight(EXPORT_PARAMETERS)

const MAX_COMMAND_BYTES = 64 << 10

function inFlight(names: readonly ParameterName[]): readonly ParameterName[] {
  return names.filter((name) => name !== 'format' && name !== 'null')
}

/** @throws SluiceError BAD_REQUEST, BAD_PARAMETER */
export function descriptorCommand({ type, cmd, path }: FlightDescriptor): FlightCommand {
  if (type === DESCRIPTOR_CMD) return parseCommand(cmd, PLAN_PARAMETERS)
  if (type !== DESCRIPTOR_PATH || path.length < 1 || path.length > 2) {
    throw new SluiceError('BAD_REQUEST', {
      reason: 'no such descriptor',
      expected: 'a path of keyspace and table, or a command',
    })
  }
  const name = path.length === 1 ? parseTableName(path[0]) : { keyspace: path[0], table: path[1] }
  return { name, given: [] }
}

/** @throws SluiceError BAD_REQUEST, BAD_PARAMETER */
export function parseCommand(bytes: Uint8Array, allowed: readonly ParameterName[]): FlightCommand {
  return commandOf(parseObject(bytes), allowed)
}

/** @throws SluiceError BAD_REQUEST, BAD_PARAMETER */
export function commandOf(fields: Record<string, unknown>, allowed: readonly ParameterName[]): FlightCommand {
  const { table, ...rest } = fields
  if (typeof table !== 'string') throw malformed('no table')
  const given: [ParameterName, string][] = []
  for (const [name, value] of Object.entries(rest)) {
    if (value !== null) given.push([name as ParameterName, parameterText(name, value)])
  }
  readParameters(allowed, given)
  return { name: parseTableName(table), given }
}

/** A ticket that reads the whole table: SSTables as they are when it is redeemed, TTLs judged at `now` (epoch seconds). */
export function tableTicket(name: TableName, now: number): Buffer {
  return Buffer.from(JSON.stringify({ table: formatTableName(name), now }))
}

/** The fields of a JSON object. @throws SluiceError BAD_REQUEST */
export function parseObject(bytes: Uint8Array): Record<string, unknown> {
  if (bytes.length > MAX_COMMAND_BYTES) throw malformed(`longer than ${MAX_COMMAND_BYTES} bytes`)
  let parsed: unknown
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw malformed('no JSON')
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw malformed('no JSON object')
  return parsed as Record<string, unknown>
}

function parameterText(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (name === 'columns' && Array.isArray(value) && value.every((part) => typeof part === 'string')) {
    return value.join(',')
  }
  throw new SluiceError('BAD_PARAMETER', { parameter: shorten(name), expected: 'text, a whole number, true or false' })
}

function malformed(reason: string): SluiceError {
  return new SluiceError('BAD_REQUEST', { reason, expected: 'a JSON object such as {"table": "ks.t"}' })
}
