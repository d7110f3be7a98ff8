// CASSANDRA-14861; scylladb#4442: before md the clustering span in Statistics.db left range tombstones out, so that an SSTable with `DELETE ...
// WHERE c1 < 3` and the row (4, 4, 4) was skipped for c1 = 1, and deleted rows returned.

import { expect, test } from 'vitest'
import { READABLE_VERSIONS, versionTraits } from '../../storage/sstable/versions.ts'
import { testCase } from './case-table.ts'

testCase('a range tombstone counts where no row of its SSTable lies', 'min_max', async ({ rows }) => {
  const left = ['3 1 1', '4 1 1', '4 4 4']
  const clusterings = (found: Record<string, unknown>[]) => found.map((row) => `${row.c1} ${row.c2} ${row.c3}`)
  expect(clusterings(await rows())).toEqual(left)
  expect(await rows({ where: 'k = 100 AND c1 = 1' })).toEqual([])
  expect(await rows({ where: 'k = 100 AND c1 = 2 AND c2 = 1 AND c3 = 1' })).toEqual([])
  expect(clusterings(await rows({ where: 'k = 100 AND c1 >= 1' }))).toEqual(left)
})

test('clustering bounds are taken from md on', () => {
  const believed = READABLE_VERSIONS.filter((name) => {
    const traits = versionTraits(name, name === 'da' ? 'bti' : 'big', '')
    return traits.accurateMinMax
  })
  expect(believed).toEqual(['md', 'me', 'na', 'nb', 'nc', 'oa', 'da'])
})
