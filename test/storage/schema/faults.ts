// What an error says, for tests.

import type { ErrorCode, ErrorFields } from '../../../storage/errors.ts'
import { isSluiceError } from '../../../storage/errors.ts'

/** The code and fields of the SluiceError that `run` throws; undefined if it throws none. Other errors pass through. */
export function fieldsOf(run: () => unknown): ({ code: ErrorCode } & ErrorFields) | undefined {
  try {
    run()
  } catch (error) {
    if (isSluiceError(error)) return { code: error.code, ...error.fields }
    throw error
  }
  return undefined
}
