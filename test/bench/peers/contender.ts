// One that takes part in a comparison over the rows of narrow.

import { fileURLToPath } from 'node:url'
import type { PeerResult } from './peer-result.ts'

/** Where cassandra.sh and venv.sh are. */
export const ORACLE = fileURLToPath(new URL('../../oracle/', import.meta.url))

export interface Contender {
  result: PeerResult
  /** Once, before the rounds. */
  prepare?: () => Promise<void>
  /** One round, in seconds; the rows where it counts them. */
  work: () => Promise<{ seconds: number; rows?: number }>
  finish?: () => Promise<void>
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return (performance.now() - begun) / 1000
}
