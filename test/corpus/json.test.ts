/** The JSON comparer: what counts as equal, and what does not. */
import { describe, expect, test } from 'vitest'
import {
  canonical,
  difference,
  jsonEqual,
  ndjsonDifference,
  parseExact,
  rowShape,
  type Shape,
  shapeOf,
} from './json.ts'

const equal = (a: string, b: string, shape?: Shape) => jsonEqual(parseExact(a), parseExact(b), shape)

describe('parsing', () => {
  test.each([
    '{"a": [1, -2.50, 1E+400, true, false, null], "b": {}, "c": [], "": "x"}',
    ' [ ] ',
    '"\\u00e9\\n\\"\\\\\\/\\ud83d\\ude00é😀"',
    '0',
  ])('takes what JSON.parse takes: %s', (text) => {
    const plain = (v: unknown): unknown =>
      v instanceof Map
        ? Object.fromEntries([...v].map(([k, x]) => [k, plain(x)]))
        : Array.isArray(v)
          ? v.map(plain)
          : v !== null && typeof v === 'object' && 'text' in v
            ? Number(v.text)
            : v
    expect(plain(parseExact(text))).toEqual(JSON.parse(text))
  })

  test.each([
    '',
    '{',
    '[1,]',
    '{"a" 1}',
    '01',
    '+1',
    '.5',
    '1.',
    'NaN',
    '"a',
    '"\\x"',
    '"\\u12"',
    '"\n"',
    '1 2',
    "'a'",
  ])('refuses %j', (text) => {
    expect(() => parseExact(text)).toThrow(SyntaxError)
  })

  test('refuses a key that occurs twice', () => {
    expect(() => parseExact('{"a": 1, "a": 1}')).toThrow(/twice/)
  })
})

describe('numbers', () => {
  test('have one canonical text', () => {
    expect(['1', '1.0', '10e-1', '0.1E+1', '100E-2'].map(canonical)).toEqual(Array(5).fill('1e0'))
    expect(['0', '-0', '0.00', '0E+10'].map(canonical)).toEqual(Array(4).fill('0'))
    expect(canonical('-1200.50')).toBe('-12005e-1')
    expect(canonical('1E+99999999999999999999')).toBe('1e99999999999999999999')
  })

  test('are exact decimals where no type says otherwise', () => {
    expect(equal('1.00', '1')).toBe(true)
    expect(equal('1E+400', `1${'0'.repeat(400)}`)).toBe(true)
    expect(equal('9007199254740993', '9007199254740992')).toBe(false)
    expect(equal('0.1', '0.10000000000000001')).toBe(false)
    expect(equal('1', '"1"')).toBe(false)
  })

  test('of double and float columns are compared at that width', () => {
    expect(equal('0.1', '0.10000000000000001', 'double')).toBe(true)
    expect(equal('1.0E21', '1e+21', 'double')).toBe(true)
    expect(equal('0.1', '0.10000001', 'double')).toBe(false)
    expect(equal('0.1', '0.10000000149011612', 'float')).toBe(true)
    expect(equal('0.1', '0.1000001', 'float')).toBe(false)
    expect(equal('-0.0', '0.0', 'double')).toBe(false)
    expect(equal('-0.0', '-0', 'float')).toBe(true)
    expect(equal('null', '0.0', 'double')).toBe(false)
  })
})

describe('values', () => {
  test('are equal whatever the order of keys, and in the order of arrays', () => {
    expect(equal('{"a": 1, "b": [1, 2]}', '{"b": [1, 2], "a": 1}')).toBe(true)
    expect(equal('[1, 2]', '[2, 1]')).toBe(false)
    expect(equal('{"a": null}', '{}')).toBe(false)
    expect(equal('{}', '{"a": null}')).toBe(false)
    expect(equal('{}', '[]')).toBe(false)
    expect(equal('""', 'null')).toBe(false)
    expect(equal('"é"', '"\\u00e9"')).toBe(true)
    expect(equal('"é"', '"e\u0301"')).toBe(false)
  })

  test('say where they differ', () => {
    const at = (a: string, b: string) => difference(parseExact(a), parseExact(b))
    expect(at('{"a": [{"x": 1}, {"x": 2}]}', '{"a": [{"x": 1}, {"x": 3}]}')).toBe('$.a[1].x: 2 against 3')
    expect(at('[1]', '[1, "b"]')).toBe('$[1]: nothing against "b"')
    expect(at('{"k": 1}', '{"l": 1}')).toBe('$.k: 1 against nothing')
  })
})

describe('types', () => {
  const types = { point: { x: 'float', 'The Y': 'double', d: 'decimal' } }

  test('are found at any depth', () => {
    const shape = rowShape(
      {
        l: 'list<frozen<list<double>>>',
        m: 'map<text, frozen<tuple<decimal, float>>>',
        u: 'frozen<point>',
        v: 'vector<float, 2>',
      },
      types,
    )
    const row = (n: string, d = '1.5') =>
      `{"l": [[${n}]], "m": {"k": [${d}, ${n}]}, "u": {"x": ${n}, "\\"The Y\\"": ${n}, "d": ${d}}, "v": [${n}]}`
    expect(equal(row('0.1'), row('0.10000000000000001'), shape)).toBe(true)
    expect(equal(row('0.1'), row('0.1', '1.5000000000000000000001'), shape)).toBe(false)
    expect(equal(row('0.1'), row('0.1', '1.50'), shape)).toBe(true)
  })

  test('of map keys allow for numbers and JSON in a string', () => {
    expect(equal('{"0.1": 1}', '{"0.10000000000000001": 1}', shapeOf('map<double, int>'))).toBe(true)
    expect(equal('{"[1, 2]": 1}', '{"[1,2]": 1}', shapeOf('map<frozen<list<int>>, int>'))).toBe(true)
    expect(equal('{"1.0": 1}', '{"1.00": 1}', shapeOf('map<text, int>'))).toBe(false)
    expect(equal('{"1": 1}', '{"2": 1}', shapeOf('map<int, int>'))).toBe(false)
  })

  test('with quoted names, and unknown ones', () => {
    expect(shapeOf('frozen<"My ""T""">', { 'My "T"': { a: 'float' } })).toEqual(rowShape({ a: 'float' }))
    expect(() => shapeOf('list<nope>')).toThrow('unknown type nope')
  })
})

test('lines are compared in order, and counted', () => {
  expect(ndjsonDifference(['{"a": 1}', '{"a": 2.0}'], ['{"a": 1}', '{"a":2}'])).toBeUndefined()
  expect(ndjsonDifference(['1', '2'], ['1', '3'])).toBe('line 2: $: 2 against 3')
  expect(ndjsonDifference(['1', '2'], ['1'])).toBe('line 2: a row is missing: 2')
  expect(ndjsonDifference(['1'], ['1', '2'])).toBe('line 2: a row too many: 2')
})
