// The built product's server as a process of its own, timed from outside by curl.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** The built command; SLUICE_CLI names another one. */
export const MAIN = process.env.SLUICE_CLI ?? fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url))
const run = promisify(execFile)

export interface ServerProcess {
  url: string
  pid: number
  /** Peak resident memory so far, bytes (Linux), else NaN. */
  peakBytes(): number
  stop(): Promise<void>
  /** Ends it without its knowing. */
  kill(): Promise<void>
}

export async function startServer(flags: readonly string[]): Promise<ServerProcess> {
  const port = await freePort()
  const child: ChildProcess = spawn(
    process.execPath,
    [MAIN, 'serve', '--port', String(port), '--log-level', 'error', ...flags],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; ; tries++) {
    try {
      await run('curl', ['-sf', '-o', '/dev/null', `${url}/healthz`])
      break
    } catch (error) {
      if (tries === 200 || child.exitCode !== null) throw new Error(`the server did not start: ${error}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const end = (signal: NodeJS.Signals) =>
    new Promise<void>((resolve) => {
      child.once('exit', () => resolve())
      child.kill(signal)
    })
  return {
    url,
    pid: child.pid!,
    peakBytes: () => peakOf(child.pid!),
    stop: () => end('SIGINT'),
    kill: () => end('SIGKILL'),
  }
}

/** Seconds that one curl takes, and the bytes it got. */
export async function timeCurl(url: string): Promise<{ seconds: number; bytes: number }> {
  const { stdout } = await run('curl', ['-sf', '-o', '/dev/null', '-w', '%{time_total} %{size_download}', url])
  const [seconds, bytes] = stdout.split(' ').map(Number)
  return { seconds, bytes }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() =>
        typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })
}

function peakOf(pid: number): number {
  try {
    const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? Number.NaN : Number(kilobytes) * 1024
  } catch {
    return Number.NaN
  }
}
