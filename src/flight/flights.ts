// What there is to fetch, and by which tickets: FlightInfo of tables.

import { schemaMessage } from '../../exporters/arrow/message.ts'
import { isSluiceError } from '../../storage/errors.ts'
import type { BatchSchema } from '../../storage/rows/batch.ts'
import { currentSecond } from '../instant.ts'
import { scanRequest } from '../parameters.ts'
import type { PinnedSource, Source } from '../source.ts'
import { commandTicket, type FlightCommand } from './command.ts'
import { DESCRIPTOR_PATH, type FlightDescriptor, type FlightInfo } from './protocol.ts'

/** @throws SluiceError as Source.pin and PinnedSource.scan do */
export async function flightInfo(
  source: Source,
  descriptor: FlightDescriptor,
  command: FlightCommand,
): Promise<FlightInfo> {
  const now = command.values.now ?? currentSecond()
  const pinned = await source.pin(command.name.keyspace, command.name.table)
  try {
    return {
      schema: schemaMessage(await schemaOf(pinned, command, now), 0),
      flight_descriptor: descriptor,
      endpoint: [{ ticket: { ticket: commandTicket(command, now) }, location: [] }],
      total_records: -1,
      total_bytes: pinned.sstables.reduce((sum, { dataBytes }) => sum + dataBytes, 0),
      ordered: true,
    }
  } finally {
    await pinned.release()
  }
}

/** The schema as an encapsulated IPC message. @throws SluiceError as Source.pin and PinnedSource.scan do */
export async function flightSchema(source: Source, command: FlightCommand): Promise<Uint8Array> {
  const pinned = await source.pin(command.name.keyspace, command.name.table)
  try {
    return schemaMessage(await schemaOf(pinned, command, command.values.now ?? currentSecond()), 0)
  } finally {
    await pinned.release()
  }
}

/**
 * Every table, or those of one keyspace. A table that cannot be read is listed too, without endpoints and with its error as
 * app_metadata: a listing is not to fail by one table, nor to hide it.
 */
export async function* flights(source: Source, keyspace: string): AsyncGenerator<FlightInfo> {
  for (const { name, tables } of await source.keyspaces()) {
    if (keyspace !== '' && keyspace !== name) continue
    for (const table of tables) {
      const descriptor = { type: DESCRIPTOR_PATH, cmd: new Uint8Array(0), path: [name, table] }
      try {
        yield await flightInfo(source, descriptor, { name: { keyspace: name, table }, values: {}, given: {} })
      } catch (error) {
        if (!isSluiceError(error)) throw error
        yield unreadable(descriptor, `${error.code}: ${error.message}`)
      }
    }
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

async function schemaOf(pinned: PinnedSource, command: FlightCommand, now: number): Promise<BatchSchema> {
  const scan = await pinned.scan({ ...scanRequest(command.values, 'arrows', now), limit: 0 })
  await scan.close()
  return scan.schema
}
