// Tickets: what names one split of one export, signed (HMAC-SHA256, RFC 2104) so that nobody can make one up, with all in it that the
// server needs beside the export: the split's ends and the options that cut batches. The same ticket gives the same bytes.
//
// As text KEY.CONTENT.SIGNATURE, each base64url. KEY names the key, so that a ticket from before a restart without --state is told
// from a forged one.

import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SluiceError } from '../../storage/errors.ts'

export interface Ticket {
  exportId: string
  /** Number of the split in its export, from 0. */
  split: number
  /** Positions; null: the beginning or end of the export's token range. */
  from: string | null
  to: string | null
  /** Parameters (TICKET_OPTIONS) as they were given. */
  options: [name: string, value: string][]
}

export interface SigningKey {
  /** What tickets name it by. */
  id: string
  secret: Buffer
}

/** Longer ones would not fit a request line (Node: 16 KiB of headers). */
export const MAX_TICKET = 8192

const SECRET_BYTES = 32
const SIGNATURE_BYTES = 16
const ID_BYTES = 9
const ID_CHECK_BYTES = 5

export function signingKey(secret: Buffer = randomBytes(SECRET_BYTES)): SigningKey {
  return { id: hash('sha256', secret, 'buffer').subarray(0, 6).toString('base64url'), secret }
}

/** The key kept in a state directory; made when there is none. @throws SluiceError CANNOT_WRITE */
export async function keptSigningKey(state: string): Promise<SigningKey> {
  const file = join(state, 'ticket-key')
  try {
    await mkdir(state, { recursive: true })
    const kept = await readFile(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (kept?.length === SECRET_BYTES) return signingKey(kept)
    const secret = randomBytes(SECRET_BYTES)
    await writeFile(`${file}.new`, secret, { mode: 0o600, flush: true })
    await chmod(`${file}.new`, 0o600)
    await rename(`${file}.new`, file)
    return signingKey(secret)
  } catch (error) {
    throw new SluiceError('CANNOT_WRITE', { file, reason: (error as Error).message }, error)
  }
}

export function encodeTicket(key: SigningKey, { exportId, split, from, to, options }: Ticket): string {
  const content = Buffer.from(JSON.stringify([exportId, split, from, to, options])).toString('base64url')
  return `${key.id}.${content}.${sign(key, content).toString('base64url')}`
}

/** @throws SluiceError BAD_TICKET; EXPORT_GONE for a ticket that another key has signed */
export function decodeTicket(key: SigningKey, text: string): Ticket {
  const [id, content, signature, ...more] = text.split('.')
  if (text.length > MAX_TICKET || signature === undefined || more.length > 0) throw badTicket('it is not a ticket')
  if (id !== key.id && /^[A-Za-z0-9_-]{8}$/.test(id)) {
    throw new SluiceError('EXPORT_GONE', { reason: 'the ticket is from before the server was started' })
  }
  const given = Buffer.from(signature, 'base64url')
  const expected = sign(key, content)
  if (id !== key.id || given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw badTicket('its signature is not valid')
  }
  const [exportId, split, from, to, options] = JSON.parse(Buffer.from(content, 'base64url').toString('utf8'))
  return { exportId, split, from, to, options }
}

/** An id that the server knows for its own even when the export is long gone. */
export function newExportId(key: SigningKey): string {
  const random = randomBytes(ID_BYTES)
  return Buffer.concat([random, idCheck(key, random)]).toString('hex')
}

export function isOwnExportId(key: SigningKey, id: string): boolean {
  if (!/^[0-9a-f]+$/.test(id) || id.length !== 2 * (ID_BYTES + ID_CHECK_BYTES)) return false
  const bytes = Buffer.from(id, 'hex')
  return timingSafeEqual(bytes.subarray(ID_BYTES), idCheck(key, bytes.subarray(0, ID_BYTES)))
}

function idCheck(key: SigningKey, random: Uint8Array): Buffer {
  return createHmac('sha256', key.secret).update('export').update(random).digest().subarray(0, ID_CHECK_BYTES)
}

function sign(key: SigningKey, content: string): Buffer {
  return createHmac('sha256', key.secret).update('ticket').update(content).digest().subarray(0, SIGNATURE_BYTES)
}

function badTicket(reason: string): SluiceError {
  return new SluiceError('BAD_TICKET', { reason })
}
