// An output file that can be gone on with: written under another name beside its own, cut back to what a checkpoint knows to be
// whole, renamed when it is complete.

import { existsSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { SluiceError } from '../../storage/errors.ts'

export class ResumableFile {
  readonly path: string
  readonly #handle: FileHandle
  #size: number

  private constructor(path: string, handle: FileHandle, size: number) {
    this.path = path
    this.#handle = handle
    this.#size = size
  }

  /** @param size bytes of an earlier part that stay; 0 begins anew */
  static async open(path: string, size: number): Promise<ResumableFile> {
    try {
      // Complete, and ended before the checkpoint could say so.
      if (size > 0 && !existsSync(partOf(path))) await rename(path, partOf(path))
      const handle = await open(partOf(path), size > 0 ? 'r+' : 'w')
      if (size > 0 && (await handle.stat()).size < size) {
        await handle.close()
        throw new SluiceError('CANNOT_WRITE', { file: partOf(path), reason: 'it is shorter than the checkpoint says' })
      }
      await handle.truncate(size)
      return new ResumableFile(path, handle, size)
    } catch (error) {
      throw cannotWrite(partOf(path), error)
    }
  }

  get size(): number {
    return this.#size
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      let at = 0
      while (at < bytes.length) {
        const { bytesWritten } = await this.#handle.write(bytes, at, bytes.length - at, this.#size + at)
        at += bytesWritten
      }
      this.#size += bytes.length
    } catch (error) {
      throw cannotWrite(partOf(this.path), error)
    }
  }

  /** Begins anew. */
  async restart(): Promise<void> {
    await this.#handle.truncate(0)
    this.#size = 0
  }

  /** To the disk, for a checkpoint to speak of. */
  async sync(): Promise<void> {
    await this.#handle.datasync()
  }

  /** Makes the whole file visible under its name. */
  async commit(): Promise<void> {
    try {
      await this.#handle.sync()
      await this.#handle.close()
      await rename(partOf(this.path), this.path)
    } catch (error) {
      throw cannotWrite(this.path, error)
    }
  }

  /** Leaves the part for later, or nothing. */
  async leave(isKept: boolean): Promise<void> {
    await this.#handle.close().catch(() => {})
    if (!isKept) await rm(partOf(this.path), { force: true })
  }
}

function partOf(path: string): string {
  return `${path}.part`
}

function cannotWrite(file: string, error: unknown): unknown {
  if (error instanceof SluiceError) return error
  return new SluiceError('CANNOT_WRITE', { file, reason: (error as Error).message }, error)
}
