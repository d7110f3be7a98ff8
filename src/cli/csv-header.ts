// A CSV file without its first record (RFC 4180), for putting several behind each other under one header.

const QUOTE = 0x22
const LINE_FEED = 0x0a

export async function* withoutHeader(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isQuoted = false
  let isBehind = false
  for await (const part of parts) {
    if (isBehind) {
      yield part
      continue
    }
    for (let i = 0; i < part.length && !isBehind; i++) {
      if (part[i] === QUOTE) isQuoted = !isQuoted
      else if (part[i] === LINE_FEED && !isQuoted) {
        isBehind = true
        if (i + 1 < part.length) yield part.subarray(i + 1)
      }
    }
  }
}
