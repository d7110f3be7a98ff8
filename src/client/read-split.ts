// One ticket read to its end, whatever happens to the connections on the way: after a failure the next request starts behind the last
// batch that was handed on, so that no row comes twice and none is lost.

import { createHash } from 'node:crypto'
import type { Dispatcher } from 'undici'
import { SluiceError } from '../../storage/errors.ts'
import type { Connection } from './http.ts'
import { call, networkError, pause, Retryable } from './http.ts'
import { type IpcMessage, ipcMessages } from './ipc-messages.ts'

export interface SplitReadOptions {
  ticket: string
  /** URLs to read from, by turns where one fails; none: the connection's. */
  locations: readonly string[]
  /** Position to start behind. */
  after?: string
  /** Rows at most. */
  limit?: number
  /** Have the server send a digest of each response, and check it. */
  digest: boolean
  /** Megabytes a second that the server may read from disk for it. */
  rate?: number
  /** Failures in a row, without a batch between them, that are put up with. */
  retries: number
  signal: AbortSignal
  beforeBody: (bytes: number) => Promise<void>
  onRetry: (error: SluiceError) => void
}

/** The schema message comes first; once, whatever the number of requests. */
export async function* readSplit(connection: Connection, options: SplitReadOptions): AsyncGenerator<IpcMessage> {
  const { signal, retries, locations } = options
  let { after, limit } = options
  let hasSchema = false
  let failures = 0
  for (;;) {
    const base = locations.length === 0 ? connection.url : locations[failures % locations.length]
    try {
      for await (const message of readOnce(connection, options, base, { after, limit })) {
        failures = 0
        if (message.kind === 'batch') {
          after = message.position
          if (limit !== undefined) limit -= message.rows
        } else if (hasSchema) continue
        hasSchema = true
        yield message
        // What was cut behind the last row has nothing more to give.
        if (limit === 0) return
      }
      return
    } catch (thrown) {
      const failure = networkError(thrown, base, signal)
      if (!(failure instanceof Retryable)) throw failure
      if (++failures > retries) throw failure.error
      options.onRetry(failure.error)
      await pause(failure, failures, signal)
    }
  }
}

async function* readOnce(
  connection: Connection,
  { ticket, digest, rate, signal, beforeBody }: SplitReadOptions,
  base: string,
  { after, limit }: Pick<SplitReadOptions, 'after' | 'limit'>,
): AsyncGenerator<IpcMessage> {
  const query = new URLSearchParams({ format: 'arrows' })
  if (after !== undefined) query.set('after', after)
  if (limit !== undefined) query.set('limit', String(limit))
  if (digest) query.set('digest', '1')
  if (rate !== undefined) query.set('rate', String(rate))
  const response = await call(connection, `/v1/tickets/${ticket}?${query}`, { signal, base })
  // Once destroyed, the body must not fail where nobody hears it.
  response.body.on('error', () => {})
  try {
    const hash = digest ? createHash('sha256') : undefined
    yield* ipcMessages(hash === undefined ? response.body : hashed(response.body, hash), beforeBody)
    if (hash !== undefined) checkDigest(response, hash.digest('base64'))
  } finally {
    response.body.destroy()
  }
}

async function* hashed(body: AsyncIterable<Uint8Array>, hash: ReturnType<typeof createHash>) {
  for await (const part of body) {
    hash.update(part)
    yield part
  }
}

function checkDigest({ trailers }: Dispatcher.ResponseData, found: string): void {
  const told = (trailers as Record<string, string | string[]>)['repr-digest']
  if (told === `sha-256=:${found}:`) return
  throw new SluiceError('DIGEST_MISMATCH', { expected: String(told ?? 'a Repr-Digest trailer'), found })
}

/** Where a ticket's bytes go in a format that only whole splits can be read in. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>
  /** What came so far is void: it begins anew. */
  restart(): Promise<void>
}

/** A whole ticket in the format that it was made with; a failure starts it anew. */
export async function copySplit(
  connection: Connection,
  {
    ticket,
    locations,
    limit,
    retries,
    signal,
    onRetry,
  }: Omit<SplitReadOptions, 'after' | 'digest' | 'rate' | 'beforeBody'>,
  sink: ByteSink,
): Promise<void> {
  for (let failures = 0; ; ) {
    const base = locations.length === 0 ? connection.url : locations[failures % locations.length]
    try {
      const query = limit === undefined ? '' : `?limit=${limit}`
      const response = await call(connection, `/v1/tickets/${ticket}${query}`, { signal, base })
      response.body.on('error', () => {})
      for await (const part of response.body) await sink.write(part)
      return
    } catch (thrown) {
      const failure = networkError(thrown, base, signal)
      if (!(failure instanceof Retryable)) throw failure
      if (++failures > retries) throw failure.error
      onRetry(failure.error)
      await sink.restart()
      await pause(failure, failures, signal)
    }
  }
}
