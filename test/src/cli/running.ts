// The command line as its users run it: a process of its own, of the compiled program.

import type { ChildProcess } from 'node:child_process'
import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** Inside the repository, so that packages are found; not dist/, which may be in use. */
const BUILT = join(ROOT, 'node_modules', '.cache', 'sluice-cli')

export interface Ended {
  exitCode: number | null
  stdout: Buffer
  stderr: string
}

/** Compiles the sources as they are; to be called once before anything is started. */
export async function buildSluice(): Promise<void> {
  await rm(BUILT, { recursive: true, force: true })
  await mkdir(BUILT, { recursive: true })
  await writeFile(join(BUILT, 'package.json'), '{"name":"sluice","version":"0.0.0-test","type":"module"}\n')
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  // Types are for `npm run check` to judge: here only what comes out counts.
  await promisify(execFile)(process.execPath, [tsc, '-p', join(ROOT, 'tsconfig.build.json'), '--outDir', BUILT]).catch(
    async (error) => {
      if (!existsSync(join(BUILT, 'src', 'cli', 'main.js'))) throw error
    },
  )
}

export function startSluice(args: readonly string[]): ChildProcess {
  const main = join(BUILT, 'src', 'cli', 'main.js')
  return spawn(process.execPath, [main, ...args], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
}

export function sluice(...args: string[]): Promise<Ended> {
  return ended(startSluice(args))
}

export function ended(child: ChildProcess): Promise<Ended> {
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout?.on('data', (part) => stdout.push(part))
  child.stderr?.on('data', (part) => stderr.push(part))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (exitCode) =>
      resolve({ exitCode, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() }),
    )
  })
}
