// What every Flight call goes through: a check of its token, a watch over its client, errors as statuses.

import { Metadata, type ServerUnaryCall, type ServerWritableStream, type sendUnaryData } from '@grpc/grpc-js'
import { SluiceError } from '../../storage/errors.ts'
import { bearsToken, isToken } from '../server/bearer.ts'
import type { ClientWatch } from '../server/client.ts'
import type { ServerContext } from '../server/create-server.ts'
import { basicAuthCodec } from './protocol.ts'
import { grpcError, sluiceErrorOf } from './status.ts'

export type FlightContext = ServerContext

/** A call with one answer. */
export function unary<Request, Response>(
  context: FlightContext,
  answer: (request: Request) => Promise<Response>,
): (call: ServerUnaryCall<Request, Response>, callback: sendUnaryData<Response>) => void {
  return (call, callback) => {
    guarded(context, call, () => answer(call.request)).then(
      (response) => callback(null, response),
      (thrown) => callback(refusal(context, call.getPath(), thrown)),
    )
  }
}

/** A call with many answers, which `send` writes. */
export function streaming<Request, Response>(
  context: FlightContext,
  send: (call: ServerWritableStream<Request, Response>, watch: ClientWatch) => Promise<void>,
): (call: ServerWritableStream<Request, Response>) => void {
  return (call) => {
    const watch = watchCall(call)
    guarded(context, call, async () => {
      context.streams.add(watch)
      try {
        await send(call, watch)
      } catch (thrown) {
        // A scan that was stopped says CANCELLED; why it was stopped is known here.
        throw watch.signal.aborted ? watch.signal.reason : thrown
      } finally {
        watch.end()
        context.streams.delete(watch)
      }
    }).then(
      () => call.end(),
      (thrown) => call.emit('error', refusal(context, call.getPath(), thrown)),
    )
  }
}

/** Writes answers, at least one, at the client's pace: settles when the last has been taken. */
export function writeAnswers<Request, Response>(
  call: ServerWritableStream<Request, Response>,
  answers: readonly Response[],
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason)
    if (signal.aborted) return aborted()
    signal.addEventListener('abort', aborted, { once: true })
    const written = (error: Error | null | undefined) => {
      signal.removeEventListener('abort', aborted)
      if (error) reject(error)
      else resolve()
    }
    const last = answers.length - 1
    for (let i = 0; i < last; i++) call.write(answers[i])
    call.write(answers[last], written)
  })
}

/**
 * The token that a client which named itself may bear from now on. Two ways are in use: the header `authorization: Basic`, and
 * a BasicAuth message as the first payload. The user name is not looked at, the password is the token.
 * @throws SluiceError UNAUTHORIZED
 */
export function handshakeToken(context: FlightContext, metadata: Metadata, payload: Uint8Array): string {
  const token = context.token ?? ''
  const header = authorizationOf(metadata)
  if (context.token === undefined || bearsToken(header, token)) return token
  const basic = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(header)
  const password =
    basic === null
      ? passwordOf(payload)
      : Buffer.from(basic[1], 'base64')
          .toString('utf8')
          .replace(/^[^:]*:/, '')
  if (!isToken(password, token)) throw new SluiceError('UNAUTHORIZED')
  return token
}

export function bearerMetadata(token: string): Metadata {
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${token}`)
  return metadata
}

async function guarded<T>(context: FlightContext, call: { metadata: Metadata }, act: () => Promise<T>): Promise<T> {
  if (context.token !== undefined && !bearsToken(authorizationOf(call.metadata), context.token)) {
    throw new SluiceError('UNAUTHORIZED')
  }
  if (context.streams.closing) throw new SluiceError('SHUTTING_DOWN')
  return act()
}

function refusal({ logger, metrics }: FlightContext, path: string, thrown: unknown) {
  const error = sluiceErrorOf(thrown)
  metrics.errors.inc({ code: error.code })
  const level = error.status === 499 ? 'info' : error.status >= 500 && error.status !== 503 ? 'error' : 'debug'
  logger[level]({ code: error.code, fields: error.fields, call: path, err: error.cause }, 'call refused')
  return grpcError(error)
}

function watchCall<Request, Response>(call: ServerWritableStream<Request, Response>): ClientWatch {
  const controller = new AbortController()
  const left = () => controller.abort(new SluiceError('CANCELLED', { reason: 'the client left' }))
  if (call.cancelled) left()
  else call.on('cancelled', left)
  return {
    signal: controller.signal,
    cut: (reason) => controller.abort(reason),
    end: () => call.off('cancelled', left),
  }
}

function authorizationOf(metadata: Metadata): string {
  return String(metadata.get('authorization')[0] ?? '')
}

function passwordOf(payload: Uint8Array): string {
  try {
    return basicAuthCodec.decode(payload).password
  } catch {
    return ''
  }
}
