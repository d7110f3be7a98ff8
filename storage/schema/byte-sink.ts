// A growing run of bytes.

export interface ByteSink {
  bytes: Uint8Array
  length: number
}

export function newSink(): ByteSink {
  return { bytes: new Uint8Array(64), length: 0 }
}

export function push(sink: ByteSink, byte: number): void {
  if (sink.length === sink.bytes.length) grow(sink, 1)
  sink.bytes[sink.length++] = byte
}

export function pushBytes(sink: ByteSink, bytes: Uint8Array): void {
  if (sink.length + bytes.length > sink.bytes.length) grow(sink, bytes.length)
  sink.bytes.set(bytes, sink.length)
  sink.length += bytes.length
}

/** A copy of what was written. */
export function sinkBytes(sink: ByteSink): Uint8Array {
  return sink.bytes.slice(0, sink.length)
}

function grow(sink: ByteSink, more: number): void {
  const bytes = new Uint8Array(Math.max(sink.bytes.length * 2, sink.length + more))
  bytes.set(sink.bytes)
  sink.bytes = bytes
}
