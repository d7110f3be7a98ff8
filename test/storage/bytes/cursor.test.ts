import { describe, expect, it } from 'vitest'
import { Cursor } from '../../../storage/bytes/cursor.ts'
import { isSluiceError } from '../../../storage/errors.ts'

function refusal(run: () => unknown) {
  try {
    run()
  } catch (error) {
    if (isSluiceError(error)) return { code: error.code, offset: error.fields.offset, file: error.fields.file }
    throw error
  }
  return null
}

describe('Cursor', () => {
  it('reads big-endian fields in turn', () => {
    const bytes = Uint8Array.from(
      Buffer.from('ff' + 'fffe' + '80000000' + '8000000000000000' + '3ff8000000000000' + '000361c3a9' + '8100', 'hex'),
    )
    const c = new Cursor(bytes, 'f')
    expect(c.i8()).toBe(-1)
    expect(c.u16()).toBe(65534)
    expect(c.i32()).toBe(-(2 ** 31))
    expect(c.i64()).toBe(-(2n ** 63n))
    expect(c.f64()).toBe(1.5)
    expect(c.utf()).toBe('aé')
    expect(c.uvint()).toBe(256)
    expect(c.remaining).toBe(0)
  })

  it('refuses every read past the end, naming file and offset', () => {
    const reads: ((c: Cursor) => unknown)[] = [
      (c) => c.u8(),
      (c) => c.u16(),
      (c) => c.u32(),
      (c) => c.i64(),
      (c) => c.f64(),
      (c) => c.uvint(),
      (c) => c.vintBig(),
      (c) => c.take(1),
      (c) => c.utf(),
    ]
    for (const read of reads) {
      const c = new Cursor(new Uint8Array(0), 'x-Index.db', 4096)
      expect(refusal(() => read(c))).toEqual({ code: 'CORRUPT_SSTABLE', offset: 4096, file: 'x-Index.db' })
    }
    for (const hex of ['ffff', 'fe00000000', '8f']) {
      const c = new Cursor(Uint8Array.from(Buffer.from(hex, 'hex')), 'f', 10)
      expect(refusal(() => c.uvintBytes())?.code).toBe('CORRUPT_SSTABLE')
    }
  })

  it('refuses lengths beyond what is there before taking anything', () => {
    const c = new Cursor(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 1), 'f')
    expect(refusal(() => c.u32Bytes())?.code).toBe('CORRUPT_SSTABLE')
    const negative = new Cursor(Uint8Array.from(Buffer.from('ffffffffffffffff', 'hex')), 'f')
    expect(refusal(() => negative.size64('length'))).toEqual({ code: 'CORRUPT_SSTABLE', offset: 0, file: 'f' })
    expect(refusal(() => new Cursor(new Uint8Array(9).fill(255), 'f').uvint())?.code).toBe('CORRUPT_SSTABLE')
  })

  it('refuses text that is not UTF-8', () => {
    const c = new Cursor(Uint8Array.of(0, 1, 0xff), 'f')
    expect(refusal(() => c.utf())?.code).toBe('CORRUPT_SSTABLE')
  })
})
