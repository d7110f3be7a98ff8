// The number of rows that a Parquet file states, read from its footer: FileMetaData in Thrift's compact protocol (parquet.thrift:
// 1 version, 2 schema, 3 num_rows; Thrift: "Compact protocol encoding"). Only skipping is needed to get there.

const MAGIC = 'PAR1'

const STOP = 0
const BOOL_TRUE = 1
const BOOL_FALSE = 2
const BYTE = 3
const DOUBLE = 7
const BINARY = 8
const LIST = 9
const SET = 10
const MAP = 11
const STRUCT = 12

const NUM_ROWS = 3

interface Reader {
  bytes: Uint8Array
  at: number
}

/** `end` are the last bytes of the file. undefined: the whole footer is not among them, or it is none. */
export function footerRows(end: Uint8Array): number | undefined {
  const tail = Buffer.from(end.buffer, end.byteOffset, end.byteLength)
  if (tail.length < 8 || tail.toString('latin1', tail.length - 4) !== MAGIC) return undefined
  const start = tail.length - 8 - tail.readUInt32LE(tail.length - 8)
  if (start < 0) return undefined
  const reader = { bytes: tail.subarray(start, tail.length - 8), at: 0 }
  for (let id = 0; ; ) {
    const head = byte(reader)
    const type = head & 15
    if (type === STOP) return undefined
    id = head >> 4 === 0 ? zigzag(reader) : id + (head >> 4)
    if (id === NUM_ROWS) return zigzag(reader)
    skip(reader, type)
  }
}

/** 0 behind the end, which is STOP too. */
function byte(reader: Reader): number {
  return reader.at < reader.bytes.length ? reader.bytes[reader.at++] : 0
}

function varint(reader: Reader): number {
  let value = 0
  for (let scale = 1; ; scale *= 128) {
    const next = byte(reader)
    value += (next & 127) * scale
    if (next < 128) return value
  }
}

function zigzag(reader: Reader): number {
  const value = varint(reader)
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2
}

function skip(reader: Reader, type: number): void {
  switch (type) {
    case BOOL_TRUE:
    case BOOL_FALSE:
      return
    case BYTE:
      reader.at++
      return
    case DOUBLE:
      reader.at += 8
      return
    case BINARY: {
      const length = varint(reader)
      reader.at += length
      return
    }
    case LIST:
    case SET: {
      const head = byte(reader)
      const count = head >> 4 === 15 ? varint(reader) : head >> 4
      for (let i = 0; i < count && reader.at < reader.bytes.length; i++) skipElement(reader, head & 15)
      return
    }
    case MAP: {
      const count = varint(reader)
      const types = count === 0 ? 0 : byte(reader)
      for (let i = 0; i < count && reader.at < reader.bytes.length; i++) {
        skipElement(reader, types >> 4)
        skipElement(reader, types & 15)
      }
      return
    }
    case STRUCT:
      for (;;) {
        const head = byte(reader)
        if ((head & 15) === STOP) return
        if (head >> 4 === 0) zigzag(reader)
        skip(reader, head & 15)
      }
    default:
      varint(reader)
  }
}

/** Inside of lists and maps a boolean takes a byte. */
function skipElement(reader: Reader, type: number): void {
  if (type === BOOL_TRUE || type === BOOL_FALSE) reader.at++
  else skip(reader, type)
}
