// The streams that a server has under way, so that a shutdown can wait for them and cut what does not end in time.

import { SluiceError } from '../../storage/errors.ts'
import type { ClientWatch } from './client.ts'

export class StreamRegistry {
  readonly #watches = new Set<ClientWatch>()
  #closing = false
  #idle: (() => void) | undefined

  get size(): number {
    return this.#watches.size
  }

  get closing(): boolean {
    return this.#closing
  }

  /** @throws SluiceError SHUTTING_DOWN */
  add(watch: ClientWatch): void {
    if (this.#closing) throw new SluiceError('SHUTTING_DOWN')
    this.#watches.add(watch)
  }

  delete(watch: ClientWatch): void {
    this.#watches.delete(watch)
    if (this.#watches.size === 0) this.#idle?.()
  }

  /** Takes no more streams, waits for those under way, and after `deadline` ms cuts them. */
  async close(deadline: number): Promise<void> {
    this.#closing = true
    if (this.#watches.size === 0) return
    const timer = setTimeout(() => {
      for (const watch of this.#watches) watch.cut(new SluiceError('SHUTTING_DOWN'))
    }, deadline)
    await new Promise<void>((resolve) => {
      this.#idle = resolve
    })
    clearTimeout(timer)
  }
}
