import { expect, it } from 'vitest'
import { compareToPlace, placeOf, prefixOrder } from '../../../storage/sstable/clustering-compare.ts'
import { openSSTable } from '../../../storage/sstable/sstable.ts'
import { goldenSamples, publicSamples, readData, wideRandomSamples } from './all-sstables.ts'
import { walkPartition } from './plain-walk.ts'

it('min and max clustering of Statistics.db enclose every row and marker, from md on', async () => {
  const samples = [...(await goldenSamples()), ...(await wideRandomSamples()), ...(await publicSamples())]
  const enclosed = new Map<string, number>()
  for (const sample of samples) {
    const sstable = await openSSTable(sample.files).catch(() => null)
    if (sstable === null) continue
    const { covered, header } = sstable.statistics
    const { accurateMinMax, coveredSlice, name } = sstable.version
    expect(covered !== null, sample.name).toBe(accurateMinMax || coveredSlice)
    const order = header.clusteringTypes.length === 0 ? null : prefixOrder(header.clusteringTypes)
    if (covered === null || order === null) {
      sstable.close()
      continue
    }
    const start = placeOf(covered.start)
    // What ends at a bound of kind 0 or 1 ends before it, the others behind it.
    const end = { clustering: covered.end.values, after: covered.end.kind > 4 }
    const data = await readData(sstable)
    for (let at = 0; at < data.length; ) {
      const partition = walkPartition(sstable, data, at)
      at = partition.end
      for (const { prefix, offset } of partition.items) {
        const inside = compareToPlace(order, prefix, start) >= 0 && compareToPlace(order, prefix, end) <= 0
        if (!inside) expect.fail(`${sample.set} ${sample.name}: the item at ${offset} lies outside`)
        enclosed.set(name, (enclosed.get(name) ?? 0) + 1)
      }
    }
    sstable.close()
  }
  for (const name of ['me', 'nb', 'oa', 'da']) expect(enclosed.get(name), name).toBeGreaterThan(2000)
}, 120_000)
