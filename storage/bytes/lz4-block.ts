// LZ4 blocks decompressed by a small WebAssembly module of our own (lz4-block.wat; a test assembles it anew and compares). It is as fast
// as lz4-napi per byte, and makes no garbage: lz4-napi returns a new buffer per chunk, whose collection costs a scan a tenth of its
// time and keeps hundreds of megabytes of memory busy. The module's memory has a fixed size; it never grows, since growing
// it would slow the typed arrays of the whole thread down for good.

import { wasmModule } from './wasm.ts'

/** Chunks up to this many bytes fit the module's memory. */
export const MAX_BLOCK_BYTES = 128 * 1024

const INPUT_BYTES = 147_456
// Input at 0, output behind it; both with slack for copies in steps of 16.
const OUTPUT = INPUT_BYTES
const SLACK = 64

const MODULE =
  'AGFzbQEAAAABFANgA39/fwBgBH9/f38Bf2ABfwF/AwQDAAECBQMBAAUHFwIGbWVtb3J5AgAKZGVjb21wcmVzcwABCrQEAy8BAX8gACACaiEDA0AgACAB/QAAAP0LAAAgAUEQaiEBIABBEGohACAAIANJDQALC+IDAQd/IAIhCANAIAAgAU8EQEF/DwsgAC0AACEEIABBAWohACAEQQR2IQUgBUEPRgRAA0AgACABTwRAQX8PCyAALQAAIQYgAEEBaiEAIAUgBmohBSAGQf8BRg0ACwsgBSABIABrSwRAQX8PCyAFIAMgCGtLBEBBfw8LIAVBEE0EQCAIIAD9AAAA/QsAAAUgCCAAIAUQAAsgACAFaiEAIAggBWohCCAAIAFGBEAgCCACa0F/IAggA0YbDwtBAiABIABrSwRAQX8PCyAALwAAIQcgAEECaiEAIAdFBEBBfw8LIAcgCCACa0sEQEF/DwsgBEEPcSEFIAVBD0YEQANAIAAgAU8EQEF/DwsgAC0AACEGIABBAWohACAFIAZqIQUgBkH/AUYNAAsLIAVBBGohBSAFIAMgCGtLBEBBfw8LIAggB2shCSAIIAVqIQogB0EQTwRAIAggCf0AAAD9CwAAIAVBEEsEQCAIQRBqIAlBEGogBUEQaxAACwUDQCAIIAktAAA6AAAgCEEBaiEIIAlBAWohCSAIIApJIAggCiAFa2tBCElxDQALIAggBxACayEJIAggCkkEQANAIAggCSkAADcAACAIQQhqIQggCUEIaiEJIAggCkkNAAsLCyAKIQgMAAtBfwseAQF/IAAhAQNAIAFBCEkEQCABIABqIQEMAQsLIAEL'

type Decompress = (source: number, sourceEnd: number, target: number, targetEnd: number) => number

let memory: Uint8Array | undefined
let decompress: Decompress
/** The output as the last call saw it: chunks are of one length mostly, and a new view each would be a scan's most garbage. */
let output: Uint8Array = new Uint8Array(0)

const instantiate = wasmModule<{ memory: { buffer: ArrayBuffer }; decompress: Decompress }>(MODULE)

function start(): Uint8Array {
  const exports = instantiate()
  decompress = exports.decompress
  return new Uint8Array(exports.memory.buffer)
}

/** Whether decompressLz4 can take a block of these lengths. */
export function fitsLz4(storedLength: number, length: number): boolean {
  return length <= MAX_BLOCK_BYTES && storedLength <= INPUT_BYTES - SLACK
}

/**
 * Decompresses the block source[from...] into target[at, at + length). False: it is damaged, or does not give exactly `length`
 * bytes; target is untouched then.
 */
export function decompressLz4(
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  at: number,
  length: number,
): boolean {
  // What does not compress is one run of literals: copied once, and not in and out of the module's memory.
  if (source.length - from > length) {
    const literals = loneLiterals(source, from)
    if (source.length - literals === length) {
      target.set(source.subarray(literals), at)
      return true
    }
  }
  memory ??= start()
  memory.set(source)
  if (decompress(from, source.length, OUTPUT, OUTPUT + length) !== length) return false
  if (output.length !== length) output = memory.subarray(OUTPUT, OUTPUT + length)
  target.set(output, at)
  return true
}

/** Where the literals begin of a block whose first sequence has as many as there are bytes left; else an index behind the block. */
function loneLiterals(source: Uint8Array, from: number): number {
  let at = from + 1
  let count = source[from] >> 4
  if (count === 15) {
    let more: number
    do {
      more = source[at++] // undefined behind the end: no number of literals then
      count += more
    } while (more === 255)
  }
  return at + count === source.length ? at : source.length + 1
}
