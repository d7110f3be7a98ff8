// Where an export goes. A file is written under another name beside its own and renamed when it is whole, so that no reader can take
// a part for the whole; standard output and devices are written straight.

import { createWriteStream } from 'node:fs'
import { realpath, rename, rm, stat } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { SluiceError } from '../../storage/errors.ts'
import type { Sink } from '../pump.ts'
import { StreamSink } from '../stream-sink.ts'

export interface Output extends Sink {
  /** Makes a whole output visible under its name. */
  commit(): Promise<void>
  /** Leaves nothing behind of one that failed. */
  discard(): Promise<void>
}

/** A reader such as `head` had enough and closed the pipe: no failure of ours. */
export class ReaderLeft extends Error {}

/**
 * @param path file name; undefined or `-` is standard output
 * @throws SluiceError CANNOT_WRITE
 */
export async function openOutput(path: string | undefined, signal: AbortSignal): Promise<Output> {
  if (path === undefined || path === '-') return standardOutput(signal)
  const existing = await stat(path).catch(() => undefined)
  if (existing?.isDirectory()) throw new SluiceError('CANNOT_WRITE', { file: path, reason: 'is a directory' })
  if (existing !== undefined && !existing.isFile()) {
    return deviceOutput(await openFile(path, path, false), path, signal)
  }
  // Through a symbolic link its target is replaced, not the link.
  const target = existing === undefined ? path : await realpath(path)
  const part = `${target}.part`
  return fileOutput(await openFile(part, path, true), part, target, signal)
}

function fileOutput(stream: Writable, part: string, target: string, signal: AbortSignal): Output {
  const sink = new StreamSink(stream, signal)
  return {
    write: (parts) => sink.write(parts).catch((error) => fail(error, target)),
    async commit() {
      try {
        // The stream syncs the file before it closes it: a crash after the rename must not leave an empty file under the name.
        await sink.end()
        await closed(stream)
        await rename(part, target)
      } catch (error) {
        fail(error, target)
      }
    },
    async discard() {
      stream.destroy()
      await closed(stream)
      await rm(part, { force: true })
    },
  }
}

/** Standard output, which this process does not close. */
function standardOutput(signal: AbortSignal): Output {
  const sink = new StreamSink(process.stdout, signal)
  return {
    write: (parts) => sink.write(parts).catch((error) => fail(error, 'standard output')),
    commit: async () => {},
    discard: async () => {},
  }
}

/** A device or a named pipe. */
function deviceOutput(stream: Writable, name: string, signal: AbortSignal): Output {
  const sink = new StreamSink(stream, signal)
  return {
    write: (parts) => sink.write(parts).catch((error) => fail(error, name)),
    commit: () => sink.end().catch((error) => fail(error, name)),
    discard: async () => void stream.destroy(),
  }
}

/** @param flush sync to the disk before closing; devices cannot */
function openFile(path: string, name: string, flush: boolean): Promise<Writable> {
  return new Promise((resolve, reject) => {
    const stream = createWriteStream(path, { flush })
    const failed = (error: NodeJS.ErrnoException) =>
      reject(new SluiceError('CANNOT_WRITE', { file: name, reason: error.message }, error))
    stream.once('error', failed)
    stream.once('open', () => {
      stream.off('error', failed)
      resolve(stream)
    })
  })
}

function closed(stream: Writable): Promise<void> {
  if (stream.closed) return Promise.resolve()
  return new Promise((resolve) => stream.once('close', resolve))
}

function fail(error: unknown, file: string): never {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EPIPE') throw new ReaderLeft()
  if (error instanceof SluiceError) throw error
  throw new SluiceError('CANNOT_WRITE', { file, reason: message }, error)
}
