// The streaming engine under load, each part with the bounds that it has to keep; ends with 1 where one is missed.
//
//   npm run bench:engine [-- PART...] [--rounds 5]
//
// stalled   50 clients that do not read, and one that does: memory, and the reader's speed against that alone
// memory    large partitions, values and rows in every format, by as many clients as there is room for: memory
// paging    the same rows by pages of 5,000, by pages one ahead, by one stream
// pair      two curls on two tickets with no, one and two workers
// digest    the content digest of rows of 50 small cells against the scan alone

import { parseArgs } from 'node:util'
import { digestBench } from './engine-digest.ts'
import { memoryBench, stalledBench } from './engine-memory.ts'
import { pagingBench } from './engine-paging.ts'
import { pairBench } from './engine-pair.ts'
import { boundsMissed } from './figures.ts'

const PARTS: Record<string, (rounds: number) => Promise<void>> = {
  stalled: stalledBench,
  memory: memoryBench,
  paging: pagingBench,
  pair: pairBench,
  digest: digestBench,
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' } },
})
for (const name of positionals.length > 0 ? positionals : Object.keys(PARTS)) {
  if (PARTS[name] === undefined) throw new Error(`no part ${name}: ${Object.keys(PARTS).join(', ')}`)
  console.log(`\n## ${name}`)
  await PARTS[name](Number(values.rounds))
}
process.exitCode = boundsMissed() === 0 ? 0 : 1
