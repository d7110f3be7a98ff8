import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** Tests that take long: whole processes killed and started again, thousands of scans. `npm run test:slow` runs these alone. */
const SLOW = [
  'test/src/client/**',
  'test/src/cli/cli.test.ts',
  'test/storage/scan/allocation.test.ts',
  'test/storage/scan/digest.test.ts',
  'test/storage/scan/lane-merge.test.ts',
  'test/storage/scan/run-decoder.test.ts',
  'test/storage/scan/seek.test.ts',
  'test/storage/scan/predicate/scan.test.ts',
  'test/storage/scan/tombstones.test.ts',
  'test/storage/scan/verify.test.ts',
]
/** Whole processes killed in the middle of a stream: whether the kill comes in time depends on the machine. `npm run test:faults`. */
const FAULTS = ['test/src/cli/remote.test.ts']
const slow = process.env.SLUICE_SLOW_TESTS !== undefined
const faults = process.env.SLUICE_FAULT_TESTS !== undefined

export default defineConfig({
  test: {
    include: faults ? FAULTS : slow ? SLOW.map((path) => path.replace(/\*\*$/, '**/*.test.ts')) : ['test/**/*.test.ts'],
    exclude: [
      'test/oracle/**',
      'test/clients/**',
      'node_modules/**',
      'dist/**',
      ...(slow ? [] : SLOW),
      ...(faults ? [] : FAULTS),
    ],
    pool: 'forks',
    // A core more than vitest takes of its own accord: on two cores it would leave one idle.
    maxWorkers: availableParallelism(),
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
