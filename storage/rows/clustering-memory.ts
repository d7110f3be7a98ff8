// The clustering of the unfiltered last passed, copied out of bytes that move on: for the check of their order.

import { CLUSTERING, KIND_ROW, Unfiltered } from './unfiltered.ts'

export class ClusteringMemory {
  readonly unfiltered = new Unfiltered()
  /** Nothing was passed yet in this partition. */
  isEmpty = true
  #bytes: Uint8Array = new Uint8Array(256)

  constructor() {
    this.#replace(this.#bytes)
  }

  clear(): void {
    this.isEmpty = true
  }

  keep(u: Unfiltered): void {
    this.unfiltered.kind = u.kind
    this.unfiltered.boundKind = u.boundKind
    this.#copy(u.bytes, u.clusteringOffset, u.clusteringLength, u.clusteringCount)
  }

  /** A row's clustering by the places of its values; nothing is copied that lies here already. */
  keepRow(bytes: Uint8Array, offsets: Int32Array, lengths: Int32Array, count: number): void {
    this.unfiltered.kind = KIND_ROW
    this.unfiltered.boundKind = CLUSTERING
    if (bytes !== this.#bytes) this.#copy(bytes, offsets, lengths, count)
  }

  #copy(bytes: Uint8Array, offsets: Int32Array, lengths: Int32Array, count: number): void {
    const own = this.unfiltered
    this.isEmpty = false
    own.reserveClustering(count)
    let at = 0
    for (let i = 0; i < count; i++) {
      const length = lengths[i]
      own.clusteringLength[i] = length
      own.clusteringOffset[i] = at
      if (length <= 0) continue
      if (at + length > this.#bytes.length) this.#grow(at + length)
      const from = offsets[i]
      const to = this.#bytes
      if (length <= 32) for (let j = 0; j < length; j++) to[at + j] = bytes[from + j]
      else to.set(bytes.subarray(from, from + length), at)
      at += length
    }
  }

  #grow(length: number): void {
    const larger = new Uint8Array(2 * length)
    larger.set(this.#bytes)
    this.#replace(larger)
  }

  #replace(bytes: Uint8Array): void {
    this.#bytes = bytes
    this.unfiltered.bytes = bytes
    this.unfiltered.view = new DataView(bytes.buffer)
  }
}
