// The state directory of a server: hard links to the files of exports, and what each export is, so that exports outlive a restart.
//
//   STATE/lock                         process id of the server that uses it
//   STATE/exports/ID/export.json       written last: a folder without it was never an export
//   STATE/exports/ID/0, 1, ...         links to the SSTables of one directory each, in the order of the directories

import { link, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { SluiceError } from '../../storage/errors.ts'
import type { TableSchema } from '../../storage/schema/table.ts'
import type { TableSplit } from '../split-table.ts'

/** All of an export but its open files. */
export interface KeptExport {
  id: string
  keyspace: string
  table: string
  /** Parameters as they were given. */
  parameters: [name: string, value: string][]
  /** Epoch seconds. */
  now: number
  /** Epoch milliseconds. */
  created: number
  expires: number
  /** Seconds that a renewal adds, if it says nothing else. */
  ttl: number
  splits: TableSplit[]
  schema: TableSchema
}

export interface FoundExport extends KeptExport {
  directories: string[]
}

export class StateDirectory {
  readonly path: string
  readonly #exports: string

  private constructor(path: string) {
    this.path = path
    this.#exports = join(path, 'exports')
  }

  /** @throws SluiceError CANNOT_WRITE, also where another process uses the directory */
  static async open(path: string): Promise<StateDirectory> {
    const state = new StateDirectory(path)
    await mkdir(state.#exports, { recursive: true }).catch((error) => {
      throw cannotWrite(path, error)
    })
    await state.#lock()
    return state
  }

  /** Links the files. False: that cannot be done (another file system, not our files). MISSING_COMPONENT: one is gone. */
  async link(id: string, files: readonly string[]): Promise<boolean> {
    const directories = [...new Set(files.map((file) => dirname(file)))]
    try {
      for (const [i, directory] of directories.entries()) {
        const folder = join(this.#exports, id, String(i))
        await mkdir(folder, { recursive: true })
        for (const file of files) if (dirname(file) === directory) await linkFile(file, join(folder, basename(file)))
      }
      return true
    } catch (error) {
      await this.remove(id)
      if ((error as NodeJS.ErrnoException).code === 'EXDEV' || (error as NodeJS.ErrnoException).code === 'EPERM') {
        return false
      }
      if (error instanceof SluiceError) throw error
      throw cannotWrite(join(this.#exports, id), error)
    }
  }

  async save(kept: KeptExport): Promise<void> {
    const { schema, ...plain } = kept
    const file = join(this.#exports, kept.id, 'export.json')
    try {
      const text = JSON.stringify({ ...plain, schema: serialize(schema).toString('base64') })
      await writeFile(`${file}.new`, text, { flush: true })
      await rename(`${file}.new`, file)
    } catch (error) {
      throw cannotWrite(file, error)
    }
  }

  async remove(id: string): Promise<void> {
    await rm(join(this.#exports, id), { recursive: true, force: true })
  }

  /** All exports there are. What was never finished is removed. */
  async load(onDamage: (id: string, error: unknown) => void): Promise<FoundExport[]> {
    const found: FoundExport[] = []
    for (const id of await readdir(this.#exports)) {
      const folder = join(this.#exports, id)
      try {
        const text = await readFile(join(folder, 'export.json'), 'utf8')
        const { schema, ...plain } = JSON.parse(text)
        const names = (await readdir(folder)).filter((name) => /^\d+$/.test(name))
        const directories = names.sort((a, b) => Number(a) - Number(b)).map((name) => join(folder, name))
        found.push({ ...plain, schema: deserialize(Buffer.from(schema, 'base64')), directories })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onDamage(id, error)
        await this.remove(id)
      }
    }
    return found
  }

  async close(): Promise<void> {
    await rm(join(this.path, 'lock'), { force: true })
  }

  async #lock(): Promise<void> {
    const file = join(this.path, 'lock')
    for (let attempt = 0; ; attempt++) {
      try {
        const handle = await open(file, 'wx')
        await handle.writeFile(String(process.pid))
        await handle.close()
        return
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 3) throw cannotWrite(file, error)
      }
      const holder = Number(await readFile(file, 'utf8').catch(() => ''))
      if (holder !== process.pid && isAlive(holder)) {
        throw new SluiceError('CANNOT_WRITE', { file, reason: `process ${holder} uses this directory` })
      }
      await rm(file, { force: true })
    }
  }
}

async function linkFile(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new SluiceError('MISSING_COMPONENT', { file: from }, error)
    }
    throw error
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function cannotWrite(file: string, error: unknown): SluiceError {
  return new SluiceError('CANNOT_WRITE', { file, reason: (error as Error).message }, error)
}
