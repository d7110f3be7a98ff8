// The SSTables of a scan ordered by the partition they stand at: a binary heap on (token, key), the older SSTable first
// among equals.

import { compareWords, type Partitioner } from '../ring/partitioner.ts'
import type { PartitionSource } from '../rows/partition-source.ts'

interface Entry {
  source: PartitionSource
  age: number
}

export class SourceHeap {
  #partitioner: Partitioner
  #entries: Entry[] = []
  /** Of each source, made once. */
  #entryOf = new Map<PartitionSource, Entry>()

  /** `sources` from the oldest to the newest; none is in the heap yet. */
  constructor(partitioner: Partitioner, sources: readonly PartitionSource[]) {
    this.#partitioner = partitioner
    sources.forEach((source, age) => {
      this.#entryOf.set(source, { source, age })
    })
  }

  get size(): number {
    return this.#entries.length
  }

  /** Adds a source, which stands behind a partition's header. */
  push(source: PartitionSource): void {
    const entries = this.#entries
    const entry = this.#entryOf.get(source)!
    let i = entries.length
    entries.push(entry)
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (this.#order(entry, entries[parent]) >= 0) break
      entries[i] = entries[parent]
      i = parent
    }
    entries[i] = entry
  }

  /** All of them, in no order. */
  get sources(): PartitionSource[] {
    return this.#entries.map(({ source }) => source)
  }

  clear(): void {
    this.#entries.length = 0
  }

  /** Takes out all sources that stand at the smallest partition, oldest first, into `group`. */
  popGroup(group: PartitionSource[]): void {
    group.length = 0
    if (this.#entries.length === 0) return
    const first = this.#pop()
    group.push(first)
    while (this.#entries.length > 0 && this.samePartition(first, this.#entries[0].source)) group.push(this.#pop())
  }

  /** Order of the partitions that two sources stand at. */
  comparePartitions(a: PartitionSource, b: PartitionSource): number {
    const c = compareWords(a.token, 0, b.token, 0)
    if (c !== 0) return c
    return this.#partitioner.compareKeys(a.key, 0, a.keyLength, b.key, 0, b.keyLength)
  }

  samePartition(a: PartitionSource, b: PartitionSource): boolean {
    return this.comparePartitions(a, b) === 0
  }

  /** The source at the smallest partition, left in the heap. */
  peek(): PartitionSource | undefined {
    return this.#entries[0]?.source
  }

  #order(a: Entry, b: Entry): number {
    return this.comparePartitions(a.source, b.source) || a.age - b.age
  }

  #pop(): PartitionSource {
    const entries = this.#entries
    const top = entries[0].source
    const last = entries.pop()!
    const n = entries.length
    if (n === 0) return top
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= n) break
      if (child + 1 < n && this.#order(entries[child + 1], entries[child]) < 0) child++
      if (this.#order(last, entries[child]) <= 0) break
      entries[i] = entries[child]
      i = child
    }
    entries[i] = last
    return top
  }
}
