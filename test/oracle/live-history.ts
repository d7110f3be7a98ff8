// What exports of a live node must hold, out of what its writer (live.py) and its flushes (LiveChurn.java) have told. All times are
// nanoseconds of CLOCK_MONOTONIC.

import { readFile } from 'node:fs/promises'

/** One export as it was read. */
export interface Observed {
  /** Names the export in messages. */
  name: string
  /** Number of the table. */
  table: number
  /** Before it was asked for, and when it was there. */
  asked: bigint
  pinned: bigint
  /** By key: the version of its row; 0: there was none. Keys beyond the end: none. */
  versions: Int32Array
}

export interface Flush {
  start: bigint
  end: bigint
}

/** What one export was held to. */
export interface Judged {
  name: string
  rows: number
  /** Keys that had to be as the export has them, the one way or the other. */
  certain: number
  /** Keys with writes between the flush and the pin: one of several states was right. */
  open: number
  /** Milliseconds from the start of the flush to the pin. */
  flushedBefore: number
  faults: string[]
}

const RECORD_BYTES = 32
const WRITTEN = 1
const MAX_FAULTS = 5

/** Writes of one table, ordered by key and version. */
interface History {
  /** By key: index of its first write; one more entry at the end. */
  first: Int32Array
  written: Uint8Array
  issued: BigUint64Array
  acknowledged: BigUint64Array
}

export async function readHistories(path: string, tables: number): Promise<History[]> {
  const bytes = await readFile(path)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length - (bytes.length % RECORD_BYTES))
  const records = view.byteLength / RECORD_BYTES
  const counts = Array.from({ length: tables }, (): number[] => [])
  for (let i = 0; i < records; i++) {
    const of = counts[view.getUint32(i * RECORD_BYTES, true)]
    const key = view.getUint32(i * RECORD_BYTES + 8, true)
    of[key] = (of[key] ?? 0) + 1
  }
  const histories = counts.map((of): History => {
    const first = new Int32Array(of.length + 1)
    for (let key = 0; key < of.length; key++) first[key + 1] = first[key] + (of[key] ?? 0)
    const total = first[of.length]
    return {
      first,
      written: new Uint8Array(total),
      issued: new BigUint64Array(total),
      acknowledged: new BigUint64Array(total),
    }
  })
  for (let i = 0; i < records; i++) {
    const at = i * RECORD_BYTES
    const history = histories[view.getUint32(at, true)]
    const index = history.first[view.getUint32(at + 8, true)] + view.getUint32(at + 12, true) - 1
    history.written[index] = view.getUint32(at + 4, true) === WRITTEN ? 1 : 0
    history.issued[index] = view.getBigUint64(at + 16, true)
    history.acknowledged[index] = view.getBigUint64(at + 24, true)
  }
  return histories
}

/**
 * Every write acknowledged before the start of the last flush that was complete when the export was asked for has to show, and none
 * that was issued after the export was there; what lies between may.
 */
export function judge(observed: Observed, histories: readonly History[], flushes: readonly Flush[]): Judged {
  const { first, written, issued, acknowledged } = histories[observed.table]
  const { asked, pinned, versions, name } = observed
  const flush = flushes.filter(({ end }) => end < asked).reduce((last, f) => (f.start > last.start ? f : last))
  const judged: Judged = {
    name,
    rows: versions.reduce((rows, version) => rows + (version > 0 ? 1 : 0), 0),
    certain: 0,
    open: 0,
    flushedBefore: Number(asked - flush.start) / 1e6,
    faults: [],
  }
  const fault = (text: string) => {
    if (judged.faults.length < MAX_FAULTS) judged.faults.push(text)
  }
  const keys = first.length - 1
  for (let key = keys; key < versions.length; key++) {
    if (versions[key] > 0) fault(`key ${key} has a row and was never written`)
  }
  for (let key = 0; key < keys; key++) {
    const seen = key < versions.length ? versions[key] : 0
    const base = first[key]
    const count = first[key + 1] - base
    // Version 0 is the key before its first write.
    let least = 0
    let most = 0
    for (let v = 1; v <= count; v++) {
      const at = acknowledged[base + v - 1]
      if (at !== 0n && at < flush.start) least = v
      if (issued[base + v - 1] <= pinned) most = v
    }
    const shows = (v: number) => (v > 0 && written[base + v - 1] === 1 ? v : 0)
    let isRight = false
    for (let v = least; v <= most; v++) isRight ||= shows(v) === seen
    if (least === most) judged.certain++
    else judged.open++
    if (!isRight) fault(`key ${key} shows version ${seen}; versions ${least} to ${most} of ${count} were possible`)
  }
  return judged
}
