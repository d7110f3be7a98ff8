// The error for bytes that are no value of their type. It knows no file: the caller adds that (SluiceError.with).

import { SluiceError } from '../errors.ts'

export function damagedValue(expected: string, found: number): SluiceError {
  return new SluiceError('CORRUPT_SSTABLE', { reason: 'not a value of its type', expected, found: `${found} bytes` })
}
