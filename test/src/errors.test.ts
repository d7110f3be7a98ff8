// The error table in README.md against the one in the code.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ERROR_CODES } from '../../storage/errors.ts'

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

test('README lists each error code with its status, exit code, meaning and anchor, and no other', () => {
  const listed = [...README.matchAll(/^\| <a id="(\w+)"><\/a>`(\w+)` \| (\d+) \| (\d+) \| (.+) \|$/gm)].map(
    ([, anchor, code, status, exit, text]) => ({ anchor, code, status: Number(status), exit: Number(exit), text }),
  )
  const expected = Object.entries(ERROR_CODES).map(([code, entry]) => ({ anchor: code.toLowerCase(), code, ...entry }))
  expect(listed).toEqual(expected)
})
