// Errors as clients see them before the first byte of a body: application/problem+json (RFC 9457) with the stable code of
// storage/errors.ts. `type` leads to the entry of the code on this server's own /errors page.

import type { FastifyError } from 'fastify'
import type { ErrorFields } from '../../storage/errors.ts'
import { ERROR_CODES, isSluiceError, SluiceError } from '../../storage/errors.ts'

export const PROBLEM_MEDIA_TYPE = 'application/problem+json'

export interface Problem {
  type: string
  title: string
  status: number
  code: string
  detail: string
  fields: ErrorFields
}

export function problemOf(error: SluiceError): Problem {
  return {
    type: `/errors#${error.code}`,
    title: ERROR_CODES[error.code].text,
    status: error.status,
    code: error.code,
    detail: error.message,
    fields: error.fields,
  }
}

/** Headers beside Content-Type that go with an error. */
export function problemHeaders(error: SluiceError): Record<string, string> {
  if (error.status === 401) return { 'WWW-Authenticate': 'Bearer realm="sluice"' }
  if (error.status === 503) return { 'Retry-After': '1' }
  return {}
}

/** Any thrown thing as an error of this product: what fastify refuses of a request is BAD_REQUEST, what nobody foresaw INTERNAL. */
export function sluiceErrorOf(error: unknown): SluiceError {
  if (isSluiceError(error)) return error
  const { code, statusCode, message } = Object(error) as Partial<FastifyError>
  if (typeof code === 'string' && code.startsWith('FST_') && typeof statusCode === 'number' && statusCode < 500) {
    return new SluiceError('BAD_REQUEST', { reason: String(message).slice(0, 300) })
  }
  return new SluiceError('INTERNAL', {}, error)
}

/** The page that `type` of a problem leads to. */
export function errorsPage(): string {
  const entries = Object.entries(ERROR_CODES).map(
    ([code, { status, text, exit }]) =>
      `<dt id="${code}"><code>${code}</code></dt><dd>${text} (HTTP status ${status}, exit code ${exit})</dd>`,
  )
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sluice errors</title><h1>Errors</h1><dl>${entries.join('\n')}</dl></html>\n`
}
