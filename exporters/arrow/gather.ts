// Few parts out of many: a batch of a hundred columns has hundreds of buffers, most of them small, each with its padding. One
// writev entry per piece costs more than copying a small piece, so runs of small pieces are copied into one part.

/** Pieces of this many bytes and more stay as they are, without a copy. */
const ALONE = 4096

/** By their length, up to the longest padding. */
const ZEROS = Array.from({ length: 65 }, (_, length) => new Uint8Array(length))

/** `count` zero bytes, at most 64; shared, never to be written to. */
export function zeros(count: number): Uint8Array {
  return ZEROS[count]
}

export function gather(pieces: readonly Uint8Array[]): Uint8Array[] {
  let copied = 0
  for (const piece of pieces) if (piece.length < ALONE) copied += piece.length
  const room = new Uint8Array(copied)
  const parts: Uint8Array[] = []
  let start = 0
  let end = 0
  for (const piece of pieces) {
    if (piece.length < ALONE) {
      room.set(piece, end)
      end += piece.length
      continue
    }
    if (end > start) parts.push(room.subarray(start, end))
    start = end
    parts.push(piece)
  }
  if (end > start) parts.push(room.subarray(start, end))
  return parts
}
