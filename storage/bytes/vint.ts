// Variable-length integers as Cassandra writes them (o.a.c.utils.vint.VIntCoding): the count of leading 1 bits of the
// first byte is the number of extra bytes (0 to 8), the remaining bits and those bytes are the value, big-endian.
// Signed ones are zig-zag encoded. Each function reads at (bytes, pos) and returns the value alone; the caller steps
// by `vintSize(bytes[pos])`, so that no reader needs an object for two results. None checks bounds: past the end of
// the array a byte reads as 0, and the caller compares pos + size with its limit.

/** Bytes that the integer with this first byte takes: 1 to 9. */
export function vintSize(first: number): number {
  return Math.clz32(~(first << 24)) + 1
}

/**
 * The value as a number: exact below 2^53. Larger values come out rounded, but never below 2^53, so that a comparison
 * with any length or limit still refuses them.
 */
export function readUvint(bytes: Uint8Array, pos: number): number {
  const first = bytes[pos]
  if (first < 0x80) return first
  if (first < 0xc0) return ((first & 0x3f) << 8) | bytes[pos + 1]
  if (first < 0xe0) return ((first & 0x1f) << 16) | (bytes[pos + 1] << 8) | bytes[pos + 2]
  if (first < 0xf0) {
    return ((first & 0x0f) << 24) | (bytes[pos + 1] << 16) | (bytes[pos + 2] << 8) | bytes[pos + 3]
  }
  return (readUvintHi(bytes, pos) >>> 0) * 0x100000000 + (readUvintLo(bytes, pos) >>> 0)
}

/** The signed value as a number: exact while its magnitude is below 2^52, else rounded. */
export function readVint(bytes: Uint8Array, pos: number): number {
  const first = bytes[pos]
  if (first < 0xf0) {
    const raw = readUvint(bytes, pos)
    return (raw >>> 1) ^ -(raw & 1)
  }
  return readVintHi(bytes, pos) * 0x100000000 + (readVintLo(bytes, pos) >>> 0)
}

/** High 32 bits of the unsigned value, as an int32. */
export function readUvintHi(bytes: Uint8Array, pos: number): number {
  const first = bytes[pos]
  if (first < 0xf0) return 0
  if (first < 0xf8) return first & 0x07
  if (first < 0xfc) return ((first & 0x03) << 8) | bytes[pos + 1]
  if (first < 0xfe) return ((first & 0x01) << 16) | (bytes[pos + 1] << 8) | bytes[pos + 2]
  if (first < 0xff) return (bytes[pos + 1] << 16) | (bytes[pos + 2] << 8) | bytes[pos + 3]
  return (bytes[pos + 1] << 24) | (bytes[pos + 2] << 16) | (bytes[pos + 3] << 8) | bytes[pos + 4]
}

/** Low 32 bits of the unsigned value, as an int32. */
export function readUvintLo(bytes: Uint8Array, pos: number): number {
  const first = bytes[pos]
  if (first < 0x80) return first
  if (first < 0xc0) return ((first & 0x3f) << 8) | bytes[pos + 1]
  if (first < 0xe0) return ((first & 0x1f) << 16) | (bytes[pos + 1] << 8) | bytes[pos + 2]
  if (first < 0xf0) {
    return ((first & 0x0f) << 24) | (bytes[pos + 1] << 16) | (bytes[pos + 2] << 8) | bytes[pos + 3]
  }
  const last = pos + vintSize(first) - 1
  return (bytes[last - 3] << 24) | (bytes[last - 2] << 16) | (bytes[last - 1] << 8) | bytes[last]
}

/** High 32 bits of the signed (zig-zag) value, as an int32. */
export function readVintHi(bytes: Uint8Array, pos: number): number {
  return (readUvintHi(bytes, pos) >>> 1) ^ -(readUvintLo(bytes, pos) & 1)
}

/** Low 32 bits of the signed (zig-zag) value, as an int32. */
export function readVintLo(bytes: Uint8Array, pos: number): number {
  const lo = readUvintLo(bytes, pos)
  return ((lo >>> 1) | (readUvintHi(bytes, pos) << 31)) ^ -(lo & 1)
}

/** The unsigned value, exact over all 64 bits. For cold code. */
export function readUvintBig(bytes: Uint8Array, pos: number): bigint {
  return (BigInt(readUvintHi(bytes, pos) >>> 0) << 32n) | BigInt(readUvintLo(bytes, pos) >>> 0)
}

/** The signed value, exact over all 64 bits. For cold code. */
export function readVintBig(bytes: Uint8Array, pos: number): bigint {
  return (BigInt(readVintHi(bytes, pos)) << 32n) | BigInt(readVintLo(bytes, pos) >>> 0)
}
