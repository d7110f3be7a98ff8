// What one peer gave on the rows of narrow.

export interface PeerResult {
  /** cassandra, cqlite, sstabledump, pyarrow; sluice (all cores), "sluice, 1 stream". */
  peer: string
  version: string
  /** How it was asked. */
  how: string
  rows: number
  /** Of every round. */
  seconds: number[]
}
