// CASSANDRA-14592; scylladb/scylladb#14182, #14183; cqlite#498, #848: between two writes of one timestamp the winner must not depend on the
// order of files. In partition 1 the older SSTable has the first of each pair of writes, in partition 2 the second.

import { expect } from 'vitest'
import { PinnedTable } from '../../storage/scan/pinned-table.ts'
import { ndjsonOf } from '../corpus/compare-table.ts'
import { testCase } from './case-table.ts'

testCase(
  'equal timestamps have one winner in any order',
  'equal_timestamps',
  async ({ rows, lines, pinned, now }) => {
    const found = await rows()
    for (const pk of [1, 2]) {
      const value = (ck: string) => found.find((row) => row.pk === pk && row.ck === ck)?.v
      expect(value('values')).toBe('b') // the larger value
      expect(value('deleted')).toBeUndefined() // a tombstone beats what expires
      expect(value('higher')).toBe('a') // the later timestamp, whatever the value
      expect(value('high byte')).toBe('é') // bytes are compared unsigned
      expect(value('ttls')).toBe('a') // what expires later
      expect(value('ttl')).toBe('a') // what expires beats what does not
    }
    // The same files in the other order.
    for (const sstable of pinned.sstables) sstable.retain()
    const reversed = new PinnedTable(pinned.schema, [...pinned.sstables].reverse())
    expect(await ndjsonOf(reversed, { now })).toEqual(await lines())
    await reversed.release()
    // 3.11 compares bytes as signed, so that 'z' wins over 'é'.
  },
  ['me'],
)
