#!/usr/bin/env node
// The `sluice` command.

import { run } from './program.ts'

await run(process.argv)
