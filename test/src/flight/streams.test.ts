// Flight streams over fakes: a client's pace reaches the disk, a client that leaves frees what its stream held, failures and the end
// of the server arrive as statuses. What is in the messages is tested with pyarrow.flight (test/clients/flight.sh).

import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClientReadableStream, credentials, makeClientConstructor, type ServiceError, status } from '@grpc/grpc-js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { FlightServer } from '../../../src/flight/flight-server.ts'
import { createFlightServer } from '../../../src/flight/flight-server.ts'
import { FLIGHT_SERVICE } from '../../../src/flight/protocol.ts'
import type { SluiceServer } from '../../../src/server/create-server.ts'
import { createServer } from '../../../src/server/create-server.ts'
import type { Source } from '../../../src/source.ts'
import type { Field } from '../../../storage/rows/batch.ts'
import type { Scan } from '../../../storage/scan/scan-request.ts'
import { type FakeSource, type FakeTable, fakeExporter, fakeSource, quiet, until } from '../fakes.ts'

const TABLES: Record<string, FakeTable> = {
  endless: { batches: 10_000_000, batchBytes: 1 << 20 },
  one: { batches: 1, batchBytes: 700_000 },
  few: { batches: 3, batchBytes: 700_000 },
  large: { batches: 3, batchBytes: 5 << 20 },
  none: { batches: 0, batchBytes: 8 },
  fails_first: { batches: 3, batchBytes: 8, failAt: 0 },
  fails_later: { batches: 8, batchBytes: 700_000, failAt: 5 },
}

const Client = makeClientConstructor(FLIGHT_SERVICE, 'FlightService')

let source: FakeSource
let http: SluiceServer
let flight: FlightServer
let client: InstanceType<typeof Client>
let location: string

beforeEach(async () => {
  source = fakeSource(TABLES)
  http = createServer({ source: withBlobs(source), createExporter: fakeExporter, logger: quiet })
  flight = createFlightServer({ context: http.context })
  location = await flight.listen('127.0.0.1', 0)
  client = new Client(location.replace('grpc://', ''), credentials.createInsecure())
})
afterEach(async () => {
  client.close()
  await http.close(0)
  await flight.close()
})

const BLOB: Field = { name: 'b', type: { kind: 'blob' }, layout: { kind: 'binary' }, nullable: true, children: [] }

/** The same batches, their bytes as one blob: messages as large as the batches say. */
function withBlobs(fake: FakeSource): Source {
  const pin: Source['pin'] = async (keyspace, table) => {
    const pinned = await fake.pin(keyspace, table)
    return { ...pinned, scan: async (request) => blobScan(await pinned.scan(request)) }
  }
  return { ...fake, pin }
}

function blobScan(scan: Scan): Scan {
  const schema = { ...scan.schema, fields: [BLOB] }
  return {
    ...scan,
    schema,
    async next() {
      const batch = await scan.next()
      if (batch === undefined) return undefined
      const { values } = batch.columns[0]
      const column = { ...batch.columns[0], field: BLOB, offsets: Int32Array.of(0, values.length) }
      return { ...batch, schema, columns: [column] }
    },
  }
}

function doGet(table: string): ClientReadableStream<Buffer> {
  return client.DoGet({ ticket: Buffer.from(JSON.stringify({ table: `ks.${table}` })) })
}

/** Messages until the end, and the status in which the call ended. */
function whole(stream: ClientReadableStream<Buffer>): Promise<{ messages: number; error: ServiceError | undefined }> {
  return new Promise((resolve) => {
    let messages = 0
    stream.on('data', () => messages++)
    stream.on('error', (error) => resolve({ messages, error: error as ServiceError }))
    stream.on('end', () => setImmediate(() => resolve({ messages, error: undefined })))
  })
}

test('a stream is the schema and its batches; everything is given back', async () => {
  expect(await whole(doGet('few'))).toEqual({ messages: 4, error: undefined })
  expect(await whole(doGet('none'))).toEqual({ messages: 1, error: undefined })
  const { counts } = source
  expect(counts).toMatchObject({ pulled: 3, batchReleases: 3, closes: 2, releases: 2 })
})

/** A reader that stops. Plain HTTP/2: the client of @grpc/grpc-js reads on into its own memory, whoever reads from it. */
function stalled(table: string): { session: ClientHttp2Session; stream: ClientHttp2Stream } {
  const session = connect(location.replace('grpc:', 'http:'))
  const stream = session.request({
    ':method': 'POST',
    ':path': FLIGHT_SERVICE.DoGet.path,
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  const ticket = FLIGHT_SERVICE.DoGet.requestSerialize({ ticket: Buffer.from(`{"table": "ks.${table}"}`) })
  stream.end(Buffer.concat([Buffer.from([0, 0, 0, 0, ticket.length]), ticket]))
  stream.on('error', () => {})
  stream.pause()
  return { session, stream }
}

test('a stream keeps its place and its files until its last message is taken', async () => {
  const { session, stream } = stalled('one')
  const { counts } = source
  await until(() => counts.pulled === 1, 'the batch is pulled')
  await sleep(300)
  expect(counts).toMatchObject({ closes: 0, releases: 0 })
  expect(http.context.admission.running).toBe(1)
  stream.resume()
  await until(() => counts.closes === 1 && counts.releases === 1 && counts.held === 0, 'the scan is closed')
  expect(http.context.admission.running).toBe(0)
  session.destroy()
})

test('a client that does not read stops the pulling of batches', async () => {
  const { session, stream } = stalled('endless')
  const { counts } = source
  let pulled = -1
  while (counts.pulled !== pulled || pulled <= 0) {
    pulled = counts.pulled
    await sleep(500)
  }
  // Two writes, and what the client's window takes.
  expect(pulled).toBeLessThan(10)
  expect(counts.held).toBeLessThanOrEqual(1)
  stream.resume()
  await until(() => counts.pulled > pulled + 20, 'the stream goes on when read again')
  stream.close(constants.NGHTTP2_CANCEL)
  await until(() => counts.closes === 1 && counts.releases === 1 && counts.held === 0, 'the scan is closed')
  session.destroy()
})

test('a failure arrives as a status with its code', async () => {
  for (const [table, most] of [
    ['fails_first', 0],
    ['fails_later', 6],
  ] as const) {
    const { messages, error } = await whole(doGet(table))
    expect(messages).toBeLessThanOrEqual(most)
    expect(error?.code).toBe(status.DATA_LOSS)
    expect(error?.details).toMatch(/^CORRUPT_SSTABLE: .*Data\.db/)
    expect(error?.metadata.get('sluice-code')).toEqual(['CORRUPT_SSTABLE'])
  }
  await until(() => source.counts.closes === 2 && source.counts.held === 0, 'the scans are closed')
})

test('a row beyond the usual limit of gRPC reaches who allows it; else the client itself says so', async () => {
  const message = { 'grpc.max_receive_message_length': 64 << 20 }
  const allowing = new Client(location.replace('grpc://', ''), credentials.createInsecure(), message)
  const ticket = { ticket: Buffer.from('{"table": "ks.large"}') }
  expect(await whole(allowing.DoGet(ticket))).toEqual({ messages: 4, error: undefined })
  allowing.close()
  const { messages, error } = await whole(doGet('large'))
  expect(messages).toBe(1)
  expect(error?.code).toBe(status.RESOURCE_EXHAUSTED)
  expect(error?.details).toMatch(/larger than max/)
  await until(() => source.counts.closes === 2 && source.counts.held === 0, 'the scans are closed')
})

test('a server that stops cuts the streams that do not end', async () => {
  const stream = doGet('endless')
  const ended = whole(stream)
  await until(() => source.counts.pulled > 2, 'the stream is under way')
  await http.close(50)
  const { error } = await ended
  expect(error?.code).toBe(status.UNAVAILABLE)
  expect(error?.details).toMatch(/^SHUTTING_DOWN/)
  expect(source.counts).toMatchObject({ closes: 1, releases: 1, held: 0 })
})
