/**
 * JSON compared exactly: what `SELECT JSON` of a real node printed against what we print. Numbers keep their text, so that
 * a varint of 300 digits or a decimal of scale 2000 is compared as the number it is; `float` columns are compared as
 * float32 and `double` ones as float64, wherever in a nested type they stand. Strings are equal by their characters, the
 * order of an object's keys is ignored, that of an array is not.
 *
 *   const shape = rowShape({ k: 'int', m: 'map<text, frozen<point>>' }, { point: { x: 'float', y: 'double' } })
 *   difference(parseExact(theirs), parseExact(ours), shape)   // undefined, or such as '$.m.a.x: 1.5 against 1.25'
 */

export class ExactNumber {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type ExactJson = null | boolean | string | ExactNumber | ExactJson[] | Map<string, ExactJson>

/** How the numbers in a value are compared. Without a shape: exactly. */
export type Shape =
  | 'exact'
  | 'float'
  | 'double'
  | { readonly kind: 'list'; readonly of: Shape }
  | { readonly kind: 'tuple'; readonly of: readonly Shape[] }
  | { readonly kind: 'map'; readonly key: Shape; readonly value: Shape; readonly textKeys: boolean }
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, Shape> }

/** User-defined types by name, each with its fields' types as CQL has them. */
export type UserTypes = Readonly<Record<string, Readonly<Record<string, string>>>>

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const SPACE = /[ \t\n\r]*/y
const PLAIN = /[^"\\\x00-\x1f]*/y
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

/** RFC 8259 and nothing more; a key that occurs twice in an object is an error too. */
export function parseExact(text: string): ExactJson {
  let at = 0

  function fail(what: string): never {
    throw new SyntaxError(`${what} at ${at} of ${text.length > 200 ? `${text.slice(0, 200)}...` : text}`)
  }
  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found !== undefined) at += found.length
    return found
  }
  function take(char: string): boolean {
    match(SPACE)
    if (text[at] !== char) return false
    at++
    return true
  }
  function want(char: string): void {
    if (!take(char)) fail(`no ${char}`)
  }
  function string(): string {
    let out = ''
    for (;;) {
      out += match(PLAIN) ?? ''
      const char = text[at++]
      if (char === '"') return out
      if (char !== '\\') fail('a string that does not end, or a control character in it')
      const code = text[at++] ?? ''
      if (code === 'u') {
        const hex = text.slice(at, at + 4)
        if (!/^[0-9a-fA-F]{4}$/.test(hex)) fail('a broken \\u')
        out += String.fromCharCode(Number.parseInt(hex, 16))
        at += 4
      } else out += ESCAPES[code] ?? fail(`unknown escape \\${code}`)
    }
  }
  function object(): Map<string, ExactJson> {
    const fields = new Map<string, ExactJson>()
    if (take('}')) return fields
    do {
      want('"')
      const key = string()
      if (fields.has(key)) fail(`the key ${JSON.stringify(key)} twice`)
      want(':')
      fields.set(key, value())
    } while (take(','))
    want('}')
    return fields
  }
  function array(): ExactJson[] {
    const items: ExactJson[] = []
    if (take(']')) return items
    do items.push(value())
    while (take(','))
    want(']')
    return items
  }
  function value(): ExactJson {
    if (take('{')) return object()
    if (take('[')) return array()
    if (take('"')) return string()
    for (const [word, is] of [
      ['null', null],
      ['true', true],
      ['false', false],
    ] as const) {
      if (text.startsWith(word, at)) {
        at += word.length
        return is
      }
    }
    return new ExactNumber(match(NUMBER) ?? fail('no value'))
  }

  const whole = value()
  match(SPACE)
  if (at < text.length) fail('something behind the value')
  return whole
}

/** One text for one number: `-`, digits without zeros at either end, `e`, exponent. Zero has no sign here. */
export function canonical(number: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? []
  if (whole === undefined) throw new SyntaxError(`not a number: ${number}`)
  const digits = (whole + fraction).replace(/^0+/, '')
  if (digits === '') return '0'
  const short = digits.replace(/0+$/, '')
  return `${sign}${short}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - short.length)}`
}

/** Splits `a, map<b, c>, d` at the commas outside of `<>` and of quotes. */
function split(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let quoted = false
  let from = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"') quoted = !quoted
    if (quoted) continue
    if (text[i] === '<') depth++
    else if (text[i] === '>') depth--
    else if (text[i] === ',' && depth === 0) {
      parts.push(text.slice(from, i).trim())
      from = i + 1
    }
  }
  return [...parts, text.slice(from).trim()]
}

const SCALARS = new Set(
  'ascii bigint blob boolean counter date decimal duration inet int smallint text time timestamp timeuuid tinyint uuid varchar varint'.split(
    ' ',
  ),
)
/** Map keys of these types are printed as plain strings; of any other type, as JSON inside of a string. */
const TEXT = new Set([
  'ascii',
  'blob',
  'date',
  'duration',
  'inet',
  'text',
  'time',
  'timestamp',
  'timeuuid',
  'uuid',
  'varchar',
])

/** The shape of a CQL type, such as `map<text, frozen<list<double>>>`; a type that is not known is an error. */
export function shapeOf(type: string, types: UserTypes = {}): Shape {
  const [, name = '', inner = ''] = /^\s*("(?:[^"]|"")*"|[^<\s]+)\s*(?:<(.*)>)?\s*$/s.exec(type) ?? []
  const of = (text: string | undefined): Shape => shapeOf(text ?? '', types)
  switch (name.toLowerCase()) {
    case 'float':
    case 'double':
      return name.toLowerCase() as 'float' | 'double'
    case 'frozen':
      return of(inner)
    case 'list':
    case 'set':
      return { kind: 'list', of: of(inner) }
    case 'vector':
      return { kind: 'list', of: of(split(inner)[0]) }
    case 'tuple':
      return { kind: 'tuple', of: split(inner).map(of) }
    case 'map': {
      const [key = '', value] = split(inner)
      return { kind: 'map', key: of(key), value: of(value), textKeys: TEXT.has(key.toLowerCase()) }
    }
  }
  if (SCALARS.has(name.toLowerCase())) return 'exact'
  const plain = name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name
  const fields = types[plain]
  if (fields === undefined) throw new Error(`unknown type ${type}`)
  return rowShape(fields, types)
}

/** The shape of a row, or of a user-defined type: names as they are, without CQL's quotes. */
export function rowShape(columns: Readonly<Record<string, string>>, types: UserTypes = {}): Shape {
  return {
    kind: 'object',
    fields: new Map(Object.entries(columns).map(([name, type]) => [name, shapeOf(type, types)])),
  }
}

function show(value: ExactJson | undefined): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value, (_, v) =>
    v instanceof ExactNumber ? `#${v.text}` : v instanceof Map ? Object.fromEntries(v) : v,
  )
  return (text.length > 120 ? `${text.slice(0, 120)}...` : text).replace(/"#([^"]*)"/g, '$1')
}

function sameNumber(a: ExactNumber, b: ExactNumber, shape: Shape | undefined): boolean {
  if (a.text === b.text) return true
  // -0.0 is not 0.0 in a float, as Cassandra prints it with its sign; no decimal has such a zero
  if (shape === 'double') return Object.is(Number(a.text), Number(b.text))
  if (shape === 'float') return Object.is(Math.fround(Number(a.text)), Math.fround(Number(b.text)))
  return canonical(a.text) === canonical(b.text)
}

/** SELECT JSON puts the name of a case-sensitive column or field in quotes of its own. */
function fieldShape(shape: Shape | undefined, key: string): Shape | undefined {
  if (typeof shape !== 'object') return undefined
  if (shape.kind === 'map') return shape.value
  if (shape.kind !== 'object') return undefined
  return shape.fields.get(key) ?? (/^".*"$/s.test(key) ? shape.fields.get(key.slice(1, -1)) : undefined)
}

/** The key of `among` that means the same as `key`, where keys are numbers or JSON in a string. */
function sameKey(key: string, among: Map<string, ExactJson>, shape: Shape | undefined): string | undefined {
  if (among.has(key)) return key
  if (typeof shape !== 'object' || shape.kind !== 'map' || shape.textKeys) return undefined
  const parse = (text: string): ExactJson => {
    try {
      return parseExact(text)
    } catch {
      return text // an empty number, or a bare word
    }
  }
  const wanted = parse(key)
  return [...among.keys()].find((other) => difference(wanted, parse(other), shape.key) === undefined)
}

function differentObjects(
  a: Map<string, ExactJson>,
  b: Map<string, ExactJson>,
  shape: Shape | undefined,
  path: string,
): string | undefined {
  const left = new Set(b.keys())
  for (const [key, value] of a) {
    const there = sameKey(key, b, shape)
    if (there === undefined) return `${path}.${key}: ${show(value)} against nothing`
    left.delete(there)
    const found = difference(value, b.get(there) as ExactJson, fieldShape(shape, key), `${path}.${key}`)
    if (found !== undefined) return found
  }
  for (const key of left) return `${path}.${key}: nothing against ${show(b.get(key))}`
  return undefined
}

/** Where and how two values differ first; undefined when they are equal. */
export function difference(a: ExactJson, b: ExactJson, shape?: Shape, path = '$'): string | undefined {
  const different = `${path}: ${show(a)} against ${show(b)}`
  if (a instanceof ExactNumber) return b instanceof ExactNumber && sameNumber(a, b, shape) ? undefined : different
  if (a instanceof Map) return b instanceof Map ? differentObjects(a, b, shape, path) : different
  if (!Array.isArray(a)) return a === b ? undefined : different
  if (!Array.isArray(b)) return different
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    if (i >= a.length || i >= b.length) return `${path}[${i}]: ${show(a[i])} against ${show(b[i])}`
    const inner =
      typeof shape !== 'object'
        ? undefined
        : shape.kind === 'list'
          ? shape.of
          : shape.kind === 'tuple'
            ? shape.of[i]
            : undefined
    const found = difference(a[i] as ExactJson, b[i] as ExactJson, inner, `${path}[${i}]`)
    if (found !== undefined) return found
  }
  return undefined
}

export function jsonEqual(a: ExactJson, b: ExactJson, shape?: Shape): boolean {
  return difference(a, b, shape) === undefined
}

/**
 * Compares two NDJSON texts line by line, in order: undefined, or the first difference with its line (counted from 1).
 * Equal lines are not parsed.
 */
export function ndjsonDifference(
  theirs: readonly string[],
  ours: readonly string[],
  shape?: Shape,
): string | undefined {
  for (let i = 0; i < Math.max(theirs.length, ours.length); i++) {
    const a = theirs[i]
    const b = ours[i]
    if (a === b) continue
    if (a === undefined) return `line ${i + 1}: a row too many: ${b}`
    if (b === undefined) return `line ${i + 1}: a row is missing: ${a}`
    const found = difference(parseExact(a), parseExact(b), shape)
    if (found !== undefined) return `line ${i + 1}: ${found}`
  }
  return undefined
}
