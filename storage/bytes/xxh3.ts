// XXH3-128 (xxHash specification; seed 0, default secret) of a stream of bytes, its long loop in a small WebAssembly module of our own
// (xxh3.wat; a test assembles it anew and compares) with 128-bit registers: several times as fast as hash-wasm, which has none, and
// what is written into the module's memory in the first place is not copied. Inputs of up to 240 bytes are hashed by other
// algorithms of XXH3; those are left to hash-wasm.

import { createXXHash128 } from 'hash-wasm'
import { wasmModule } from './wasm.ts'

const MODULE =
  'AGFzbQEAAAABCAFgA39/fwF/AwIBAAUDAQAEBxcCBm1lbW9yeQIACmFjY3VtdWxhdGUAAArVBQHSBQEGeyABRQRAIAIPC0EA/QAEACEDQRD9AAQAIQRBIP0ABAAhBUEw/QAEACEGA0AgAP0AAAAhByAHIAL9AAAA/VEhCCADIAcgB/0NCAkKCwwNDg8AAQIDBAUGB/3OASAIIAj9DQABAgMICQoLAAECAwgJCgsgCCAI/Q0EBQYHDA0ODwQFBgcMDQ4P/d4B/c4BIQMgAP0AABAhByAHIAL9AAAQ/VEhCCAEIAcgB/0NCAkKCwwNDg8AAQIDBAUGB/3OASAIIAj9DQABAgMICQoLAAECAwgJCgsgCCAI/Q0EBQYHDA0ODwQFBgcMDQ4P/d4B/c4BIQQgAP0AACAhByAHIAL9AAAg/VEhCCAFIAcgB/0NCAkKCwwNDg8AAQIDBAUGB/3OASAIIAj9DQABAgMICQoLAAECAwgJCgsgCCAI/Q0EBQYHDA0ODwQFBgcMDQ4P/d4B/c4BIQUgAP0AADAhByAHIAL9AAAw/VEhCCAGIAcgB/0NCAkKCwwNDg8AAQIDBAUGB/3OASAIIAj9DQABAgMICQoLAAECAwgJCgsgCCAI/Q0EBQYHDA0ODwQFBgcMDQ4P/d4B/c4BIQYgAEHAAGohACACQQhqIQIgAkHAAUYEQEHAACECIAMgA0Ev/c0B/VEhAyADQcAB/QAEAP1RIQMgA/0MsXk3ngAAAACxeTeeAAAAAP3VASEDIAQgBEEv/c0B/VEhBCAEQdAB/QAEAP1RIQQgBP0MsXk3ngAAAACxeTeeAAAAAP3VASEEIAUgBUEv/c0B/VEhBSAFQeAB/QAEAP1RIQUgBf0MsXk3ngAAAACxeTeeAAAAAP3VASEFIAYgBkEv/c0B/VEhBiAGQfAB/QAEAP1RIQYgBv0MsXk3ngAAAACxeTeeAAAAAP3VASEGCyABQQFrIQEgAQ0AC0EAIAP9CwQAQRAgBP0LBABBICAF/QsEAEEwIAb9CwQAIAILC8gBAQBBwAALwAG4/mw5I6RLvnwBgSz3Ia0c3tRt6YOQl9tyQKSkt7NnH8t55k7MwOV4glrQfcz/ciG4CEZ090MkjuA1kOaBOiZMPChSu5HDAMuI0GWLG1Muo3FkSJeiDflOOBnvRqnerNio+nY/45w0P/ncu8fHC08dilHgS820WTHIn37J2XhzZOrFrIM00+vDxYGg//oTY+sXDd1Rt/DaSdMWVSYp1GieKxa+WH1HofyP+LjRetAxzkXLOo+VFgQor9f7yrtLQH4='

/** Where input lies in the module's memory; before it accumulators, secret, and what is kept of earlier input. */
const INPUT = 512
const SECRET = 64
const SECRET_BYTES = 192
const STRIPE = 64
const SHORT = 240

/** Bytes that can be written into `input` at once. */
export const INPUT_BYTES = 4 * 65_536 - INPUT

export interface Xxh3 {
  /** Memory for the caller to write what comes next into. */
  readonly input: Uint8Array
  /** Takes over the next bytes; of `input`'s own without a copy. */
  update(bytes: Uint8Array): void
  /** 32 hex digits, in canonical (big-endian) form. Call once, last. */
  digest(): string
}

type Accumulate = (at: number, stripes: number, key: number) => number

const instantiate = wasmModule<{ memory: { buffer: ArrayBuffer }; accumulate: Accumulate }>(MODULE)

export async function createXxh3(): Promise<Xxh3> {
  const { accumulate, memory } = instantiate()
  const all = new Uint8Array(memory.buffer)
  const input = all.subarray(INPUT)
  const view = new DataView(memory.buffer)
  START.forEach((value, i) => {
    view.setBigUint64(8 * i, value, true)
  })
  const short = await createXXHash128()
  let total = 0
  /** Bytes right before INPUT that no stripe has taken; at least one, once there was input. Before them lie 64 that were taken. */
  let left = 0
  let key = SECRET

  /** Takes the first n bytes of `input`. */
  const take = (n: number) => {
    const start = INPUT - left
    const stripes = Math.floor((left + n - 1) / STRIPE)
    key = accumulate(start, stripes, key)
    const end = INPUT + n
    const taken = start + STRIPE * stripes
    left = end - taken
    all.copyWithin(INPUT - STRIPE - left, taken - STRIPE, end)
  }

  return {
    input,
    update(bytes) {
      if (bytes.length === 0) return
      if (total <= SHORT) short.update(bytes.subarray(0, SHORT + 1 - total))
      total += bytes.length
      if (bytes.buffer === memory.buffer && bytes.byteOffset === INPUT) {
        take(bytes.length)
        return
      }
      for (let at = 0; at < bytes.length; at += INPUT_BYTES) {
        const part = bytes.subarray(at, at + INPUT_BYTES)
        input.set(part)
        take(part.length)
      }
    },
    digest() {
      if (total <= SHORT) return short.digest()
      accumulate(INPUT - STRIPE, 1, SECRET + SECRET_BYTES - STRIPE - 7)
      const length = BigInt(total)
      const low = merged(view, SECRET + 11, u64(length * PRIME64_1))
      const high = merged(view, SECRET + SECRET_BYTES - STRIPE - 11, u64(~(length * PRIME64_2)))
      return high.toString(16).padStart(16, '0') + low.toString(16).padStart(16, '0')
    },
  }
}

const PRIME32_1 = 0x9e3779b1n
const PRIME32_2 = 0x85ebca77n
const PRIME32_3 = 0xc2b2ae3dn
const PRIME64_1 = 0x9e3779b185ebca87n
const PRIME64_2 = 0xc2b2ae3d27d4eb4fn
const PRIME64_3 = 0x165667b19e3779f9n
const PRIME64_4 = 0x85ebca77c2b2ae63n
const PRIME64_5 = 0x27d4eb2f165667c5n
const AVALANCHE = 0x165667919e3779f9n

const START = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1]

/** The accumulators as one 64-bit number. */
function merged(view: DataView, secret: number, start: bigint): bigint {
  let result = start
  for (let i = 0; i < 4; i++) {
    const a = view.getBigUint64(16 * i, true) ^ view.getBigUint64(secret + 16 * i, true)
    const b = view.getBigUint64(16 * i + 8, true) ^ view.getBigUint64(secret + 16 * i + 8, true)
    const product = a * b
    result = u64(result + (u64(product) ^ (product >> 64n)))
  }
  result ^= result >> 37n
  result = u64(result * AVALANCHE)
  return result ^ (result >> 32n)
}

function u64(value: bigint): bigint {
  return BigInt.asUintN(64, value)
}
