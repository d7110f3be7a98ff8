import { describe, expect, test } from 'vitest'
import { isSluiceError } from '../../../storage/errors.ts'
import { isWord, lineOf, tokenize } from '../../../storage/schema/cql-lexer.ts'

function kinds(text: string): string[] {
  return tokenize(text)
    .slice(0, -1)
    .map((token) => `${token.kind} ${token.value}`)
}

function fault(text: string) {
  try {
    tokenize(text)
  } catch (error) {
    if (isSluiceError(error)) return { code: error.code, ...error.fields }
    throw error
  }
  return undefined
}

describe('tokenize', () => {
  test('folds unquoted names and keeps quoted ones', () => {
    const tokens = tokenize('Foo "Foo" "a""b" ""')
    expect(tokens.map((t) => [t.kind, t.value, t.quoted])).toEqual([
      ['identifier', 'foo', false],
      ['identifier', 'Foo', true],
      ['identifier', 'a"b', true],
      ['identifier', '', true],
      ['end', '', false],
    ])
    expect(isWord(tokens[0], 'foo')).toBe(true)
    expect(isWord(tokenize('"foo"')[0], 'foo')).toBe(false)
  })

  test('reads strings with doubled quotes, over lines, and between dollars', () => {
    expect(kinds(`'it''s' '' '--x' '/*' 'a\nb' $$ it's; $x $$`)).toEqual([
      "string it's",
      'string ',
      'string --x',
      'string /*',
      'string a\nb',
      "string  it's; $x ",
    ])
  })

  test('reads numbers of all forms', () => {
    expect(kinds('1 -1 1.5 1. -1.5e-7 1e10 NaN -nan infinity -INFINITY 123456789012345678901234567890')).toEqual([
      'integer 1',
      'integer -1',
      'float 1.5',
      'float 1.',
      'float -1.5e-7',
      'float 1e10',
      'float NaN',
      'float NaN',
      'float Infinity',
      'float -Infinity',
      'integer 123456789012345678901234567890',
    ])
  })

  test('tells uuids, blobs and durations from names and numbers', () => {
    expect(
      kinds('0xCAFE 0x 99999999-1111-2222-3333-444444444444 abcdef01-1111-2222-3333-444444444444 abcdef01 - 1'),
    ).toEqual([
      'blob CAFE',
      'blob ',
      'uuid 99999999-1111-2222-3333-444444444444',
      'uuid abcdef01-1111-2222-3333-444444444444',
      'identifier abcdef01',
      'punctuation -',
      'integer 1',
    ])
    expect(kinds('1y2mo3d -12h30m P1Y2M3DT4H5M6S P2W p PT p1 P0001-02-03T04:05:06 1ms2us3ns 1µs pty')).toEqual([
      'duration 1y2mo3d',
      'duration -12h30m',
      'duration P1Y2M3DT4H5M6S',
      'duration P2W',
      'identifier p',
      'identifier pt',
      'identifier p1',
      'duration P0001-02-03T04:05:06',
      'duration 1ms2us3ns',
      'duration 1µs',
      'identifier pty',
    ])
  })

  test('skips comments and keeps positions', () => {
    const text = '\ufeff-- one\na /* two\n */ >= // three\n b.c'
    const tokens = tokenize(text)
    expect(tokens.map((t) => t.value)).toEqual(['a', '>=', 'b', '.', 'c', ''])
    for (const token of tokens) expect(text.slice(token.position, token.end)).toBe(token.value)
    expect(tokens.map((t) => lineOf(text, t.position))).toEqual([2, 3, 4, 4, 4, 4])
  })

  test('a number may touch a word, as in Cassandra', () => {
    expect(kinds('a=1AND b!=2')).toEqual([
      'identifier a',
      'punctuation =',
      'integer 1',
      'identifier and',
      'identifier b',
      'punctuation !=',
      'integer 2',
    ])
  })

  test.each([
    ["a = 'x", { position: 4, expected: "closing '" }],
    ['"x', { position: 0, expected: 'closing "' }],
    ['a $$ b', { position: 2, expected: 'closing $$' }],
    ['a # b', { position: 2, found: '# b' }],
    ['é', { position: 0 }],
  ])('refuses %j', (text, fields) => {
    expect(fault(text)).toMatchObject({ code: 'BAD_PREDICATE', ...fields })
  })

  test('an unclosed comment is refused, not skipped', () => {
    expect(kinds('a / b')).toEqual(['identifier a', 'punctuation /', 'identifier b'])
    expect(fault('a /* b')).toMatchObject({ position: 2, expected: 'closing */' })
  })
})
