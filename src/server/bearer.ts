// The token that clients have to bear where a server asks for one: `Authorization: Bearer TOKEN` (RFC 6750, section 2.1).

import { createHash, timingSafeEqual } from 'node:crypto'

/** Whether an Authorization header bears the token. */
export function bearsToken(header: string | undefined, token: string): boolean {
  const match = /^Bearer +(\S+) *$/i.exec(header ?? '')
  return match !== null && isToken(match[1], token)
}

/** Compares in a time that tells nothing of the token, nor of its length. */
export function isToken(given: string, token: string): boolean {
  return timingSafeEqual(hash(given), hash(token))
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
