// What the exporter and its encoding thread say to each other. One batch at a time is on its way in, one part on its way out.

import type { Compression } from '../compression.ts'

export interface EncodeOptions {
  compression: Compression
  /** A row group ends when it has grown to this many bytes, encoded. */
  rowGroupBytes: number
  /** Of a page and of a dictionary, which every column holds. */
  pageBytes: number
  dictionary: boolean
  metadata: [string, string][]
}

export type ToEncoder =
  /** An Arrow IPC stream of one batch: the first `length` bytes of the slot's memory. */
  | { kind: 'batch'; memory: SharedArrayBuffer; length: number; rows: number }
  | { kind: 'end' }
  /** The next part may be made. */
  | { kind: 'more' }

export type FromEncoder =
  /** The last batch was read out of its memory. */
  { kind: 'taken' } | { kind: 'part'; bytes: Uint8Array } | { kind: 'done' }
