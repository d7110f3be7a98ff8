// Limits on bytes read from disk a second, over all streams and for one: a token bucket that may run into debt. What a batch has cost
// is known when it has been read; the next one waits until that is paid off.

const BURST_SECONDS = 0.25

export class RateLimit {
  readonly #perMs: number
  readonly #burst: number
  #balance: number
  #at = performance.now()

  /** @param bytesPerSecond above 0 */
  constructor(bytesPerSecond: number) {
    this.#perMs = bytesPerSecond / 1000
    this.#burst = bytesPerSecond * BURST_SECONDS
    this.#balance = this.#burst
  }

  charge(bytes: number): void {
    this.#refill()
    this.#balance -= bytes
  }

  /** How long to wait before more may be read. */
  get debtMs(): number {
    this.#refill()
    return Math.max(0, -this.#balance / this.#perMs)
  }

  #refill(): void {
    const now = performance.now()
    this.#balance = Math.min(this.#burst, this.#balance + (now - this.#at) * this.#perMs)
    this.#at = now
  }
}
