/** The tar reader on archives made here, and every golden archive unpacked and looked over. */
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GOLDEN_NAMES, goldenMeta, goldenSet } from './golden.ts'
import { safePath, tarEntries, unpackTar } from './tar.ts'

function header(fields: { name: string; size: number; type: string; prefix?: string }): Buffer {
  const h = Buffer.alloc(512)
  h.write(fields.name, 0)
  h.write('0000644\0', 100)
  h.write(`${fields.size.toString(8).padStart(11, '0')}\0`, 124)
  h.write('        ', 148)
  h.write(fields.type, 156)
  h.write('ustar\x0000', 257)
  h.write(fields.prefix ?? '', 345)
  const sum = h.reduce((a, b) => a + b, 0)
  h.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return h
}

function entry(name: string, body: string, type = '0', prefix = ''): Buffer {
  const data = Buffer.from(body)
  return Buffer.concat([
    header({ name, size: data.length, type, prefix }),
    data,
    Buffer.alloc((512 - (data.length % 512)) % 512),
  ])
}

const END = Buffer.alloc(1024)
const list = (...parts: Buffer[]) =>
  [...tarEntries(Buffer.concat([...parts, END]))].map((e) => [e.path, e.kind, e.data.toString()])

describe('a tar archive', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-tar-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('has files and directories, in order', () => {
    expect(list(entry('./a/', '', '5'), entry('a/b.txt', 'hello'), entry('a/empty', ''))).toEqual([
      ['a', 'directory', ''],
      ['a/b.txt', 'file', 'hello'],
      ['a/empty', 'file', ''],
    ])
  })

  test('gives long names: ustar prefix, GNU L, pax path', () => {
    const long = `${'d'.repeat(90)}/${'f'.repeat(150)}`
    const record = (n: number): string => `${n} path=${long}\n`
    const pax = record(record(100).length)
    expect(list(entry('name', '1', '0', 'some/prefix'))).toEqual([['some/prefix/name', 'file', '1']])
    expect(list(entry('././@LongLink', `${long}\0`, 'L'), entry(long.slice(0, 99), '2'), entry('next', '3'))).toEqual([
      [long, 'file', '2'],
      ['next', 'file', '3'],
    ])
    expect(list(entry('PaxHeader', pax, 'x'), entry('short', '4'))).toEqual([[long, 'file', '4']])
  })

  test('that would write outside its folder is refused', async () => {
    for (const name of ['/etc/passwd', '../up', 'a/../../up', 'c:x', 'a\\..\\b'])
      expect(() => safePath(name)).toThrow(/refused path/)
    await expect(unpackTar(Buffer.concat([entry('a/../../evil', 'x'), END]), join(folder, 'evil'))).rejects.toThrow(
      /refused path/,
    )
  })

  test('with links, a bad checksum, a cut or no end is refused', () => {
    expect(() => list(entry('link', '', '2'))).toThrow(/entry of type/)
    const bad = entry('a', 'b')
    bad[0] = 0x7a
    expect(() => list(bad)).toThrow(/checksum/)
    expect(() => [...tarEntries(entry('a', 'x'.repeat(2000)).subarray(0, 1024))]).toThrow(/cut off/)
    expect(() => [...tarEntries(entry('a', 'b'))]).toThrow(/end-of-archive/)
  })

  test('is unpacked to files', async () => {
    const to = join(folder, 'good')
    expect(await unpackTar(Buffer.concat([entry('x/y/z', 'deep'), entry('e/', '', '5'), END]), to)).toBe(1)
    expect(await readFile(join(to, 'x/y/z'), 'utf8')).toBe('deep')
    expect((await stat(join(to, 'e'))).isDirectory()).toBe(true)
  })
})

describe('the golden sets', () => {
  test.each(GOLDEN_NAMES)('%s is whole', async (name) => {
    const directory = await goldenSet(name)
    expect(await goldenSet(name)).toBe(directory)
    const meta = await goldenMeta(name)
    expect(meta.format).toBe(name.slice(0, 2))
    for (const [table, rows] of Object.entries(meta.rows)) {
      const lines = (await readFile(join(directory, 'expected', `${table}.ndjson`), 'utf8')).split('\n').length - 1
      expect([table, lines]).toEqual([table, rows])
    }
    const keyspaces = await readdir(join(directory, 'data'))
    expect(keyspaces.sort()).toEqual(['CaseKs', 'golden', 'system', 'system_schema'])
    expect(await readFile(join(directory, 'schema.cql'), 'utf8')).toContain('CREATE TABLE golden.')
  })
})
