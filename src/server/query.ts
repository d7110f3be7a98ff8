// Query strings, decoded strictly (WHATWG URL, application/x-www-form-urlencoded): what is not valid percent-encoded UTF-8 is refused,
// where usual parsers hand it through as it stands.

import { SluiceError } from '../../storage/errors.ts'
import { shorten } from '../shorten.ts'

/** The pairs of a request target's query, in order. @throws SluiceError BAD_PARAMETER */
export function queryPairs(target: string): [name: string, value: string][] {
  const mark = target.indexOf('?')
  if (mark < 0) return []
  const pairs: [string, string][] = []
  for (const piece of target.slice(mark + 1).split('&')) {
    if (piece === '') continue
    const equals = piece.indexOf('=')
    const name = decode(equals < 0 ? piece : piece.slice(0, equals), piece)
    pairs.push([name, equals < 0 ? '' : decode(piece.slice(equals + 1), name)])
  }
  return pairs
}

function decode(text: string, parameter: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new SluiceError('BAD_PARAMETER', {
      parameter: shorten(parameter),
      value: shorten(text),
      expected: 'percent-encoded UTF-8',
    })
  }
}
