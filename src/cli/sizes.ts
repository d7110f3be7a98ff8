// Numbers of bytes as people write them on a command line.

import { SluiceError } from '../../storage/errors.ts'

const UNITS: Record<string, number> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
}

/** Bytes: `256MB`, `1.5 GiB`, `1000`. @throws SluiceError BAD_PARAMETER */
export function parseBytes(flag: string, text: string): number {
  const match = /^(\d{1,15}(?:\.\d{1,6})?)\s*([a-z]*)$/i.exec(text.trim())
  const unit = match === null ? undefined : UNITS[match[2].toLowerCase()]
  if (match !== null && unit !== undefined) return Math.round(Number(match[1]) * unit)
  throw new SluiceError('BAD_PARAMETER', { parameter: flag, value: text, expected: 'a size such as 256MB or 1GiB' })
}

/** @throws SluiceError BAD_PARAMETER */
export function wholeNumber(flag: string, text: string, minimum: number, maximum: number): number {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
  if (value >= minimum && value <= maximum) return value
  throw new SluiceError('BAD_PARAMETER', {
    parameter: flag,
    value: text,
    expected: `a whole number from ${minimum} to ${maximum}`,
  })
}
