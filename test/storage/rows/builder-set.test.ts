// The memory of batches: counted to the byte, taken from the allowance beyond the part that is reckoned with, given back, used again.

import { describe, expect, test } from 'vitest'
import { createAllowance, takenBytes } from '../../../storage/bytes/allowance.ts'
import type { Batch, BatchSchema } from '../../../storage/rows/batch.ts'
import { BuilderSet, type SetOptions } from '../../../storage/rows/builder-set.ts'
import { fieldOf } from '../../../storage/rows/columns/field.ts'

const MIB = 1 << 20
const schema: BatchSchema = {
  fields: [
    fieldOf('a', { kind: 'blob' }, {}),
    fieldOf('b', { kind: 'list', element: { kind: 'int' }, frozen: false }, {}),
  ],
  metadata: new Map(),
}

/** A batch of one row: a blob of `a` bytes, a list of `b` bytes of ints. */
function batchOf(set: BuilderSet, a: number, b = 0): Batch {
  const bytes = new Uint8Array(Math.max(a, b + 4)).fill(7)
  const view = new DataView(bytes.buffer)
  const [blob, list] = set.builders
  blob.append(bytes, view, 0, a)
  list.beginCells()
  for (let at = 0; at < b; at += 4) list.appendCell(bytes, view, 0, 16, bytes, view, 0, 4)
  list.endCells()
  return set.finish(1, '')
}

describe.each([true, false])('shared: %s', (shared) => {
  const options = (limit: number): SetOptions & { memory: NonNullable<SetOptions['memory']> } => ({
    shared,
    rows: 4,
    bytes: MIB,
    memory: createAllowance(limit),
  })

  test('what large values take is taken, and comes back', () => {
    const given = options(100 * MIB)
    const set = new BuilderSet(schema, given)
    batchOf(set, MIB).release()
    expect(takenBytes(given.memory)).toBe(0)
    const first = batchOf(set, 10 * MIB)
    expect(takenBytes(given.memory)).toBeGreaterThanOrEqual(7 * MIB)
    // The old buffer and the one that it grows into are there at once.
    expect(takenBytes(given.memory)).toBeLessThan(9 * MIB)
    const second = batchOf(set, 10 * MIB)
    expect(takenBytes(given.memory)).toBeGreaterThanOrEqual(17 * MIB)
    first.release()
    const third = batchOf(set, 9 * MIB)
    second.release()
    third.release()
    // What a scan has reached it keeps to its end, so that it does not fail later by what others take meanwhile.
    expect(takenBytes(given.memory)).toBeLessThan(20 * MIB)
    set.close()
    expect(takenBytes(given.memory)).toBe(0)
  })

  test('large values by turns in many columns do not add up', () => {
    const given = options(100 * MIB)
    const fields = Array.from({ length: 8 }, (_, i) => fieldOf(`c${i}`, { kind: 'blob' }, {}))
    const set = new BuilderSet({ fields, metadata: new Map() }, given)
    const bytes = new Uint8Array(8 * MIB)
    const view = new DataView(bytes.buffer)
    for (let round = 0; round < 24; round++) {
      for (const [i, builder] of set.builders.entries())
        builder.append(bytes, view, 0, i === round % 8 ? bytes.length : 9)
      set.finish(1, '').release()
    }
    expect(takenBytes(given.memory)).toBeLessThan(25 * MIB)
    set.close()
    expect(takenBytes(given.memory)).toBe(0)
  })

  test('what does not fit is refused by name, and the rest goes on', () => {
    const given = options(20 * MIB)
    const set = new BuilderSet(schema, given)
    expect(() => batchOf(set, 30 * MIB)).toThrow(expect.objectContaining({ code: 'VALUE_TOO_LARGE' }))
    set.close()
    expect(takenBytes(given.memory)).toBe(0)
    const [a, b] = [new BuilderSet(schema, given), new BuilderSet(schema, given)]
    const held = batchOf(a, 15 * MIB)
    expect(() => batchOf(b, 14 * MIB)).toThrow(expect.objectContaining({ code: 'OVERLOADED' }))
    batchOf(b, MIB).release()
    held.release()
    a.close()
    batchOf(b, 14 * MIB).release()
    b.close()
    expect(takenBytes(given.memory)).toBe(0)
  })

  test('a batch that is still out when the scan ends may be released later', () => {
    const given = options(100 * MIB)
    const set = new BuilderSet(schema, given)
    const batch = batchOf(set, 5 * MIB)
    set.close()
    expect(batch.columns[0].values.every((byte) => byte === 7)).toBe(true)
    batch.release()
    expect(takenBytes(given.memory)).toBe(0)
    const next = new BuilderSet(schema, given)
    expect(Array.from(batchOf(next, 3).columns[0].values)).toEqual([7, 7, 7])
    next.close()
  })
})
