// Output files: whole or not there.

import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openOutput } from '../../../src/cli/output.ts'
import { SluiceError } from '../../../storage/errors.ts'

let folder: string
const controller = () => new AbortController()

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-output-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('a file has its name when it is committed, and not before', async () => {
  const path = join(folder, 'a.ndjson')
  const output = await openOutput(path, controller().signal)
  await output.write([Buffer.from('one\n'), Buffer.from('two\n')])
  expect(await readdir(folder)).toEqual(['a.ndjson.part'])
  await output.commit()
  expect(await readdir(folder)).toEqual(['a.ndjson'])
  expect(await readFile(path, 'utf8')).toBe('one\ntwo\n')
})

test('nothing is left of what is discarded, and what was there before stays', async () => {
  const path = join(folder, 'a')
  await writeFile(path, 'before')
  const output = await openOutput(path, controller().signal)
  await output.write([Buffer.from('half')])
  await output.discard()
  expect(await readdir(folder)).toEqual(['a'])
  expect(await readFile(path, 'utf8')).toBe('before')
})

test('an abort fails the next write', async () => {
  const abort = controller()
  const output = await openOutput(join(folder, 'a'), abort.signal)
  await output.write([Buffer.from('half')])
  abort.abort(new SluiceError('CANCELLED'))
  await expect(output.write([Buffer.from('rest')])).rejects.toMatchObject({ code: 'CANCELLED' })
  await output.discard()
  expect(await readdir(folder)).toEqual([])
})

test('a link is written through', async () => {
  await writeFile(join(folder, 'target'), 'before')
  await symlink(join(folder, 'target'), join(folder, 'link'))
  const output = await openOutput(join(folder, 'link'), controller().signal)
  await output.write([Buffer.from('after')])
  await output.commit()
  expect((await readdir(folder)).sort()).toEqual(['link', 'target'])
  expect(await readFile(join(folder, 'target'), 'utf8')).toBe('after')
})

test('a device is written straight', async () => {
  const output = await openOutput('/dev/null', controller().signal)
  await output.write([Buffer.alloc(3_000_000)])
  await output.commit()
})

test('a full device is an error by name', async () => {
  const output = await openOutput('/dev/full', controller().signal)
  await expect(output.write([Buffer.from('x')])).rejects.toMatchObject({
    code: 'CANNOT_WRITE',
    fields: { file: '/dev/full', reason: expect.stringContaining('ENOSPC') },
  })
})

test('a folder that is not there, and a folder in place of a file', async () => {
  await mkdir(join(folder, 'd'))
  for (const path of [join(folder, 'nope', 'a'), join(folder, 'd')]) {
    await expect(openOutput(path, controller().signal)).rejects.toMatchObject({
      code: 'CANNOT_WRITE',
      fields: { file: path },
    })
  }
})

test.skipIf(process.getuid?.() === 0)('a folder that may not be written', async () => {
  await chmod(folder, 0o500)
  await expect(openOutput(join(folder, 'a'), controller().signal)).rejects.toMatchObject({ code: 'CANNOT_WRITE' })
  await chmod(folder, 0o700)
})
