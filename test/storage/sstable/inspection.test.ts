// What `sluice inspect` says of golden SSTables, against a plain walk of the same index and the tables' own keys.
import { readdir } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { inspectSSTable } from '../../../storage/sstable/inspection.ts'
import { openSSTable } from '../../../storage/sstable/sstable.ts'
import { goldenSamples } from './all-sstables.ts'

describe.each(['me', 'nb', 'oa', 'da'] as const)('golden set %s', (set) => {
  test('statistics, keys and the largest partitions', async () => {
    const samples = (await goldenSamples([set])).filter(({ name }) => name.startsWith('golden.'))
    expect(samples.length).toBeGreaterThan(50)
    for (const { name, files } of samples) {
      const sstable = await openSSTable(files)
      const found = await inspectSSTable(sstable, 3)
      sstable.close()
      expect(found.version, name).toBe(set)
      const counted = found.partition_bytes.buckets.reduce((sum, { count }) => sum + Number(count), 0)
      expect(found.partitions, name).toBe(counted)
      expect(found.largest_partitions.length, name).toBe(Math.min(3, found.partitions))
      const sizes = found.largest_partitions.map(({ bytes }) => bytes)
      expect(sizes, name).toEqual([...sizes].sort((a, b) => b - a))
      expect(BigInt(found.first_key!.token!) <= BigInt(found.last_key!.token!), name).toBe(true)
      // A single partition is the largest, and all of Data.db.
      if (found.partitions === 1) {
        expect(found.largest_partitions[0], name).toEqual({ ...found.first_key, bytes: found.data_bytes })
      }
      // The histogram rounds up to its bucket's end.
      if (sizes.length > 0) expect(sizes[0], name).toBeLessThanOrEqual(Number(found.partition_bytes.percentiles!.max))
      expect(found.components, name).toContain('Data.db')
      expect(found.components.length, name).toBeLessThanOrEqual((await readdir(files.descriptor.directory)).length)
      JSON.stringify(found)
    }
  })
})
