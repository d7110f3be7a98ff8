// Counter values: shards of (16-byte counter id, i64 clock, i64 count) behind a header that lists which are global or local
// (Cassandra: db/context/CounterContext). A counter's value is the sum of its shards' counts.

import { SluiceError } from '../errors.ts'

const ID_LENGTH = 16
const SHARD_LENGTH = 32

const REMOTE = 0
const LOCAL = 1
const GLOBAL = 2

interface Shard {
  id: Buffer
  kind: number
  clock: bigint
  count: bigint
}

function shards(context: Uint8Array): Shard[] {
  const bytes = Buffer.from(context.buffer, context.byteOffset, context.byteLength)
  if (bytes.length < 2) throw bad('a counter shorter than its header')
  // A negative count asks that local shards be cleared when they are next compacted.
  const listed = Math.abs(bytes.readInt16BE(0))
  const body = 2 + 2 * listed
  if (body > bytes.length || (bytes.length - body) % SHARD_LENGTH !== 0) throw bad(`a counter of ${bytes.length} bytes`)
  const result: Shard[] = []
  for (let at = body; at < bytes.length; at += SHARD_LENGTH) {
    result.push({
      id: bytes.subarray(at, at + ID_LENGTH),
      kind: REMOTE,
      clock: bytes.readBigInt64BE(at + ID_LENGTH),
      count: bytes.readBigInt64BE(at + ID_LENGTH + 8),
    })
  }
  for (let i = 0; i < listed; i++) {
    const element = bytes.readInt16BE(2 + 2 * i)
    const index = element < 0 ? element + 32768 : element
    if (index >= result.length) throw bad(`counter header names shard ${index} of ${result.length}`)
    result[index].kind = element < 0 ? GLOBAL : LOCAL
  }
  return result
}

function bad(reason: string): SluiceError {
  return new SluiceError('CORRUPT_SSTABLE', { type: 'counter', reason })
}

function mergeShards(a: Shard, b: Shard): Shard {
  if (a.kind === GLOBAL || b.kind === GLOBAL) {
    if (a.kind === b.kind) return newer(a, b)
    return a.kind === GLOBAL ? a : b
  }
  if (a.kind === LOCAL || b.kind === LOCAL) {
    if (a.kind === b.kind) {
      return { ...a, clock: BigInt.asIntN(64, a.clock + b.clock), count: BigInt.asIntN(64, a.count + b.count) }
    }
    return a.kind === LOCAL ? a : b
  }
  return newer(a, b)
}

function newer(a: Shard, b: Shard): Shard {
  if (a.clock === b.clock) return a.count >= b.count ? a : b
  return a.clock > b.clock ? a : b
}

/** Two contexts as one. */
export function mergeCounters(left: Uint8Array, right: Uint8Array): Uint8Array {
  const a = shards(left)
  const b = shards(right)
  const merged: Shard[] = []
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const c = i === a.length ? 1 : j === b.length ? -1 : Buffer.compare(a[i].id, b[j].id)
    if (c < 0) merged.push(a[i++])
    else if (c > 0) merged.push(b[j++])
    else merged.push(mergeShards(a[i++], b[j++]))
  }
  return write(merged)
}

function write(merged: Shard[]): Uint8Array {
  const listed = merged.filter((s) => s.kind !== REMOTE).length
  const body = 2 + 2 * listed
  const out = Buffer.alloc(body + merged.length * SHARD_LENGTH)
  out.writeInt16BE(listed, 0)
  let header = 2
  merged.forEach((shard, i) => {
    if (shard.kind !== REMOTE) {
      out.writeInt16BE(shard.kind === GLOBAL ? i - 32768 : i, header)
      header += 2
    }
    const at = body + i * SHARD_LENGTH
    shard.id.copy(out, at)
    out.writeBigInt64BE(shard.clock, at + ID_LENGTH)
    out.writeBigInt64BE(shard.count, at + ID_LENGTH + 8)
  })
  return out
}

/** The sum of the counts, as 8 big-endian bytes into `out`. A counter without shards is 0. */
export function writeCounterTotal(bytes: Uint8Array, offset: number, length: number, out: DataView): void {
  let total = 0n
  if (length > 0) for (const shard of shards(bytes.subarray(offset, offset + length))) total += shard.count
  out.setBigInt64(0, BigInt.asIntN(64, total))
}
