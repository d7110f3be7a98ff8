// Arrow Flight's gRPC service (Arrow: "Arrow Flight RPC", Flight.proto): the calls that a server of tables answers, with the
// specification's names and field numbers. DoPut, DoExchange and PollFlightInfo are not in it: gRPC answers UNIMPLEMENTED.

import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js'
import protobuf from 'protobufjs'

const PROTO = `
syntax = "proto3";
package arrow.flight.protocol;
message HandshakeRequest { uint64 protocol_version = 1; bytes payload = 2; }
message HandshakeResponse { uint64 protocol_version = 1; bytes payload = 2; }
message BasicAuth { string username = 2; string password = 3; }
message Empty {}
message ActionType { string type = 1; string description = 2; }
message Criteria { bytes expression = 1; }
message Action { string type = 1; bytes body = 2; }
message Result { bytes body = 1; }
message SchemaResult { bytes schema = 1; }
message FlightDescriptor {
  enum DescriptorType { UNKNOWN = 0; PATH = 1; CMD = 2; }
  DescriptorType type = 1; bytes cmd = 2; repeated string path = 3;
}
message FlightInfo {
  bytes schema = 1; FlightDescriptor flight_descriptor = 2; repeated FlightEndpoint endpoint = 3;
  int64 total_records = 4; int64 total_bytes = 5; bool ordered = 6; bytes app_metadata = 7;
}
message Timestamp { int64 seconds = 1; int32 nanos = 2; }
message FlightEndpoint {
  Ticket ticket = 1; repeated Location location = 2; Timestamp expiration_time = 3; bytes app_metadata = 4;
}
message Location { string uri = 1; }
message Ticket { bytes ticket = 1; }
`

export interface HandshakeMessage {
  protocol_version: number
  payload: Uint8Array
}
export interface BasicAuth {
  username: string
  password: string
}
export type Empty = Record<string, never>
export interface ActionType {
  type: string
  description: string
}
export interface Criteria {
  expression: Uint8Array
}
export interface Action {
  type: string
  body: Uint8Array
}
export interface Result {
  body: Uint8Array
}
export interface SchemaResult {
  /** The schema as an encapsulated IPC message. */
  schema: Uint8Array
}
export interface FlightDescriptor {
  type: number
  cmd: Uint8Array
  path: string[]
}
export interface FlightInfo {
  schema: Uint8Array
  flight_descriptor: FlightDescriptor
  endpoint: FlightEndpoint[]
  /** -1: not known. */
  total_records: number
  total_bytes: number
  ordered: boolean
  app_metadata?: Uint8Array
}
export interface FlightEndpoint {
  ticket: Ticket
  /** Empty: where the ticket comes from. */
  location: { uri: string }[]
  expiration_time?: { seconds: number; nanos: number }
  app_metadata?: Uint8Array
}
export interface Ticket {
  ticket: Uint8Array
}

export const DESCRIPTOR_PATH = 1
export const DESCRIPTOR_CMD = 2

const { root } = protobuf.parse(PROTO, { keepCase: true })

interface Codec<T> {
  encode(value: T): Buffer
  /** Missing fields have proto3's defaults. Throws on bytes that are no such message. */
  decode(bytes: Uint8Array): T
}

function codec<T extends object>(name: string): Codec<T> {
  const type = root.lookupType(`arrow.flight.protocol.${name}`)
  return {
    encode: (value) => Buffer.from(type.encode(value).finish()),
    decode: (bytes) => type.toObject(type.decode(bytes), { defaults: true, arrays: true, longs: Number }) as T,
  }
}

export const basicAuthCodec = codec<BasicAuth>('BasicAuth')

const empty = codec<Empty>('Empty')
const handshakeRequest = codec<HandshakeMessage>('HandshakeRequest')
const handshakeResponse = codec<HandshakeMessage>('HandshakeResponse')
const descriptor = codec<FlightDescriptor>('FlightDescriptor')
const info = codec<FlightInfo>('FlightInfo')
/** FlightData arrives encoded: see flight-exporter.ts. */
const flightData: Codec<Buffer> = { encode: (bytes) => bytes, decode: (bytes) => Buffer.from(bytes) }

export const FLIGHT_SERVICE = {
  Handshake: method('Handshake', handshakeRequest, handshakeResponse, { requestStream: true, responseStream: true }),
  ListFlights: method('ListFlights', codec<Criteria>('Criteria'), info, { responseStream: true }),
  GetFlightInfo: method('GetFlightInfo', descriptor, info),
  GetSchema: method('GetSchema', descriptor, codec<SchemaResult>('SchemaResult')),
  DoGet: method('DoGet', codec<Ticket>('Ticket'), flightData, { responseStream: true }),
  DoAction: method('DoAction', codec<Action>('Action'), codec<Result>('Result'), { responseStream: true }),
  ListActions: method('ListActions', empty, codec<ActionType>('ActionType'), { responseStream: true }),
} satisfies ServiceDefinition

function method<Request, Response>(
  name: string,
  request: Codec<Request>,
  response: Codec<Response>,
  { requestStream = false, responseStream = false } = {},
): MethodDefinition<Request, Response> {
  return {
    path: `/arrow.flight.protocol.FlightService/${name}`,
    requestStream,
    responseStream,
    requestSerialize: request.encode,
    requestDeserialize: request.decode,
    responseSerialize: response.encode,
    responseDeserialize: response.decode,
  }
}
