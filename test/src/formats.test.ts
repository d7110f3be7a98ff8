// Which format a request means.

import { expect, test } from 'vitest'
import { createExporter, FORMATS as EXPORTED } from '../../exporters/formats.ts'
import { chooseFormat, FORMAT_NAMES, FORMATS } from '../../src/formats.ts'

test.each([
  [undefined, 'arrows'],
  ['', 'arrows'],
  ['*/*', 'arrows'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'arrows'],
  ['application/*', 'arrows'],
  ['application/vnd.apache.arrow.file', 'arrow'],
  ['application/x-ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  ['TEXT/CSV', 'csv'],
  ['text/*', 'csv'],
  ['text/csv; header=present', 'csv'],
  ['text/csv;q=0.5, application/x-ndjson;q=0.9', 'ndjson'],
  ['text/csv, application/x-ndjson', 'csv'],
  ['*/*;q=0.1, application/x-ndjson', 'ndjson'],
  ['text/csv;q=0, application/x-ndjson;q=0.001', 'ndjson'],
  ['text/csv;q=oops, application/x-ndjson', 'ndjson'],
])('Accept: %s means %s', (accept, format) => {
  expect(chooseFormat({ accept })).toBe(format)
})

test.each(['text/html', 'application/json', 'text/csv;q=0', ';;,', 'toString', 'application/xml'])(
  'Accept: %s is not acceptable',
  (accept) => {
    expect(() => chooseFormat({ accept })).toThrow(expect.objectContaining({ code: 'NOT_ACCEPTABLE' }))
  },
)

test('an extension goes before a parameter, and a parameter before Accept', () => {
  expect(chooseFormat({ extension: 'csv', parameter: 'ndjson', accept: 'text/html' })).toBe('csv')
  expect(chooseFormat({ parameter: 'ndjson', accept: 'text/csv' })).toBe('ndjson')
})

test.each(['', 'ARROW', 'xml', '__proto__', 'constructor'])('the name %j is no format', (name) => {
  expect(() => chooseFormat({ parameter: name })).toThrow(expect.objectContaining({ code: 'NOT_ACCEPTABLE' }))
})

test('each format has the media type and the extension of its exporter', () => {
  expect(FORMAT_NAMES).toEqual(EXPORTED)
  for (const name of FORMAT_NAMES) {
    const { mediaType, extension } = createExporter(name)
    expect(mediaType.split(';')[0]).toBe(FORMATS[name].accepts[0])
    expect(extension).toBe(`.${name}`)
  }
})
