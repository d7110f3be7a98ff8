// The memory of a stream's text: no more than is on its way at once, however much is sent; told beforehand; handed on when it ends.

import { describe, expect, test } from 'vitest'
import { csvExporter } from '../../../exporters/csv/csv.ts'
import { PartBuffers } from '../../../src/server/part-buffers.ts'
import { batchOf, field } from '../../exporters/build-batch.ts'

const MIB = 1 << 20

describe('buffers of parts', () => {
  test('are used again once their bytes have left', () => {
    const told: number[] = []
    const buffers = new PartBuffers((bytes) => told.push(bytes))
    const made = new Set<ArrayBufferLike>()
    for (let i = 0; i < 100; i++) {
      const part = buffers.allocate(MIB + 1 + (i % 7))
      made.add(part.buffer)
      buffers.giveBack(part.subarray(0, 10))
    }
    expect(made.size).toBe(1)
    expect(buffers.heldBytes).toBeLessThan(1.1 * MIB)
    // Room for two from the beginning: a second one, made later, must not be refused.
    expect(told[0]).toBeGreaterThanOrEqual(2 * MIB)
    buffers.close()
  })

  test('a part that waits is not written over', () => {
    const buffers = new PartBuffers(() => {})
    const waiting = buffers.allocate(100)
    expect(buffers.allocate(100).buffer === waiting.buffer).toBe(false)
    buffers.giveBack(Buffer.alloc(3)) // not theirs
    buffers.giveBack(waiting)
    buffers.giveBack(waiting) // no second time
    const next = buffers.allocate(100)
    expect(next.buffer === waiting.buffer).toBe(true)
    expect(buffers.allocate(100).buffer === waiting.buffer).toBe(false)
    buffers.close()
  })

  test('what a large row outgrows serves no longer, and counts no longer', () => {
    let most = 0
    const buffers = new PartBuffers((bytes) => {
      most = Math.max(most, bytes)
    })
    const schema = { fields: [field('blob', { kind: 'blob' }, { kind: 'binary' })], metadata: new Map() }
    const exporter = csvExporter({ allocate: buffers.allocate, discard: buffers.giveBack })
    exporter.head(schema)
    const batch = batchOf(schema, [[new Uint8Array(4 * MIB)]], '')
    for (let i = 0; i < 5; i++) {
      for (const part of exporter.batch(batch) as Iterable<Uint8Array>) {
        expect(part.length).toBe(8 * MIB + 4)
        buffers.giveBack(part)
      }
    }
    expect(most).toBeLessThan(10 * MIB)
    expect(buffers.heldBytes).toBeLessThan(10 * MIB)
    buffers.close()
    expect(buffers.heldBytes).toBe(0)
  })
})
