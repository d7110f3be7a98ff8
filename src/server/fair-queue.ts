// The order in which what waits gets its turn: round robin between groups, in each group first come, first served. So an export of
// a hundred splits takes turns with everybody else. A queue class for p-queue, which keeps count of what runs.

import type { Queue, QueueAddOptions } from 'p-queue'

type Run = () => Promise<unknown>

export interface FairOptions extends QueueAddOptions {
  /** Whose turn it takes: an export, or a client. */
  group?: string
  /** Aborted: it leaves the queue. */
  given?: AbortSignal
}

export class FairQueue implements Queue<Run, FairOptions> {
  /** In the order of their turns; a Map keeps the order of insertion. */
  readonly #groups = new Map<string, Set<Run>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  enqueue(run: Run, { group: name = '', given }: Partial<FairOptions> = {}): void {
    const group = this.#groups.get(name) ?? new Set()
    group.add(run)
    this.#groups.set(name, group)
    this.#size++
    given?.addEventListener('abort', () => this.#remove(name, run), { once: true })
  }

  dequeue(): Run | undefined {
    const next = this.#groups.entries().next().value
    if (next === undefined) return undefined
    const [name, group] = next
    const [run] = group
    this.#remove(name, run)
    if (this.#groups.delete(name)) this.#groups.set(name, group) // behind all others
    return run
  }

  filter(): Run[] {
    return [...this.#groups.values()].flatMap((group) => [...group])
  }

  setPriority(): void {
    // There are none.
  }

  #remove(name: string, run: Run): void {
    const group = this.#groups.get(name)
    if (group === undefined || !group.delete(run)) return
    this.#size--
    if (group.size === 0) this.#groups.delete(name)
  }
}
