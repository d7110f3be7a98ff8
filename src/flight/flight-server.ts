// The Arrow Flight endpoint: a gRPC server with the service of protocol.ts.

import { isIPv6 } from 'node:net'
import { Server, ServerCredentials, type ServerDuplexStream, type UntypedServiceImplementation } from '@grpc/grpc-js'
import { SluiceError } from '../../storage/errors.ts'
import type { ServerContext } from '../server/create-server.ts'
import { ACTIONS, act } from './actions.ts'
import { bearerMetadata, type FlightContext, handshakeToken, streaming, unary, writeAnswers } from './call.ts'
import { descriptorCommand } from './command.ts'
import { doGet } from './do-get.ts'
import { flightSchema, flights, planFlight } from './flights.ts'
import {
  type Action,
  type ActionType,
  type Criteria,
  type Empty,
  FLIGHT_SERVICE,
  type FlightDescriptor,
  type FlightInfo,
  type HandshakeMessage,
  type Result,
  type SchemaResult,
  type Ticket,
} from './protocol.ts'
import { grpcError, sluiceErrorOf } from './status.ts'

export interface FlightServerOptions {
  /** Of the HTTP server: exports, limits, streams and token are the same ones. */
  context: ServerContext
}

export interface FlightServer {
  /** Starts to listen and gives the location, `grpc://HOST:PORT`. Port 0 takes a free one. @throws SluiceError CANNOT_LISTEN */
  listen(host: string, port: number): Promise<string>
  /** To be called when the HTTP server is closed: it has refused new calls and waited for, or cut, the streams of both. */
  close(): Promise<void>
}

/** Requests are names, conditions and tickets. */
const MAX_REQUEST_BYTES = 1 << 20

export function createFlightServer({ context: shared }: FlightServerOptions): FlightServer {
  const context: FlightContext = { ...shared, locations: [] }
  const server = new Server({ 'grpc.max_receive_message_length': MAX_REQUEST_BYTES })
  server.addService(FLIGHT_SERVICE, implementation(context))
  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        const address = isIPv6(host) ? `[${host}]` : host
        server.bindAsync(`${address}:${port}`, ServerCredentials.createInsecure(), (error, bound) => {
          if (error !== null) {
            reject(new SluiceError('CANNOT_LISTEN', { value: `${host}:${port}`, reason: error.message }, error))
            return
          }
          context.locations = shared.locations.map((url) => `grpc://${new URL(url).hostname}:${bound}`)
          resolve(`grpc://${address}:${bound}`)
        })
      }),
    async close() {
      server.forceShutdown()
    },
  }
}

function implementation(context: FlightContext): UntypedServiceImplementation {
  const { source } = context
  return {
    Handshake: (call: ServerDuplexStream<HandshakeMessage, HandshakeMessage>) => handshake(context, call),
    GetFlightInfo: unary<FlightDescriptor, FlightInfo>(context, (descriptor) =>
      planFlight(context, descriptor, descriptorCommand(descriptor)),
    ),
    GetSchema: unary<FlightDescriptor, SchemaResult>(context, async (descriptor) => ({
      schema: await flightSchema(source, descriptorCommand(descriptor)),
    })),
    ListFlights: streaming<Criteria, FlightInfo>(context, async (call, { signal }) => {
      const keyspace = Buffer.from(call.request.expression).toString('utf8')
      for await (const info of flights(source, keyspace)) await writeAnswers(call, [info], signal)
    }),
    DoGet: streaming<Ticket, Buffer>(context, (call, watch) => doGet(context, call, watch)),
    DoAction: streaming<Action, Result>(context, async (call, { signal }) => {
      const result = await act(context, call.request)
      if (result !== undefined) await writeAnswers(call, [{ body: Buffer.from(JSON.stringify(result)) }], signal)
    }),
    ListActions: streaming<Empty, ActionType>(context, async (call, { signal }) => {
      await writeAnswers(call, ACTIONS, signal)
    }),
  }
}

/** Answers the first message, or the end of a call without one: a client may name itself in a header alone. */
function handshake(context: FlightContext, call: ServerDuplexStream<HandshakeMessage, HandshakeMessage>): void {
  let answered = false
  const answer = (message: HandshakeMessage | undefined) => {
    if (answered) return
    answered = true
    try {
      const token = handshakeToken(context, call.metadata, message?.payload ?? new Uint8Array(0))
      call.sendMetadata(bearerMetadata(token))
      if (message !== undefined) call.write({ protocol_version: message.protocol_version, payload: Buffer.from(token) })
      call.end()
    } catch (thrown) {
      call.emit('error', grpcError(sluiceErrorOf(thrown)))
    }
  }
  call.on('data', answer)
  call.on('end', () => answer(undefined))
}
