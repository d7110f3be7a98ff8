// The one error class and the closed table of its codes. Each code has an HTTP status, a process exit code and an anchor
// in README ("Errors"). Errors carry fields, not prose: the message is made from them.

/** What can be said about where a fault lies. All optional; paths as the user gave them, offsets in bytes. */
export interface ErrorFields {
  file?: string
  /** Byte offset: in the uncompressed view for Data.db, else in the file. */
  offset?: number
  /** Partition key, in hex. */
  partition?: string
  version?: string
  keyspace?: string
  table?: string
  column?: string
  type?: string
  parameter?: string
  value?: string
  /** 0-based character position in a parsed text (predicate, selector, DDL). */
  position?: number
  /** 1-based line of it, where the text is a file. */
  line?: number
  expected?: string
  found?: string
  limit?: number
  /** A few words that fit no other field. */
  reason?: string
  /** What the user can do about it. */
  hint?: string
}

interface CodeEntry {
  status: number
  exit: number
  text: string
}

// Exit codes: 64 usage, 65 bad data, 66 no input, 69 unavailable, 70 internal, 73 cannot write, 74 I/O, 75 try again (sysexits.h).
export const ERROR_CODES = {
  CORRUPT_SSTABLE: { status: 500, exit: 65, text: 'the SSTable is damaged' },
  CHECKSUM_MISMATCH: { status: 500, exit: 65, text: 'a checksum does not match' },
  MISSING_COMPONENT: { status: 500, exit: 66, text: 'an SSTable component is missing' },
  UNSUPPORTED_VERSION: { status: 501, exit: 65, text: 'this SSTable version is not read' },
  UNSUPPORTED_CODEC: { status: 501, exit: 65, text: 'this compressor is not read' },
  UNSUPPORTED_PARTITIONER: { status: 501, exit: 65, text: 'this partitioner is not read' },
  UNSUPPORTED_TABLE: { status: 501, exit: 65, text: 'this kind of table is not read' },
  UNSUPPORTED_TYPE: { status: 501, exit: 65, text: 'this type is not read' },
  PARTITIONER_MISMATCH: { status: 500, exit: 65, text: 'SSTables of one table differ in their partitioner' },
  SCHEMA_INVALID: { status: 500, exit: 65, text: 'the schema cannot be read' },
  SCHEMA_MISSING: { status: 404, exit: 66, text: 'no schema describes this table' },
  SCHEMA_MISMATCH: { status: 500, exit: 65, text: 'the SSTable does not fit the schema' },
  UNKNOWN_KEYSPACE: { status: 404, exit: 66, text: 'no such keyspace' },
  UNKNOWN_TABLE: { status: 404, exit: 66, text: 'no such table' },
  UNKNOWN_COLUMN: { status: 400, exit: 64, text: 'no such column' },
  UNKNOWN_EXPORT: { status: 404, exit: 66, text: 'no such export' },
  EXPORT_GONE: { status: 410, exit: 66, text: 'the export has ended' },
  BAD_TICKET: { status: 400, exit: 64, text: 'the ticket cannot be read' },
  BAD_REQUEST: { status: 400, exit: 64, text: 'the request is malformed' },
  BAD_PARAMETER: { status: 400, exit: 64, text: 'a parameter is not valid' },
  BAD_RANGE: { status: 400, exit: 64, text: 'the token range is not valid' },
  BAD_PREDICATE: { status: 400, exit: 64, text: 'the predicate is not valid' },
  BAD_SELECTOR: { status: 400, exit: 64, text: 'the column list is not valid' },
  BAD_POSITION: { status: 400, exit: 64, text: 'the position is not valid' },
  NOT_ACCEPTABLE: { status: 406, exit: 64, text: 'no such output format' },
  METHOD_NOT_ALLOWED: { status: 405, exit: 64, text: 'the method is not allowed here' },
  NOT_FOUND: { status: 404, exit: 66, text: 'nothing is here' },
  UNAUTHORIZED: { status: 401, exit: 77, text: 'a valid token is needed' },
  INVALID_UTF8: { status: 500, exit: 65, text: 'a text value is not valid UTF-8' },
  EMPTY_MAP_KEY: { status: 500, exit: 65, text: 'a map key is an empty value, which this format cannot hold' },
  VALUE_OUT_OF_RANGE: { status: 500, exit: 65, text: 'a value does not fit the requested type' },
  VALUE_TOO_LARGE: { status: 507, exit: 65, text: 'a value or row does not fit the memory allowance' },
  DATA_DIRECTORY: { status: 500, exit: 66, text: 'the data directory cannot be read' },
  IO: { status: 500, exit: 74, text: 'reading failed' },
  CANNOT_WRITE: { status: 500, exit: 73, text: 'the output cannot be written' },
  CANNOT_LISTEN: { status: 500, exit: 69, text: 'the address cannot be listened on' },
  OVERLOADED: { status: 503, exit: 75, text: 'the server is at its limit' },
  SHUTTING_DOWN: { status: 503, exit: 75, text: 'the server is stopping' },
  CANCELLED: { status: 499, exit: 130, text: 'the request was cancelled' },
  REMOTE: { status: 502, exit: 69, text: 'the server answered with an error' },
  DIGEST_MISMATCH: { status: 500, exit: 65, text: 'the digests differ' },
  INTERNAL: { status: 500, exit: 70, text: 'an internal fault' },
} as const satisfies Record<string, CodeEntry>

export type ErrorCode = keyof typeof ERROR_CODES

const BRAND = Symbol.for('sluice.error')

/** Every error this product raises on purpose. */
export class SluiceError extends Error {
  readonly code: ErrorCode
  readonly fields: ErrorFields
  readonly [BRAND] = true

  constructor(code: ErrorCode, fields: ErrorFields = {}, cause?: unknown) {
    super(describe(code, fields), cause === undefined ? undefined : { cause })
    this.name = 'SluiceError'
    this.code = code
    this.fields = fields
  }

  get status(): number {
    return ERROR_CODES[this.code].status
  }

  get exitCode(): number {
    return ERROR_CODES[this.code].exit
  }

  /** The same error with more fields; those already there stay. */
  with(fields: ErrorFields): SluiceError {
    return new SluiceError(this.code, { ...fields, ...this.fields }, this.cause)
  }
}

export function isSluiceError(error: unknown): error is SluiceError {
  return typeof error === 'object' && error !== null && (error as Record<symbol, unknown>)[BRAND] === true
}

function describe(code: ErrorCode, fields: ErrorFields): string {
  const parts: string[] = []
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) parts.push(`${name}: ${value}`)
  }
  return parts.length === 0 ? ERROR_CODES[code].text : `${ERROR_CODES[code].text} (${parts.join(', ')})`
}
