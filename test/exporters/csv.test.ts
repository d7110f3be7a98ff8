import { expect, test } from 'vitest'
import { createExporter, type ExporterOptions } from '../../exporters/formats.ts'
import type { BatchSchema, Field } from '../../storage/rows/batch.ts'
import { formatCqlType } from '../../storage/schema/cql-type-text.ts'
import { difference, parseExact, shapeOf } from '../corpus/json.ts'
import { batchOf, EMPTY, field, transpose, type Value } from './build-batch.ts'
import { exportBytes } from './collect.ts'
import { below, randomField, randomValue, seeded } from './random-batch.ts'
import { referenceJson } from './reference-json.ts'

interface Cell {
  text: string
  quoted: boolean
}

/** RFC 4180 to the letter: anything else is an error. */
function parseCsv(text: string): Cell[][] {
  const rows: Cell[][] = []
  let row: Cell[] = []
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/sy
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex
    const match = cell.exec(text)
    if (match === null) throw new SyntaxError(`not CSV: ${JSON.stringify(text.slice(at, at + 60))}`)
    row.push(
      match[1] === undefined
        ? { text: match[2], quoted: false }
        : { text: match[1].replaceAll('""', '"'), quoted: true },
    )
    if (match[3] === ',') continue
    rows.push(row)
    row = []
  }
  if (row.length > 0) throw new SyntaxError('a line without its end')
  return rows
}

async function csvOf(fields: Field[], rows: Value[][], options?: ExporterOptions): Promise<string> {
  const schema: BatchSchema = { fields, metadata: new Map() }
  const batch = batchOf(schema, transpose(schema, rows), 'p')
  return (await exportBytes(createExporter('csv', options), schema, rows.length === 0 ? [] : [batch])).toString('utf8')
}

const int = field('i', { kind: 'int' }, { kind: 'int32' })
const text = field('t', { kind: 'text' }, { kind: 'utf8' })

test('a header, CRLF, null unquoted, empty text and empty values quoted', async () => {
  const csv = await csvOf(
    [int, text],
    [
      [1, 'a'],
      [null, null],
      [EMPTY, ''],
    ],
  )
  expect(csv).toBe('i,t\r\n1,a\r\n,\r\n"",""\r\n')
})

test('no rows: the header alone', async () => {
  expect(await csvOf([int, field('a,"b"', { kind: 'int' }, { kind: 'int32' })], [])).toBe('i,"a,""b"""\r\n')
})

test('a null marker is told from the text that looks like it', async () => {
  const csv = await csvOf(
    [int, text],
    [
      [null, null],
      [7, '\\N'],
      [EMPTY, ''],
    ],
    { nullMarker: '\\N' },
  )
  expect(csv).toBe('i,t\r\n\\N,\\N\r\n7,"\\N"\r\n"",""\r\n')
})

test.each(['"', 'a,b', '\n', '0', '-1', '0xff', 'true', 'NaN', '2024'])(
  'a null marker that a value could be is refused: %j',
  (nullMarker) => {
    expect(() => createExporter('csv', { nullMarker })).toThrow(expect.objectContaining({ code: 'BAD_PARAMETER' }))
  },
)

test('numbers that JSON lacks, ISO timestamps, durations of nothing', async () => {
  const fields = [
    field('f', { kind: 'double' }, { kind: 'float64' }),
    field('g', { kind: 'float' }, { kind: 'float32' }),
    field('s', { kind: 'timestamp' }, { kind: 'timestamp_ms' }),
    field('d', { kind: 'duration' }, { kind: 'interval' }),
    field('n', { kind: 'inet' }, { kind: 'utf8' }),
    field('b', { kind: 'blob' }, { kind: 'binary' }),
    field('x', { kind: 'boolean' }, { kind: 'bool' }),
  ]
  const rows: Value[][] = [
    [Number.NaN, -Infinity, 0n, [0, 0, 0n] as unknown as Value, '10.0.0.1', new Uint8Array(0), true],
    [Infinity, 0.1, -62135596800001n, [14, -3, 0n] as unknown as Value, null, Uint8Array.of(0, 255), false],
  ]
  expect(await csvOf(fields, rows)).toBe(
    'f,g,s,d,n,b,x\r\n' +
      'NaN,-Infinity,1970-01-01T00:00:00.000Z,0ns,10.0.0.1,0x,true\r\n' +
      'Infinity,0.1,0000-12-31T23:59:59.999Z,-1y2mo3d,,0x00ff,false\r\n',
  )
})

test('random rows of every layout come back through a strict parser', async () => {
  for (let seed = 100; seed < 125; seed++) {
    const random = seeded(seed)
    const fields = Array.from({ length: 1 + below(random, 8) }, (_, i) => randomField(random, `c${i}`, 2))
    const rows = Array.from({ length: 40 }, () => fields.map((f) => randomValue(random, f, 0.2)))
    const parsed = parseCsv(await csvOf(fields, rows))
    expect(parsed.length).toBe(41)
    expect(parsed[0].map((cell) => cell.text)).toEqual(fields.map((f) => f.name))
    for (const [r, row] of rows.entries()) {
      expect(parsed[r + 1].length).toBe(fields.length)
      for (const [c, value] of row.entries()) checkCell(fields[c], value, parsed[r + 1][c])
    }
  }
})

function checkCell(of: Field, value: Value, cell: Cell): void {
  if (value === null) {
    expect(cell).toEqual({ text: '', quoted: false })
    return
  }
  const json = referenceJson(of, value)
  switch (of.layout.kind) {
    case 'list':
    case 'fixed_list':
    case 'map':
    case 'struct':
      expect(cell.quoted).toBe(true)
      expect(difference(parseExact(json), parseExact(cell.text), shapeOf(formatCqlType(of.type)))).toBeUndefined()
      break
    case 'float32':
    case 'float64':
      expect(of.layout.kind === 'float32' ? Math.fround(Number(cell.text)) : Number(cell.text)).toBe(value)
      break
    case 'timestamp_ms':
      if ((value as bigint) > -62135596800000n) expect(cell.text.replace('T', ' ')).toBe(JSON.parse(json))
      break
    case 'interval':
      expect(cell.text).toBe(JSON.parse(json) || '0ns')
      break
    case 'utf8':
      expect(cell.text).toBe(value)
      expect(cell.quoted).toBe(/[",\r\n]/.test(cell.text) || cell.text === '')
      break
    default:
      expect(difference(parseExact(json), json.startsWith('"') ? cell.text : parseExact(cell.text))).toBeUndefined()
  }
}
