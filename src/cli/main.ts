#!/usr/bin/env node
// The `sluice` command.

import { run } from './program.ts'

await run(process.argv)
// An export that failed may still have bytes queued for a reader that does not take them: they must not keep the process.
if (process.exitCode) process.exit()
