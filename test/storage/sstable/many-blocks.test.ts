// Slices over a partition of more index blocks than are kept: each search meets blocks that the ones before it met, and no block is
// decoded twice. The index is made here: a partition of so many blocks would be large.
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { prefixOrder } from '../../../storage/sstable/clustering-compare.ts'
import { newIndexCounters } from '../../../storage/sstable/index.ts'
import { openPromotedIndex } from '../../../storage/sstable/promoted-index.ts'
import { uvint } from '../rows/columns/random-values.ts'

const BLOCKS = 5000
const ROWS = 100
const BLOCK_BYTES = 65_536
const HEADER_BYTES = 20

const int = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
/** The clustering of the n-th row: kind, header, value. */
const clustering = (n: number) => Buffer.concat([Uint8Array.of(4, 0), int(n)])

/** The promoted part of an entry: blocks of 100 rows, c = 0, 1, 2... (RowIndexEntry, IndexInfo). */
function promoted(): Buffer {
  const live = Buffer.concat([int(0x7fffffff), Buffer.from('8000000000000000', 'hex')])
  const infos = Array.from({ length: BLOCKS }, (_, i) =>
    Buffer.concat([
      clustering(i * ROWS),
      clustering((i + 1) * ROWS - 1),
      uvint(BigInt(HEADER_BYTES + i * BLOCK_BYTES)),
      uvint(0n), // a width of 64 KiB
      Uint8Array.of(0),
    ]),
  )
  let at = 0
  const offsets = infos.map(({ length }) => {
    at += length
    return int(at - length)
  })
  return Buffer.concat([uvint(BigInt(HEADER_BYTES)), live, uvint(BigInt(BLOCKS)), ...infos, ...offsets])
}

/** The blocks that a binary search for a block looks at. */
function* met(wanted: number): Generator<number> {
  let low = 0
  let high = BLOCKS
  while (low < high) {
    const middle = (low + high) >>> 1
    yield middle
    if (middle >= wanted) high = middle
    else low = middle + 1
  }
}

it.each([1, 10, 97])('no block is decoded twice, with a slice in every %i blocks', async (every) => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-blocks-'))
  const file = join(folder, 'nb-1-big-Index.db')
  const bytes = promoted()
  await writeFile(file, bytes)
  const handle = await open(file)
  try {
    const counters = newIndexCounters()
    const rows = await openPromotedIndex(
      { fd: handle.fd, file, size: bytes.length },
      { dataOffset: 0, key: null, certain: true, rank: 0, wide: true, rowIndexAt: 0, rowIndexSize: bytes.length },
      prefixOrder(['org.apache.cassandra.db.marshal.Int32Type'])!,
      counters,
      { unsignedDeletionTime: false, dataLength: HEADER_BYTES + BLOCKS * BLOCK_BYTES + 1, inThread: true },
    )
    const looked = new Set<number>()
    for (let block = 0; block < BLOCKS; block += every) {
      for (const i of met(block)) looked.add(i)
      const found = await rows.seek({ clustering: [int(block * ROWS + 50)], after: false })
      expect(found?.start).toBe(HEADER_BYTES + block * BLOCK_BYTES)
    }
    expect(counters.blocksDecoded).toBe(looked.size)
  } finally {
    await handle.close()
    await rm(folder, { recursive: true })
  }
})
