// Requests to a server, its problems as the errors that they were there, and which failures are worth another try.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { request } from 'undici'
import { ERROR_CODES, type ErrorCode, type ErrorFields, isSluiceError, SluiceError } from '../../storage/errors.ts'

export interface Connection {
  /** Of the server, without a path behind it. */
  url: string
  /** undici's global one if not given. */
  dispatcher?: Dispatcher
  /** Where the server asks for one. */
  token?: string
  /** Sent with every request. */
  headers?: Record<string, string>
}

export interface Call {
  method?: 'GET' | 'POST' | 'DELETE'
  body?: string
  signal?: AbortSignal
  /** In place of the connection's URL. */
  base?: string
}

/** A failure of the network, of a stream on its way, or of a server that is full or stopping. */
export class Retryable extends Error {
  readonly error: SluiceError
  /** Told by the server. */
  readonly afterMs: number | undefined

  constructor(error: SluiceError, afterMs?: number) {
    super(error.message, { cause: error })
    this.error = error
    this.afterMs = afterMs
  }
}

const LONGEST_PROBLEM = 1 << 20
const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 10_000

/**
 * The response to a successful request; its body has to be read or dumped.
 * @throws Retryable; SluiceError as the server said; the signal's reason
 */
export async function call(
  { url, dispatcher, token, headers }: Connection,
  path: string,
  { method = 'GET', body, signal, base = url }: Call = {},
): Promise<Dispatcher.ResponseData> {
  let response: Dispatcher.ResponseData
  try {
    response = await request(base.replace(/\/+$/, '') + path, {
      method,
      body,
      signal,
      dispatcher,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
    })
  } catch (error) {
    throw networkError(error, base, signal)
  }
  if (response.statusCode < 300) return response
  throw await problemOf(response, base, signal)
}

/** As call, for a JSON answer; tried again where that can help. */
export async function callJson<T>(connection: Connection, path: string, options: Call = {}): Promise<T> {
  return retrying(5, options.signal, async () => {
    const response = await call(connection, path, options)
    if (response.statusCode === 204) {
      await response.body.dump()
      return undefined as T
    }
    try {
      return (await response.body.json()) as T
    } catch (error) {
      throw networkError(error, connection.url, options.signal)
    }
  })
}

export async function retrying<T>(
  attempts: number,
  signal: AbortSignal | undefined,
  act: () => Promise<T>,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof Retryable)) throw error
      if (failures >= attempts) throw error.error
      await pause(error, failures, signal)
    }
  }
}

/** Longer after each failure in a row, and never in step with other clients. */
export async function pause(failure: Retryable, failures: number, signal: AbortSignal | undefined): Promise<void> {
  const wait = failure.afterMs ?? Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1))
  await sleep(wait * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => {
    throw signal?.reason
  })
}

/** What a broken connection comes out as. */
export function networkError(error: unknown, url: string, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason
  if (error instanceof Retryable || (isSluiceError(error) && error.code !== 'REMOTE')) return error
  if (isSluiceError(error)) return new Retryable(error)
  return new Retryable(new SluiceError('REMOTE', { value: url, reason: (error as Error).message }, error))
}

async function problemOf(response: Dispatcher.ResponseData, url: string, signal?: AbortSignal): Promise<unknown> {
  let text = ''
  try {
    for await (const part of response.body) {
      text += part
      if (text.length > LONGEST_PROBLEM) break
    }
  } catch (error) {
    return networkError(error, url, signal)
  }
  const error = errorOf(text) ?? new SluiceError('REMOTE', { value: url, found: `HTTP status ${response.statusCode}` })
  if (response.statusCode !== 503 && response.statusCode !== 502 && response.statusCode !== 429) return error
  const after = Number(response.headers['retry-after'])
  return new Retryable(error, after >= 0 ? after * 1000 : undefined)
}

function errorOf(text: string): SluiceError | undefined {
  try {
    const { code, fields } = JSON.parse(text) as { code: string; fields?: ErrorFields }
    return Object.hasOwn(ERROR_CODES, code) ? new SluiceError(code as ErrorCode, fields ?? {}) : undefined
  } catch {
    return undefined
  }
}
