// What many columns take beside their buffers: counted before a reader sees anything, so that no stream is cut for it.

import { expect, test } from 'vitest'
import { createAllowance, takenBytes } from '../../../storage/bytes/allowance.ts'
import { BuilderSet, VECTOR_BYTES } from '../../../storage/rows/builder-set.ts'
import { fieldOf } from '../../../storage/rows/columns/field.ts'

const MIB = 1 << 20
const fields = Array.from({ length: 1000 }, (_, i) => fieldOf(`c${i}`, { kind: 'bigint' }, {}))
const schema = { fields, metadata: new Map<string, string>() }
const options = (limit: number) => ({ shared: true, rows: 128, bytes: MIB, memory: createAllowance(limit) })

test('a scan of 1,000 columns takes what they cost when it is opened', () => {
  const given = options(100 * MIB)
  const set = new BuilderSet(schema, given)
  expect(takenBytes(given.memory)).toBeGreaterThanOrEqual(1000 * VECTOR_BYTES - 3 * MIB)
  set.close()
  expect(takenBytes(given.memory)).toBe(0)
})

test('where that does not fit, it is refused when it is opened, and holds nothing', () => {
  const given = options(1000 * VECTOR_BYTES - 4 * MIB)
  expect(() => new BuilderSet(schema, given)).toThrow(expect.objectContaining({ code: 'VALUE_TOO_LARGE' }))
  expect(takenBytes(given.memory)).toBe(0)
})

test('the batch that is asked for ahead takes no more than was taken with the first', () => {
  const given = options(100 * MIB)
  const set = new BuilderSet(schema, given)
  const fill = () => {
    for (const builder of set.builders) builder.appendNull()
    return set.finish(1, '')
  }
  const first = fill()
  const taken = takenBytes(given.memory)
  const second = fill()
  expect(takenBytes(given.memory) - taken).toBe(0)
  first.release()
  second.release()
  set.close()
})
