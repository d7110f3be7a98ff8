// Positioned reads on an open descriptor, for components that are not read front to back. Descriptors are plain integers,
// so that worker threads can read what the main thread opened.

import { fstat, read, readSync } from 'node:fs'
import { SluiceError } from '../errors.ts'

/**
 * The `length` bytes at `offset`, in fresh memory. CORRUPT_SSTABLE when the file ends before, IO when the read fails. The
 * caller has checked `length` against the file's size: it is allocated at once.
 */
export async function readAt(fd: number, file: string, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  await readInto(fd, file, offset, buffer)
  return buffer
}

// Handing over a read to another thread takes as long as reading so many bytes that the system has in memory.
const SHORT_BYTES = 16 * 1024

/** As `readAt`; a few KiB are read in this thread, which waits for the disk. */
export async function readShort(fd: number, file: string, offset: number, length: number): Promise<Buffer> {
  if (length > SHORT_BYTES) return readAt(fd, file, offset, length)
  const buffer = Buffer.allocUnsafe(length)
  readIntoSync(fd, file, offset, buffer)
  return buffer
}

/** Fills `target` from the bytes at `offset`. Errors as `readAt`. */
export function readInto(fd: number, file: string, offset: number, target: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    let done = 0
    const step = () => {
      if (done === target.length) return resolve()
      read(fd, target, done, target.length - done, offset + done, (error, bytes) => {
        if (error) return reject(new SluiceError('IO', { file, offset: offset + done, reason: error.message }, error))
        if (bytes === 0) {
          return reject(
            new SluiceError('CORRUPT_SSTABLE', {
              file,
              offset: offset + done,
              reason: `the file ends ${target.length - done} bytes too early`,
            }),
          )
        }
        done += bytes
        step()
      })
    }
    step()
  })
}

/** The same in this thread, for a few bytes: it waits as long as the disk does. */
export function readIntoSync(fd: number, file: string, offset: number, target: Uint8Array): void {
  for (let done = 0; done < target.length; ) {
    let bytes: number
    try {
      bytes = readSync(fd, target, done, target.length - done, offset + done)
    } catch (error) {
      throw new SluiceError('IO', { file, offset: offset + done, reason: (error as Error).message }, error)
    }
    if (bytes === 0) {
      const reason = `the file ends ${target.length - done} bytes too early`
      throw new SluiceError('CORRUPT_SSTABLE', { file, offset: offset + done, reason })
    }
    done += bytes
  }
}

/** Size of an open file in bytes. */
export function sizeOf(fd: number, file: string): Promise<number> {
  return new Promise((resolve, reject) => {
    fstat(fd, (error, stats) => {
      if (error) reject(new SluiceError('IO', { file, reason: error.message }, error))
      else resolve(stats.size)
    })
  })
}
