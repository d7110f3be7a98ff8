// What there is to fetch, and by which tickets: FlightInfo of tables and of exports.

import { schemaMessage } from '../../exporters/arrow/message.ts'
import { isSluiceError } from '../../storage/errors.ts'
import type { BatchSchema } from '../../storage/rows/batch.ts'
import type { TableExport } from '../exports/export-store.ts'
import { currentSecond } from '../instant.ts'
import type { TableName } from '../names.ts'
import type { ParameterName } from '../parameters.ts'
import { EXPORT_PARAMETERS, readParameters, scanRequest } from '../parameters.ts'
import { describeExport } from '../server/routes/exports.ts'
import type { PinnedSource, Source } from '../source.ts'
import type { FlightContext } from './call.ts'
import { type FlightCommand, tableTicket } from './command.ts'
import { DESCRIPTOR_PATH, type FlightDescriptor, type FlightInfo } from './protocol.ts'

/** Makes an export: the endpoints are its tickets, and all of them see the same rows. @throws SluiceError as ExportStore.create */
export async function planFlight(
  context: FlightContext,
  descriptor: FlightDescriptor,
  { name, given }: FlightCommand,
): Promise<FlightInfo> {
  return exportInfo(context, descriptor, await context.exports.create(name.keyspace, name.table, given))
}

/** The schema of what a command asks for, as an encapsulated IPC message; no export is made. */
export async function flightSchema(source: Source, { name, given }: FlightCommand): Promise<Uint8Array> {
  const pinned = await source.pin(name.keyspace, name.table)
  try {
    return schemaMessage(await schemaOf(pinned, given), 0)
  } finally {
    await pinned.release()
  }
}

/**
 * Every table, or those of one keyspace, each with one ticket. A table that cannot be read is listed too, without endpoints and with
 * its error as app_metadata: a listing is not to fail by one table, nor to hide it.
 */
export async function* flights(source: Source, keyspace: string): AsyncGenerator<FlightInfo> {
  for (const { name, tables } of await source.keyspaces()) {
    if (keyspace !== '' && keyspace !== name) continue
    for (const table of tables) {
      const descriptor = { type: DESCRIPTOR_PATH, cmd: new Uint8Array(0), path: [name, table] }
      try {
        yield await tableInfo(source, descriptor, { keyspace: name, table })
      } catch (error) {
        if (!isSluiceError(error)) throw error
        yield unreadable(descriptor, `${error.code}: ${error.message}`)
      }
    }
  }
}

async function exportInfo(
  context: FlightContext,
  descriptor: FlightDescriptor,
  made: TableExport,
): Promise<FlightInfo> {
  const { endpoints, now } = await describeExport(context, made)
  return {
    schema: schemaMessage(made.batchSchema, 0),
    flight_descriptor: descriptor,
    endpoint: endpoints.map(({ ticket, start, end, bytes, partitions }) => ({
      ticket: { ticket: Buffer.from(ticket) },
      location: context.locations.map((uri) => ({ uri })),
      expiration_time: { seconds: Math.floor(made.expires / 1000), nanos: (made.expires % 1000) * 1_000_000 },
      app_metadata: Buffer.from(JSON.stringify({ start, end, bytes, partitions })),
    })),
    total_records: -1,
    total_bytes: endpoints.reduce((sum, { bytes }) => sum + Math.round(bytes), 0),
    ordered: true,
    app_metadata: Buffer.from(JSON.stringify({ export: made.id, now })),
  }
}

async function tableInfo(source: Source, descriptor: FlightDescriptor, name: TableName): Promise<FlightInfo> {
  const pinned = await source.pin(name.keyspace, name.table)
  const now = currentSecond()
  try {
    return {
      schema: schemaMessage(await schemaOf(pinned, [['now', String(now)]]), 0),
      flight_descriptor: descriptor,
      endpoint: [{ ticket: { ticket: tableTicket(name, now) }, location: [] }],
      total_records: -1,
      total_bytes: pinned.sstables.reduce((sum, { dataBytes }) => sum + dataBytes, 0),
      ordered: true,
    }
  } finally {
    await pinned.release()
  }
}

function unreadable(descriptor: FlightDescriptor, error: string): FlightInfo {
  return {
    schema: schemaMessage({ fields: [], metadata: new Map() }, 0),
    flight_descriptor: descriptor,
    endpoint: [],
    total_records: -1,
    total_bytes: -1,
    ordered: true,
    app_metadata: Buffer.from(error),
  }
}

async function schemaOf(pinned: PinnedSource, given: [ParameterName, string][]): Promise<BatchSchema> {
  const values = readParameters(EXPORT_PARAMETERS, given)
  const scan = await pinned.scan({ ...scanRequest(values, 'arrows', values.now ?? currentSecond()), limit: 0 })
  await scan.close()
  return scan.schema
}
