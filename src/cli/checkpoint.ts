// How far an export from a server came, in a file: which export, where each split stands, and how much of each output file is on
// the disk. Written anew beside itself and renamed, always behind the data that it speaks of.

import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { SluiceError } from '../../storage/errors.ts'
import type { SplitState } from '../client/index.ts'

export interface CheckpointContent {
  /** Of the server. */
  url: string
  exportId: string
  /** What was asked for, to tell another command from this one. */
  request: Record<string, unknown>
  splits: [split: number, state: SplitState][]
  /** Bytes that are whole, by number of the split; of one file for all under -1. */
  sizes: [split: number, bytes: number][]
}

const VERSION = 1

/** Undefined: there is none. @throws SluiceError BAD_PARAMETER for a file that is none */
export async function readCheckpoint(file: string): Promise<CheckpointContent | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new SluiceError('IO', { file, reason: (error as Error).message }, error)
  }
  try {
    const { version, ...content } = JSON.parse(text)
    if (version === VERSION && typeof content.exportId === 'string') return content
  } catch {
    // said below
  }
  throw new SluiceError('BAD_PARAMETER', { parameter: 'checkpoint', value: file, reason: 'it is no checkpoint' })
}

export async function writeCheckpoint(file: string, content: CheckpointContent): Promise<void> {
  try {
    await writeFile(`${file}.new`, `${JSON.stringify({ version: VERSION, ...content })}\n`, { flush: true })
    await rename(`${file}.new`, file)
  } catch (error) {
    throw new SluiceError('CANNOT_WRITE', { file, reason: (error as Error).message }, error)
  }
}

export async function removeCheckpoint(file: string): Promise<void> {
  await rm(file, { force: true })
}
