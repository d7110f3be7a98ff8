// The process that reads damaged files; run.ts watches it from outside, so that a hang, a crash or a lack of memory is seen.

import { runCase } from './cases.ts'
import { Subjects } from './subjects.ts'

const subjects = new Subjects()

process.on('message', (message: { seed: number; number: number }) => {
  runCase(subjects, message.seed, message.number).then(
    (outcome) => process.send!({ outcome, memory: process.resourceUsage().maxRSS }),
    (error: Error) => process.send!({ number: message.number, fault: error.stack ?? String(error) }),
  )
})
process.on('disconnect', () => process.exit())
