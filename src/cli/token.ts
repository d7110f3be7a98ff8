// The token between server and clients, as flags and environment say it: the same for both sides.

import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { SluiceError } from '../../storage/errors.ts'

export interface TokenFlags {
  token?: string
  tokenFile?: string
}

/** @param what the token is for, in --help */
export function addTokenFlags(command: Command, what: string): Command {
  return command
    .option('--token <token>', `${what}; SLUICE_TOKEN in the environment says the same, and is not seen by others`)
    .option('--token-file <file>', 'file with the token')
}

/** undefined: none is given. @throws SluiceError BAD_PARAMETER, IO */
export async function readToken({ token, tokenFile }: TokenFlags): Promise<string | undefined> {
  if (token !== undefined && tokenFile !== undefined) {
    throw new SluiceError('BAD_PARAMETER', { parameter: 'token', reason: 'it cannot be given with --token-file' })
  }
  if (token !== undefined) return checked('token', token)
  if (tokenFile === undefined) return checked('SLUICE_TOKEN', process.env.SLUICE_TOKEN)
  const text = await readFile(tokenFile, 'utf8').catch((error: Error) => {
    throw new SluiceError('IO', { file: tokenFile, reason: error.message }, error)
  })
  return checked('token-file', text.trim())
}

/** An empty one is refused: it would open what was meant to be closed. */
function checked(parameter: string, token: string | undefined): string | undefined {
  if (token === undefined || /^[\x21-\x7e]+$/.test(token)) return token
  throw new SluiceError('BAD_PARAMETER', {
    parameter,
    reason: token === '' ? 'it is empty' : undefined,
    expected: 'ASCII characters without spaces',
  })
}
