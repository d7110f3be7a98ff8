// Copies between plain and shared memory, at any place, against a loop.

import { expect, test } from 'vitest'
import { copyBytes } from '../../../storage/bytes/copy-bytes.ts'

const memories = {
  plain: (size: number) => new Uint8Array(size),
  shared: (size: number) => new Uint8Array(new SharedArrayBuffer(size)),
}

for (const [from, makeSource] of Object.entries(memories)) {
  for (const [to, makeTarget] of Object.entries(memories)) {
    test(`bytes come over as they are, and no others are touched (${from} to ${to})`, () => {
      const source = makeSource(20_000).map((_, i) => (i * 31) >>> 3)
      for (const length of [0, 1, 1023, 1024, 1025, 4096, 9001]) {
        for (const [at, start] of [
          [0, 0],
          [8, 16],
          [3, 10],
          [9, 4],
        ]) {
          const target = makeTarget(length + 20).fill(0xee)
          copyBytes(target, at, source, start, start + length)
          const expected = Array.from({ length: length + 20 }, (_, i) =>
            i < at || i >= at + length ? 0xee : source[start + i - at],
          )
          expect([...target]).toEqual(expected)
        }
      }
    })
  }
}

test('what does not fit is refused', () => {
  for (const make of Object.values(memories)) {
    for (const length of [10, 5000]) {
      expect(() => copyBytes(make(length), 1, new Uint8Array(length), 0, length)).toThrow(RangeError)
    }
  }
})
