/**
 * The fuzz test: damages files of the golden sets and reads them. Every case must end in the right rows or in a typed error, within
 * time and memory; wrong rows are allowed only where Cassandra's files carry no checksum, and are listed. See README.md.
 *
 *   run.ts [--count 1000] [--seed 1] [--first 0] [--verbose]
 */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { isUnprotected, type Outcome } from './cases.ts'

const MILLISECONDS = 30_000
const OLD_SPACE_MIB = 400
const RESIDENT_MIB = 900

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    first: { type: 'string', default: '0' },
    verbose: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed)
const first = Number(values.first)
const count = Number(values.count)

let worker: ChildProcess | undefined

function start(): ChildProcess {
  return fork(fileURLToPath(new URL('worker.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx', `--max-old-space-size=${OLD_SPACE_MIB}`],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}

/** The outcome, or what went wrong. */
function run(number: number): Promise<Outcome | string> {
  worker ??= start()
  const child = worker
  return new Promise((resolve) => {
    const done = (result: Outcome | string, restart: boolean) => {
      clearTimeout(timer)
      child.removeAllListeners('message').removeAllListeners('exit')
      if (restart) {
        child.kill('SIGKILL')
        worker = undefined
      }
      resolve(result)
    }
    const timer = setTimeout(() => done(`HANG: more than ${MILLISECONDS} ms`, true), MILLISECONDS)
    child.on('message', (message: { outcome?: Outcome; memory?: number; fault?: string }) => {
      if (message.outcome === undefined) return done(`FAULT: ${message.fault}`, false)
      const memory = message.memory! / 1024
      if (memory > RESIDENT_MIB) return done(`MEMORY: ${Math.round(memory)} MiB`, true)
      done(message.outcome, false)
    })
    child.on('exit', (code, signal) => done(`CRASH: exit ${code ?? signal}`, true))
    child.send({ seed, number })
  })
}

const tally = new Map<string, number>()
const add = (key: string) => tally.set(key, (tally.get(key) ?? 0) + 1)
const failures: string[] = []
let slowest = 0
const started = Date.now()
for (let number = first; number < first + count; number++) {
  const outcome = await run(number)
  if (typeof outcome === 'string') {
    failures.push(`case ${number}: ${outcome}`)
    console.log(failures[failures.length - 1])
    continue
  }
  slowest = Math.max(slowest, outcome.milliseconds)
  const { result, component, kind, resealed, version, subject, file, mode, detail } = outcome
  const sealed = resealed ? ' resealed' : ''
  add(result === 'wrong' ? `wrong: ${component}${sealed} ${kind.startsWith('swap') ? kind : version}` : result)
  if (result === 'refused') add(`refused: ${detail}`)
  if ((number + 1 - first) % 1000 === 0) {
    console.log(
      `${number + 1 - first} mutations, ${Math.round((Date.now() - started) / 1000)} s, ${failures.length} failures`,
    )
  }
  const line = `case ${number}: ${result} ${subject} ${file} ${kind}${sealed} ${mode} ${detail}`
  if (values.verbose) console.log(line)
  if (result === 'wrong' && !isUnprotected(outcome)) {
    failures.push(line)
    console.log(line)
  }
}
worker?.disconnect()
for (const [key, n] of [...tally].sort()) console.log(`${String(n).padStart(7)}  ${key}`)
console.log(`seed ${seed}: ${count} mutations from ${first} in ${Math.round((Date.now() - started) / 1000)} s`)
console.log(`slowest ${Math.round(slowest)} ms, ${failures.length} failures`)
process.exitCode = failures.length === 0 ? 0 : 1
