// Flags of `sluice export` for a table that a server has.

import type { Command } from 'commander'
import { SluiceError } from '../../storage/errors.ts'
import type { TokenFlags } from './token.ts'

export interface RemoteFlags extends TokenFlags {
  url?: string
  splits?: string
  targetBytes?: string
  concurrency?: string
  perSplit?: boolean
  checkpoint?: string
}

export function addRemoteFlags(command: Command): Command {
  return command
    .option('--url <url>', 'read from this server, in parallel, in place of --data')
    .option('--splits <number>', 'with --url: cut the table into about this many splits')
    .option('--target-bytes <number>', 'with --url: cut it into splits of about this many bytes')
    .option('--concurrency <number>', 'with --url: streams at once (default 4)')
    .option('--per-split', 'with --url: a file for each split, in the directory that -o names')
    .option('--checkpoint <file>', 'with --url: keep in this file how far it came, and go on from there')
}

/** @throws SluiceError BAD_PARAMETER for one of them without --url */
export function refuseRemoteFlags(flags: RemoteFlags): void {
  for (const [name, flag] of [
    ['splits', '--splits'],
    ['targetBytes', '--target-bytes'],
    ['concurrency', '--concurrency'],
    ['perSplit', '--per-split'],
    ['checkpoint', '--checkpoint'],
    ['token', '--token'],
    ['tokenFile', '--token-file'],
  ] as const) {
    if (flags[name] !== undefined) throw new SluiceError('BAD_PARAMETER', { parameter: flag, reason: 'needs --url' })
  }
}
