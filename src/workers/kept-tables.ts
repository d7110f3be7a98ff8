// The tables that a worker was told of, by number, the one used last at the end. The main thread and the worker keep the same ones,
// since both see the same order of messages: so a table crosses once, and not with every scan of it.

import { TABLES_KEPT } from './protocol.ts'

export class KeptTables<T> {
  readonly #tables = new Map<number, T>()

  /** Makes it the one used last. */
  use(table: number): T | undefined {
    const kept = this.#tables.get(table)
    if (kept !== undefined) this.add(table, kept)
    return kept
  }

  /** The one used longest ago goes where there is no more room. */
  add(table: number, value: T): void {
    this.#tables.delete(table)
    this.#tables.set(table, value)
    const [oldest] = this.#tables.keys()
    if (this.#tables.size > TABLES_KEPT) this.#tables.delete(oldest)
  }
}
